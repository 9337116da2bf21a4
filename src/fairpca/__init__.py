"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib.metadata import version

from fairpca._versions import show_versions
from fairpca.estimator import FairPCA
from fairpca.path import FairPCAPath, fair_pca_path

__version__ = version("fairpca")

__all__ = ["FairPCA", "FairPCAPath", "__version__", "fair_pca_path", "show_versions"]
