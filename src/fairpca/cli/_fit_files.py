"""The files that a fit from a table writes."""
# SPDX-License-Identifier: MIT

import csv
import shlex
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpca import FairPCA, FairPCAPath, __version__
from fairpca._utils.files import writing
from fairpca.auditing import AuditResult, Certificate, Figure
from fairpca.cli._options import Fit
from fairpca.cli._output import Stages, json_text
from fairpca.cli._promise import Promised
from fairpca.report import About, make_report
from fairpca.saving import rows_beside
from fairpca.table_model import HeldOut, TableModel
from fairpca.tables import PreparedTable, write_projections

FILES = {
    "report": "report.html",
    "model": "model.fairpca",
    "rows": "model.fairpca.rows",
    "projected": "projected.csv",
    "loadings": "loadings.csv",
    "certificate": "certificate.json",
    "metrics": "metrics.json",
}
"""What is written, and what it is called."""

OF_PROMISE = {
    "release": "release.fairpca",
    "release rows": "release.fairpca.rows",
    "released": "released.csv",
    "promise": "promise.json",
}
"""What is written for a promise."""

PDF = "report.pdf"


@dataclass(frozen=True)
class Fitted:
    """All that a fit has found.

    Attributes
    ----------
    given : Fit
        What was asked for.
    prepared : PreparedTable
        Its rows.
    held_out : HeldOut
        Which of them were held out.
    model, before : FairPCA
        The fitted model, and plain PCA.
    audit, audit_before : AuditResult
        What held-out rows show of both.
    certificate : Certificate or None
        What can be said of the population.
    path : FairPCAPath or None
        The trade-off.
    promise : Promised or None
        The certified release, where one was asked for.
    notes : tuple of str
        What readers must know.
    seconds : dict of str to float
        How long each stage took.
    """

    given: Fit
    prepared: PreparedTable
    held_out: HeldOut
    model: FairPCA
    before: FairPCA
    audit: AuditResult
    audit_before: AuditResult
    certificate: Certificate | None
    path: FairPCAPath | None
    promise: Promised | None
    notes: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def figures(self) -> list[Figure]:
        """What a gate can limit: of the audit, and of the release where there is one."""
        found = self.audit.figures
        if self.promise is None:
            return found
        promised = Figure("promise", "any decision", self.promise.certificate.target)
        return [promised, *(figure for figure in found if figure.name != "promise")]


def _metrics(found: Fitted, files: dict[str, str], verdict: dict[str, Any]) -> dict[str, Any]:
    """Return all numbers, where the files are, and what follows, as plain types."""
    model, prepared = found.model, found.prepared
    return {
        "fairpca": __version__,
        "table": str(found.given.table),
        "rows": {
            "fitted": len(prepared.rows_train),
            "held_out": len(prepared.rows_new),
            "dropped": prepared.n_dropped,
            "held_out_share": found.held_out.share,
            "seed": found.held_out.random_state,
        },
        "verdict": verdict,
        "columns": prepared.columns,
        "notes": list(found.notes),
        "promise": None if found.promise is None else found.promise.to_dict(),
        "converged": model.converged_,
        "status": str(model.result_.status),
        "n_components": model.n_components_,
        "n_live_components": model.n_live_components_,
        "variance_kept": float(model.explained_variance_ratio_.sum()),
        "variance_kept_by_pca": float(found.before.explained_variance_ratio_.sum()),
        "mmd2": model.mmd2_,
        "tolerance": model.tolerance_,
        "chance_level": model.chance_level_,
        "expected_mmd2_new": model.expected_mmd2_new_,
        "bandwidth": model.bandwidth_,
        "measures": model.measures_,
        "audit": found.audit.to_dict(),
        "audit_of_pca": found.audit_before.to_dict(),
        "seconds": found.seconds,
        "files": files,
    }


def write(found: Fitted, stages: Stages) -> tuple[dict[str, Any], str]:
    """Write all files, each whole or not at all.

    Parameters
    ----------
    found : Fitted
        What was found.
    stages : Stages
        Told how far it is.

    Returns
    -------
    document : dict
        All numbers, and what is where.
    verdict : str
        What follows, in words.
    """
    given, model, promise = found.given, found.model, found.promise
    files = {what: str(given.out / name) for what, name in (FILES | OF_PROMISE).items()}
    parts = found.prepared.encoder, model, given.roles, found.held_out, given.options
    TableModel.of_fitted(*parts).save(files["model"], rows=files["rows"])
    _write_rows(found, files["projected"], model, stages)
    # What another fit has left must not stay beside this model.
    lacking = [*([] if promise else OF_PROMISE), *([] if found.certificate else ["certificate"])]
    for what in lacking:
        Path(files.pop(what)).unlink(missing_ok=True)
    if promise is not None:
        promise.certificate.save(files["promise"])
        released = TableModel.of_fitted(*parts, promise.release)
        released.save(files["release"], rows=rows_beside(files["release"]))
        _write_rows(found, files["released"], released.reduction_, stages, row_numbers=False)
    _write_loadings(Path(files["loadings"]), model, found.prepared.feature_names)
    if found.certificate is not None:
        found.certificate.save(files["certificate"])
    stages.say("writing the report")
    report = make_report(
        model,
        found.prepared.X_new,
        **vars(found.prepared.people_new),
        path=found.path,
        before=found.before,
        audit=found.audit,
        audit_before=found.audit_before,
        release=None if promise is None else promise.release,
        about=_about(found),
        file=files["report"],
        n_points=given.points,
        random_state=given.seed,
    )
    if given.pdf:
        files["pdf"] = str(report.save(given.out / PDF))
    document = _metrics(found, files, report.summary["verdict"])
    with writing(Path(files["metrics"])) as temporary:
        temporary.write_text(json_text(document) + "\n", encoding="utf-8")
    return document, report.verdict


def _write_rows(found: Fitted, file: str, reduction: Any, stages: Stages, row_numbers: bool = True) -> None:
    """Write all rows after a reduction; no promise speaks of their numbers, which may go by group."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the table was read
        write_projections(
            file,
            found.given.file,
            found.prepared.encoder,
            reduction.transform,
            row_numbers=row_numbers,
            callback=stages.rows,
        )


def _about(found: Fitted) -> About:
    """Return what a reader of the report must know of the table."""
    columns = [
        {"name": each["column"], "kind": f"{each['role']}, {each['kind']}", "note": each["note"]}
        for each in found.prepared.columns
    ]
    return About(
        data=found.given.table.name,
        held_out=found.held_out.share,
        columns=columns,
        notes=found.notes,
        command=shlex.join(["fairpca", *sys.argv[1:]]),
        features=found.prepared.feature_names,
    )


def _write_loadings(path: Path, model: FairPCA, features: list[str]) -> None:
    """Write the components, one feature a line, in the scaled units."""
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["feature", "mean", "scale", *(f"component{k + 1}" for k in range(model.n_components_))])
        for row in zip(features, model.mean_, model.scale_, *model.components_, strict=True):
            writer.writerow(row)
