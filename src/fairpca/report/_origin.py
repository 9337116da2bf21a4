"""What it takes to make a report again."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from typing import Any

from fairpca.auditing import AuditResult
from fairpca.report._case import Case
from fairpca.report._text import comparison_name, plain
from fairpca.versions import environment

PACKAGES = ("fairpca", "numpy", "scipy", "scikit-learn")
MOST_CODE = 1000


def origin(case: Case) -> dict[str, Any]:
    """Return command or lines of Python, versions, seeds and fingerprints.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    known, installed = case.after.audit.origin, environment()
    return {
        "command": plain(case.about.command, MOST_CODE),
        "python": _lines(case),
        "versions": {package: installed["versions"][package] for package in PACKAGES} | {"Python": installed["python"]},
        "random_state": case.random_state,
        "seed": known.seed,
        "model_digest": known.model,
        "rows_digest": known.rows,
        "certificate": _certificate(case.after.audit),
    }


def _lines(case: Case) -> list[str]:
    tables = case.people.tables
    known = (", y" if "y" in tables else "") + "".join(f", {name}=..." for name in tables if name != "y")
    lines = ["from fairpca import FairPCA, FairPCAPath", f"model = {plain(repr(case.model), MOST_CODE)}"]
    lines.append(f"model.fit(X_train{known})")
    along = ""
    if case.path is not None:
        lines.append(f"path = {plain(repr(case.path), MOST_CODE)}.fit(X_train{known})")
        along = ", path=path"
    return [*lines, f'model.report(X_new{known}{along}, random_state={case.random_state}, file="report.html")']


def _certificate(audit: AuditResult) -> dict[str, Any]:
    """Return the text of the certificate, or why there is none."""
    try:
        certificate = audit.certificate()
    except ValueError as reason:
        return {"granted": False, "text": plain(reason, MOST_CODE)}
    measures = [measure | {"name": comparison_name(measure["name"])} for measure in certificate.measures]
    return {"granted": True, "text": str(replace(certificate, measures=measures))}
