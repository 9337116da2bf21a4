"""The files that a fit from a table writes."""
# SPDX-License-Identifier: MIT

import csv
import json
import shlex
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpca import FairPCA, FairPCAPath, __version__
from fairpca._utils.files import writing
from fairpca.auditing import AuditResult, Certificate, Figure
from fairpca.cli._options import Table
from fairpca.cli._output import Stages, finite
from fairpca.cli._promise import Promised, write_promise
from fairpca.cli._study import known
from fairpca.report import About, Report, make_report
from fairpca.saving import rows_beside
from fairpca.table_model import HeldOut, TableModel
from fairpca.tables import PreparedTable, Roles, write_projections

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

PDF = "report.pdf"


@dataclass(frozen=True)
class Fitted:
    """All that a fit has found.

    Attributes
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
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

    choice: Table
    roles: Roles
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


def metrics(found: Fitted, files: dict[str, str], verdict: dict[str, Any]) -> dict[str, Any]:
    """Return all numbers, as plain types.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict
        What is where.
    verdict : dict
        What follows, see `Report.summary`.
    """
    model, prepared = found.model, found.prepared
    return {
        "fairpca": __version__,
        "table": str(found.choice.table),
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


def write(
    found: Fitted, folder: Path, stages: Stages, n_points: int = 0, pdf: bool = False
) -> tuple[dict[str, str], Report]:
    """Write all files, each whole or not at all.

    Parameters
    ----------
    found : Fitted
        What was found.
    folder : Path
        Where to.
    stages : Stages
        Told how far it is.
    n_points : int, default=0
        Rows that the report draws as points.
    pdf : bool, default=False
        Whether the report is printed to a PDF as well.

    Returns
    -------
    files : dict of str to str
        What is where.
    report : Report
        The report, which has the verdict.
    """
    files = {what: str(folder / name) for what, name in FILES.items()}
    model, parts = found.model, (found.roles, found.held_out, found.choice.options())
    TableModel.of_fitted(found.prepared.encoder, model, *parts).save(files["model"], rows=files["rows"])
    write_rows(found, files["projected"], model, stages)
    files |= write_promise(found.promise, folder)
    if found.promise is not None:
        released = TableModel.of_fitted(found.prepared.encoder, model, *parts, found.promise.release)
        released.save(files["release"], rows=rows_beside(files["release"]))
        write_rows(found, files["released"], released.reduction_, stages, row_numbers=False)
    write_loadings(Path(files["loadings"]), model, found.prepared.feature_names)
    if found.certificate is not None:
        found.certificate.save(files["certificate"])
    else:
        # One of another fit must not stay beside this model.
        Path(files.pop("certificate")).unlink(missing_ok=True)
    stages.say("writing the report")
    report = make_report(
        model,
        found.prepared.X_new,
        **known(found.prepared.people_new),
        path=found.path,
        before=found.before,
        audit=found.audit,
        audit_before=found.audit_before,
        release=None if found.promise is None else found.promise.release,
        about=about(found),
        file=files["report"],
        n_points=n_points,
        random_state=found.held_out.random_state,
    )
    if pdf:
        files["pdf"] = str(report.save(folder / PDF))
    with writing(Path(files["metrics"])) as temporary:
        text = json.dumps(
            finite(metrics(found, files, report.summary["verdict"])), ensure_ascii=False, allow_nan=False, indent=1
        )
        temporary.write_text(text + "\n", encoding="utf-8")
    return files, report


def write_rows(found: Fitted, file: str, reduction: Any, stages: Stages, row_numbers: bool = True) -> None:
    """Write all rows after a reduction.

    Parameters
    ----------
    found : Fitted
        What was found.
    file : str
        Where to.
    reduction : fitted transformer
        Of the features.
    stages : Stages
        Told how far it is.
    row_numbers : bool, default=True
        Whether rows are numbered; no promise speaks of numbers, which may go by group.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the table was read
        write_projections(
            file,
            found.choice.file,
            found.prepared.encoder,
            reduction.transform,
            row_numbers=row_numbers,
            callback=stages.rows,
        )


def about(found: Fitted) -> About:
    """Return what a reader of the report must know of the table.

    Parameters
    ----------
    found : Fitted
        What was found.
    """
    columns = [
        {"name": each["column"], "kind": f"{each['role']}, {each['kind']}", "note": each["note"]}
        for each in found.prepared.columns
    ]
    return About(
        data=found.choice.table.name,
        held_out=found.held_out.share,
        columns=columns,
        notes=found.notes,
        command=shlex.join(["fairpca", *sys.argv[1:]]),
        features=found.prepared.feature_names,
    )


def write_loadings(path: Path, model: FairPCA, features: list[str]) -> None:
    """Write the components, one feature a line, in the scaled units.

    Parameters
    ----------
    path : Path
        The file.
    model : FairPCA
        The fitted model.
    features : list of str
        Names of the features.
    """
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["feature", "mean", "scale", *(f"component{k + 1}" for k in range(model.n_components_))])
        for row in zip(features, model.mean_, model.scale_, *model.components_, strict=True):
            writer.writerow(row)
