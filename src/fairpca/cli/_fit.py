"""fairpca fit: from a table to a model, its audit and a page to hand on."""
# SPDX-License-Identifier: MIT

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from fairpca.auditing import AuditResult, Certificate, with_remedies
from fairpca.cli._fit_files import FILES, PDF, Fitted, metrics, write
from fairpca.cli._gate import check_gate, held
from fairpca.cli._guard import NOT_MET
from fairpca.cli._maps import compared_maps
from fairpca.cli._options import FitTerms, Gate, Table
from fairpca.cli._output import (
    Stages,
    check_folder,
    columns_table,
    nothing_on_failure,
    out,
    plain,
    print_json,
    show_numbers,
)
from fairpca.cli._path import trade_off
from fairpca.cli._phrases import in_options
from fairpca.cli._promise import (
    FILES as OF_PROMISE,
    check_people,
    check_promise,
    promised,
    release_of,
    show_promise,
)
from fairpca.cli._study import audited, fitted, plain_pca, read
from fairpca.report import Report, find_browser
from fairpca.table_model import HeldOut
from fairpca.tables import PreparedTable, Roles


def find(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    prepared: PreparedTable,
    held_out: HeldOut,
    with_path: bool,
    promise: float | None,
    compare_maps: bool,
    notes: tuple[str, ...],
    stages: Stages,
    began: float,
) -> Fitted:
    """Fit and audit.

    Parameters
    ----------
    choice, roles, prepared, held_out
        See `Fitted`.
    asked : FitTerms
        What is asked of the fit.
    with_path : bool
        Whether the trade-off is traced.
    promise : float or None
        The largest gap of any decision that is to be promised.
    compare_maps : bool
        Whether the map of the release is chosen among several.
    notes : tuple of str
        What is to be said of the table.
    stages : Stages
        Told how far it is.
    began : float
        When the work began.
    """
    ended = {"table": time.perf_counter()}
    seed = held_out.random_state
    wanted = asked.model(prepared.people_train.y, seed)
    if promise is not None:
        check_people(promise, wanted, prepared)
    maps: list[dict[str, Any]] = []
    if promise is not None and compare_maps:
        wanted, maps = compared_maps(promise, wanted, release_of(wanted, seed), prepared, seed, stages)
    model = fitted(wanted, prepared, stages)
    ended["fit"] = time.perf_counter()
    release = None if promise is None else promised(promise, model, prepared, seed, stages, maps)
    ended["promise"] = time.perf_counter()
    before = plain_pca(model, prepared, stages)
    prepared.release()
    found, found_before = (audited(each, prepared, seed, stages) for each in (model, before))
    stages.say("looking for what would help")
    revealing = [copy.column for copy in prepared.near_copies]
    found = with_remedies(found, model, prepared.X_new, prepared.people_new, prepared.encoder.slices, revealing)
    certificate, reasons = certified(found)
    ended["audit"] = time.perf_counter()
    path, remarks = trade_off(model, before, prepared, seed, stages) if with_path else (None, ())
    ended["trade_off"] = time.perf_counter()
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
        release,
        tuple(map(in_options, (*notes, *reasons, *remarks))),
        dict(zip(ended, np.diff([began, *ended.values()]).tolist(), strict=True)),
    )


def certified(audit: AuditResult) -> tuple[Certificate | None, tuple[str, ...]]:
    """Return what can be certified, or why nothing can.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    """
    try:
        # Held out by position: where rows are alike, that cannot be told from them.
        return audit.certificate(trust_rows=True), ()
    except ValueError as error:
        return None, (f"No certificate was written: {error}",)


def show_columns(prepared: PreparedTable, notes: tuple[str, ...]) -> None:
    """Print what the columns are taken for, and what a user must know of them.

    Parameters
    ----------
    prepared : PreparedTable
        The table.
    notes : tuple of str
        What is to be said of it.
    """
    console = out()
    console.print(columns_table(prepared.columns))
    rows = f"{len(prepared.rows_train):,} rows to fit, {len(prepared.rows_new):,} held out"
    console.print(f"\n{rows}, {prepared.encoder.n_features} features.")
    show_notes(console, notes)


def show_notes(console: Console, notes: Iterable[str]) -> None:
    """Print what a user must know.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    notes : iterable of str
        The sentences.
    """
    for note in notes:
        console.print(f"[yellow]note:[/yellow] {plain(in_options(note))}")


def show(found: Fitted, files: dict[str, str], report: Report, shown: int) -> None:
    """Print the answer in words, the notes that were not shown yet, and where the files are.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict of str to str
        What is where.
    report : Report
        Has the verdict.
    shown : int
        How many of the notes were shown before.
    """
    console = out()
    console.print(f"\n{plain(report.verdict)}")
    if found.promise is not None:
        show_promise(console, found.promise)
    console.print(f"\n{plain(found.model.summary())}")
    kept = 100 * float(found.before.explained_variance_ratio_.sum())
    console.print(f"Plain PCA keeps {kept:.1f} % of the variance.")
    console.print(f"\n[bold]On the {found.audit.n_rows:,} rows held out[/bold]")
    show_numbers(console, found.audit)
    show_notes(console, found.notes[shown:])
    console.print("\n[bold]Files[/bold]")
    for what, path in files.items():
        console.print(f"  {what:<12} {plain(path)}")
    console.print(f"\nKeep {plain(files['rows'])} to yourself: it can show whether someone was in the fit.")
    console.print(f"Begin with {plain(files['report'])}")


def run_fit(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    share: float,
    seed: int,
    folder: Path,
    with_path: bool,
    promise: float | None,
    compare_maps: bool,
    gate: Gate,
    n_points: int,
    pdf: bool,
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
    promise, compare_maps
        As above.
    gate : Gate
        Limits of figures.
    n_points : int
        Rows that the report draws as points.
    pdf : bool
        Whether the report is printed to a PDF as well.
    as_json : bool
        Whether the numbers are printed as JSON.

    Returns
    -------
    code : int
        0, or 1 where the tolerance is not met, or a figure is above its limit.
    """
    asked.check_people(roles)
    check_gate(gate, [choice.table])
    check_promise(promise, asked, compare_maps)
    if pdf:
        find_browser()
    check_folder(folder, [*FILES.values(), *OF_PROMISE.values(), PDF], [choice.table])
    began = time.perf_counter()
    with Stages() as stages:
        prepared, used, said = read(choice, roles, share, seed, stages)
        with prepared:
            notes = (*prepared.notes, *said)
            if not as_json:
                show_columns(prepared, notes)
            held_out, asked_for = HeldOut(used, seed), (with_path, promise, compare_maps)
            found = find(choice, roles, asked, prepared, held_out, *asked_for, notes, stages, began)
            with nothing_on_failure(folder / name for name in (*FILES.values(), *OF_PROMISE.values(), PDF)):
                files, report = write(found, folder, stages, n_points, pdf)
    document = metrics(found, files, report.summary["verdict"])
    if as_json:
        print_json(document)
    else:
        show(found, files, report, len(notes))
    code = held(found.figures, gate)
    return code if found.model.converged_ else NOT_MET
