"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib.metadata import version

from fairpca.estimator import FairPCA

__version__ = version("fairpca")

__all__ = ["FairPCA", "__version__"]
