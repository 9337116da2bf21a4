"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib.metadata import version

from fairpca.auditing import AuditResult, Certificate, Verification, audit, load_certificate, verify
from fairpca.estimator import FairPCA
from fairpca.path import FairPCAPath, fair_pca_path
from fairpca.planning import Plan, plan
from fairpca.saving import load
from fairpca.selection import FairPCACV
from fairpca.versions import show_versions

__version__ = version("fairpca")

__all__ = [
    "AuditResult",
    "Certificate",
    "FairPCA",
    "FairPCACV",
    "FairPCAPath",
    "Plan",
    "Verification",
    "__version__",
    "audit",
    "fair_pca_path",
    "load",
    "load_certificate",
    "plan",
    "show_versions",
    "verify",
]
