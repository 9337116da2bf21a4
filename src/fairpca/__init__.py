"""Fair dimensionality reduction: keep variance, make groups alike as distributions."""
# SPDX-License-Identifier: MIT

from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpca.auditing import AuditResult, Certificate, Monitor, Verification, audit, load_certificate, verify
    from fairpca.estimator import FairPCA
    from fairpca.inference import TwoSampleResult, two_sample
    from fairpca.methods import MethodComparison, compare
    from fairpca.path import FairPCAPath, fair_pca_path
    from fairpca.planning import Plan, plan
    from fairpca.release import Release, any_classifier_bound
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
    "MethodComparison",
    "Monitor",
    "Plan",
    "Release",
    "TwoSampleResult",
    "Verification",
    "__version__",
    "any_classifier_bound",
    "audit",
    "compare",
    "fair_pca_path",
    "load",
    "load_certificate",
    "plan",
    "show_versions",
    "two_sample",
    "verify",
]

_HOMES = {
    "AuditResult": "auditing",
    "Certificate": "auditing",
    "FairPCA": "estimator",
    "FairPCACV": "selection",
    "FairPCAPath": "path",
    "MethodComparison": "methods",
    "Monitor": "auditing",
    "Plan": "planning",
    "Release": "release",
    "TwoSampleResult": "inference",
    "Verification": "auditing",
    "any_classifier_bound": "release",
    "audit": "auditing",
    "compare": "methods",
    "fair_pca_path": "path",
    "load": "saving",
    "load_certificate": "auditing",
    "plan": "planning",
    "show_versions": "versions",
    "two_sample": "inference",
    "verify": "auditing",
}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if not TYPE_CHECKING:
    # Whoever fits need not wait for audits, plans and files: names and folders are imported when they are first asked
    # for. Hidden from type checkers, which would take every name for one of these.
    def __getattr__(name: str) -> Any:
        if name in _HOMES:
            value = getattr(import_module(f"fairpca.{_HOMES[name]}"), name)
        elif not name.startswith("_") and find_spec(f"fairpca.{name}"):
            value = import_module(f"fairpca.{name}")
        else:
            raise AttributeError(f"module 'fairpca' has no attribute {name!r}")
        globals()[name] = value
        return value
