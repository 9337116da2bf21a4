"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib.metadata import version

from fairpca.auditing import AuditResult, audit
from fairpca.estimator import FairPCA
from fairpca.path import FairPCAPath, fair_pca_path
from fairpca.versions import show_versions

__version__ = version("fairpca")

__all__ = ["AuditResult", "FairPCA", "FairPCAPath", "__version__", "audit", "fair_pca_path", "show_versions"]
