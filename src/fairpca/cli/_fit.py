"""fairpca fit: from a table to a model, its audit and a page to hand on."""
# SPDX-License-Identifier: MIT

import csv
import json
import shlex
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from fairpca import FairPCA, FairPCAPath, __version__
from fairpca._utils.files import writing
from fairpca.auditing import AuditResult, Certificate
from fairpca.cli._options import FitTerms, Table
from fairpca.cli._phrases import in_options
from fairpca.cli._places import check_folder
from fairpca.cli._plain import plain
from fairpca.cli._stages import Stages
from fairpca.cli._study import audited, fitted, known, plain_pca, read
from fairpca.cli._words import columns_table, finite, out, print_json, show_audit
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning
from fairpca.report import About, make_report
from fairpca.table_model import HeldOut, TableModel
from fairpca.tables import PreparedTable, Roles, write_projections

PATH_ROWS = 5_000
"""Rows on which the trade-off is traced: it is drawn, not used."""

NOT_MET = 1

FILES = {
    "report": "report.html",
    "model": "model.fairpca",
    "projected": "projected.csv",
    "loadings": "loadings.csv",
    "certificate": "certificate.json",
    "metrics": "metrics.json",
}
"""What is written, and what it is called."""

TERMS = ("fairness", "favourable", "sensitive", "sensitive_kind", "min_group_size", "small_groups", "missing")
"""Parameters that say how people are compared."""


@dataclass(frozen=True)
class Fitted:
    """All that a fit has found."""

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
    notes: tuple[str, ...]
    seconds: float


def run_fit(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    share: float,
    seed: int,
    folder: Path,
    with_path: bool,
    as_json: bool,
) -> int:
    """Fit a model to a table, audit it on held-out rows, and write everything into a folder.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    asked : FitTerms
        What is asked of the fit.
    share : float
        Share of the rows that is held out.
    seed : int
        Of everything that is drawn.
    folder : Path
        Where to.
    with_path : bool
        Whether the report shows the trade-off.
    as_json : bool
        Whether the numbers are printed as JSON.

    Returns
    -------
    code : int
        0, or 1 where the tolerance is not met.
    """
    asked.check_people(roles)
    check_folder(folder, FILES.values(), [choice.table])
    began = time.perf_counter()
    with Stages() as stages:
        prepared, used, said = read(choice, roles, share, seed, stages)
        with prepared:
            notes = (*prepared.notes, *said)
            if not as_json:
                show_columns(prepared, notes)
            found = find(choice, roles, asked, prepared, HeldOut(used, seed), with_path, notes, stages, began)
            files = write(found, folder, stages)
    document = metrics(found, files)
    if as_json:
        print_json(document)
    else:
        show(found, files, len(notes))
    return 0 if found.model.converged_ else NOT_MET


def find(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    prepared: PreparedTable,
    held_out: HeldOut,
    with_path: bool,
    notes: tuple[str, ...],
    stages: Stages,
    began: float,
) -> Fitted:
    """Fit and audit."""
    seed = held_out.random_state
    model = fitted(asked.model(prepared.people_train.y, seed), prepared, stages)
    before = plain_pca(model, prepared, stages)
    prepared.release()
    terms = {name: getattr(model, name) for name in TERMS}
    found = audited(model, prepared, seed, stages)
    found_before = audited(before, prepared, seed, stages, **terms)
    certificate, reasons = certified(found)
    path, remarks = trade_off(model, prepared, seed, stages) if with_path else (None, ())
    prepared.release()
    return Fitted(
        choice,
        roles,
        prepared,
        held_out,
        model,
        before,
        found,
        found_before,
        certificate,
        path,
        tuple(map(in_options, (*notes, *reasons, *remarks))),
        time.perf_counter() - began,
    )


def certified(audit: AuditResult) -> tuple[Certificate | None, tuple[str, ...]]:
    """Return what can be certified, or why nothing can."""
    try:
        return audit.certificate(), ()
    except ValueError as error:
        return None, (f"No certificate was written: {error}",)


def trade_off(
    model: FairPCA, prepared: PreparedTable, seed: int, stages: Stages
) -> tuple[FairPCAPath | None, tuple[str, ...]]:
    """Trace the trade-off, on some of the rows where they are many.

    Parameters
    ----------
    model : FairPCA
        The fitted model.
    prepared : PreparedTable
        The rows.
    seed : int
        Draws some of them.
    stages : Stages
        Told how it goes.

    Returns
    -------
    path : FairPCAPath or None
        The path; None where so few rows cannot be compared.
    notes : tuple of str
        What readers must know of it.
    """
    stages.say("tracing the trade-off")
    n_rows = len(prepared.X_train)
    few = n_rows > PATH_ROWS
    rows = np.sort(np.random.default_rng(seed).choice(n_rows, PATH_ROWS, replace=False)) if few else slice(None)
    people = {name: _taken(table, rows) for name, table in known(prepared.people_train).items()}
    settings = {name: getattr(model, name) for name in TERMS} | {
        "n_components": model.n_components_,
        "bandwidth": model.bandwidth if model.bandwidth == "scales" else model.bandwidth_,
        "small_groups": "merge" if few else model.small_groups,
        "random_state": seed,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            path = FairPCAPath(**settings).fit(prepared.X_train[rows], **people)
        except ValueError as error:
            return None, (f"The trade-off is not shown: {error}",)
    return path, (f"The trade-off was traced on {PATH_ROWS:,} of the {n_rows:,} rows to fit.",) if few else ()


def _taken(table: Any, rows: Any) -> Any:
    if isinstance(table, dict):
        return {name: column[rows] for name, column in table.items()}
    return None if table is None else table[rows]


def write(found: Fitted, folder: Path, stages: Stages) -> dict[str, str]:
    """Write all files, each whole or not at all.

    Parameters
    ----------
    found : Fitted
        What was found.
    folder : Path
        Where to.
    stages : Stages
        Told how far it is.

    Returns
    -------
    files : dict of str to str
        What is where.
    """
    files = {what: str(folder / name) for what, name in FILES.items()}
    model = found.model
    table_model = TableModel.of_fitted(
        found.prepared.encoder, model, found.roles, found.held_out, found.choice.options()
    )
    table_model.save(files["model"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # said when the table was read
        write_projections(
            files["projected"],
            found.choice.file(),
            found.prepared.encoder,
            model.transform,
            row_numbers=True,
            callback=stages.rows,
        )
    write_loadings(Path(files["loadings"]), model, found.prepared.feature_names)
    if found.certificate is not None:
        found.certificate.save(files["certificate"])
    else:
        # One of another fit must not stay beside this model.
        Path(files.pop("certificate")).unlink(missing_ok=True)
    stages.say("writing the report")
    make_report(
        model,
        found.prepared.X_new,
        **known(found.prepared.people_new),
        path=found.path,
        before=found.before,
        audit=found.audit,
        audit_before=found.audit_before,
        about=about(found),
        file=files["report"],
        random_state=found.held_out.random_state,
    )
    with writing(Path(files["metrics"])) as temporary:
        text = json.dumps(finite(metrics(found, files)), ensure_ascii=False, allow_nan=False, indent=1)
        temporary.write_text(text + "\n", encoding="utf-8")
    return files


def about(found: Fitted) -> About:
    """Return what a reader of the report must know of the table."""
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


def metrics(found: Fitted, files: dict[str, str]) -> dict[str, Any]:
    """Return all numbers, as plain types.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict
        What is where.
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
        "columns": prepared.columns,
        "notes": list(found.notes),
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


def show_columns(prepared: PreparedTable, notes: tuple[str, ...]) -> None:
    """Print what the columns are taken for, and what a user must know of them."""
    console = out()
    console.print(columns_table(prepared.columns))
    rows = f"{len(prepared.rows_train):,} rows to fit, {len(prepared.rows_new):,} held out"
    console.print(f"\n{rows}, {prepared.encoder.n_features} features.")
    show_notes(console, notes)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a user must know."""
    for note in notes:
        console.print(f"[yellow]note:[/yellow] {plain(in_options(note))}")


def show(found: Fitted, files: dict[str, str], shown: int) -> None:
    """Print the answer in words, the notes that were not shown yet, and where the files are."""
    console = out()
    console.print(f"\n{plain(found.model.summary())}")
    kept = 100 * float(found.before.explained_variance_ratio_.sum())
    console.print(f"Plain PCA keeps {kept:.1f} % of the variance.")
    console.print(f"\n[bold]On the {found.audit.n_rows:,} rows held out[/bold]")
    show_audit(console, found.audit)
    show_notes(console, found.notes[shown:])
    console.print("\n[bold]Files[/bold]")
    for what, path in files.items():
        console.print(f"  {what:<12} {plain(path)}")
    console.print(f"\nBegin with {plain(files['report'])}")
