"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib.metadata import version

from fairpca.estimator import FairPCA
from fairpca.path import FairPCAPath, fair_pca_path
from fairpca.versions import show_versions

__version__ = version("fairpca")

__all__ = ["FairPCA", "FairPCAPath", "__version__", "fair_pca_path", "show_versions"]
