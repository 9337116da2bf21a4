"""fairpca fit: from a table to a model, its audit and a page to hand on."""
# SPDX-License-Identifier: MIT

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import typer
from rich.console import Console
from sklearn.base import clone

from fairpca import FairPCA, FairPCAPath, audit
from fairpca.auditing import AuditResult, Certificate, with_remedies
from fairpca.cli._fit_files import FILES, OF_PROMISE, PDF, Fitted, write
from fairpca.cli._gate import check_gate, held
from fairpca.cli._guard import NOT_MET, in_options
from fairpca.cli._options import Compare, Fit
from fairpca.cli._output import (
    Stages,
    check_folder,
    columns_table,
    json_text,
    nothing_on_failure,
    out,
    plain,
    show_numbers,
)
from fairpca.cli._promise import check_people, check_promise, compared_maps, promised, show_promise
from fairpca.comparison import LARGEST_MMD2, Terms
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning, TableWarning
from fairpca.inference import LEAST_ROWS
from fairpca.report import find_browser
from fairpca.selection import people_at
from fairpca.solvers import Budget
from fairpca.table_model import HeldOut
from fairpca.tables import PreparedTable, is_continuous, prepare


def read(given: Fit | Compare, stages: Stages) -> tuple[PreparedTable, float, tuple[str, ...]]:
    """Read a table and hold rows out: more than asked for where a certificate could not speak of a group otherwise.

    Parameters
    ----------
    given : Fit or Compare
        What was asked for.
    stages : Stages
        Told how far it is.

    Returns
    -------
    prepared : PreparedTable
        The rows.
    share : float
        The share that was held out.
    notes : tuple of str
        What is to be said of the table, and of the share where it is another than was asked for.
    """

    def prepared_with(share: float) -> PreparedTable:
        return prepare(
            given.file, given.roles, given.options, held_out=share, callback=stages.rows, random_state=given.seed
        )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", TableWarning)
        prepared = prepared_with(given.held_out)
        needed = _share_needed(prepared, given.held_out)
        if needed <= given.held_out:
            return prepared, given.held_out, prepared.notes
        prepared.close()
        prepared = prepared_with(needed)
    words = (
        f"{100 * needed:.0f} % of the rows are held out, not {100 * given.held_out:.0f} %: a certificate needs "
        f"{LEAST_ROWS} of each group."
    )
    return prepared, needed, (*prepared.notes, words)


def _share_needed(prepared: PreparedTable, share: float, most: float = 0.5) -> float:
    """Return the share to hold out so that each group has as many rows there as a certificate needs.

    It is `most` at most unless more was asked for, for fits need rows too.
    """
    needed = share
    for column in (prepared.people_new.sensitive_features or {}).values():
        values, counts = np.unique(np.asarray(column, dtype=str), return_counts=True)
        if len(values) > 1 and not is_continuous(np.asarray(column)) and counts.min() < LEAST_ROWS:
            needed = max(needed, share * (LEAST_ROWS + 1) / int(counts.min()))
    return max(share, min(most, needed))


def run_fit(given: Fit) -> int:
    """Fit a model to a table, audit it on held-out rows, and write everything into a folder.

    Parameters
    ----------
    given : Fit
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 where the tolerance is not met, or a figure is above its limit.
    """
    given.check(given.roles)
    check_gate(given, [given.table])
    check_promise(given)
    if given.pdf:
        find_browser()
    names = (*FILES.values(), *OF_PROMISE.values(), PDF)
    check_folder(given.out, names, [given.table])
    began = time.perf_counter()
    with Stages() as stages:
        prepared, share, notes = read(given, stages)
        with prepared:
            if not given.as_json:
                show_columns(prepared, notes)
            found = find(given, prepared, share, notes, stages, began)
            with nothing_on_failure(given.out / name for name in names):
                document, verdict = write(found, stages)
    if given.as_json:
        typer.echo(json_text(document))
    else:
        show(found, document["files"], verdict, len(notes))
    code = held(found.figures, given)
    return code if found.model.converged_ else NOT_MET


def find(
    given: Fit, prepared: PreparedTable, share: float, notes: tuple[str, ...], stages: Stages, began: float
) -> Fitted:
    """Fit and audit.

    Parameters
    ----------
    given : Fit
        What was asked for.
    prepared : PreparedTable
        The rows.
    share : float
        Of which this share is held out.
    notes : tuple of str
        What is to be said of the table.
    stages : Stages
        Told how far it is.
    began : float
        When the work began.
    """
    X, people = prepared.X_train, vars(prepared.people_train)
    wanted, release, path = given.model(prepared.people_train.y), None, None
    maps: list[dict[str, Any]] = []
    remarks: tuple[str, ...] = ()
    ended = {"table": time.perf_counter()}
    with warnings.catch_warnings():
        # Near copies of attributes were named with the columns, and what is not met is said with the answer.
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        if given.promise is not None:
            check_people(given.promise, wanted, prepared)
            if given.compare_maps:
                wanted, maps = compared_maps(given.promise, wanted, prepared, stages)
        stages.say("fitting")
        model = wanted.set_params(callback=stages.step).fit(X, **people).set_params(callback=None)
        ended["fit"] = time.perf_counter()
        if given.promise is not None:
            release = promised(given.promise, model, prepared, maps, stages)
        ended["promise"] = time.perf_counter()
        stages.say("fitting plain PCA")
        # Nothing exceeds this tolerance; with groups many rows are not copied.
        before = clone(model).set_params(n_components=model.n_components_, tolerance=LARGEST_MMD2).fit(X, **people)
        prepared.release()
        found, found_before = (_audited(each, prepared, given.seed, stages) for each in (model, before))
        stages.say("looking for what would help")
        revealing = [copy.column for copy in prepared.near_copies]
        found = with_remedies(found, model, prepared.X_new, prepared.people_new, prepared.encoder.slices, revealing)
        certificate, reasons = _certified(found)
        ended["audit"] = time.perf_counter()
        if given.with_path:
            path, remarks = _trade_off(model, before, prepared, given.seed, stages)
        ended["trade_off"] = time.perf_counter()
    prepared.release()
    return Fitted(
        given=given,
        prepared=prepared,
        held_out=HeldOut(share, given.seed),
        model=model,
        before=before,
        audit=found,
        audit_before=found_before,
        certificate=certificate,
        path=path,
        promise=release,
        notes=tuple(map(in_options, (*notes, *reasons, *remarks))),
        seconds=dict(zip(ended, np.diff([began, *ended.values()]).tolist(), strict=True)),
    )


def _audited(model: FairPCA, prepared: PreparedTable, seed: int, stages: Stages) -> AuditResult:
    people = vars(prepared.people_new)
    return audit(model, prepared.X_new, **people, random_state=seed, callback=stages.say)


def _certified(found: AuditResult) -> tuple[Certificate | None, tuple[str, ...]]:
    """Return what can be certified, or why nothing can."""
    try:
        # Held out by position: where rows are alike, that cannot be told from them.
        return found.certificate(trust_rows=True), ()
    except ValueError as error:
        return None, (f"No certificate was written: {error}",)


def _trade_off(
    model: FairPCA,
    before: FairPCA,
    prepared: PreparedTable,
    seed: int,
    stages: Stages,
    n_points: int = 5,
    most_rows: int = 1_000,
) -> tuple[FairPCAPath | None, tuple[str, ...]]:
    """Trace the trade-off from plain PCA to the model, and return what readers must know of it.

    It has `n_points` models before that of the fit, which is the last step of the slider. Of many rows some are drawn:
    what is shown is measured on the held-out rows, and only the model of the fit is used.
    """
    stages.say("tracing the trade-off")
    X, people, n_rows = prepared.X_train, prepared.people_train, len(prepared.X_train)
    if few := n_rows > most_rows:
        rows = np.sort(np.random.default_rng(seed).choice(n_rows, most_rows, replace=False))
        X, people = X[rows], people_at(people, rows)
    settings = vars(Terms.of(model)) | {
        "n_components": model.n_components_,
        "bandwidth": model.bandwidth if model.bandwidth == "scales" else model.bandwidth_,
        "small_groups": "merge" if few else model.small_groups,
        "random_state": seed,
        # A curve shows a ten-thousandth of the variance and no more.
        "solver": Budget(gain_tolerance=1e-4, n_starts=1),
    }
    loosest = max(before.mmd2_, 4 * model.tolerance_)
    tolerances = np.geomspace(loosest, model.tolerance_, n_points + 1)[:-1].tolist()
    try:
        path = FairPCAPath(FairPCA(**settings), tolerances=tolerances).fit(X, **vars(people))
    except ValueError as error:
        return None, (f"The trade-off is not shown: {error}",)
    return path, (f"The trade-off was traced on {most_rows:,} of the {n_rows:,} rows to fit.",) if few else ()


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
    _show_notes(console, notes)


def _show_notes(console: Console, notes: Iterable[str]) -> None:
    for note in notes:
        console.print(f"[yellow]note:[/yellow] {plain(in_options(note))}")


def show(found: Fitted, files: dict[str, Any], verdict: str, shown: int) -> None:
    """Print the answer in words, the notes that were not shown yet, and where the files are.

    Parameters
    ----------
    found : Fitted
        What was found.
    files : dict of str to str
        What is where.
    verdict : str
        The answer.
    shown : int
        How many of the notes were shown before.
    """
    console = out()
    console.print(f"\n{plain(verdict)}")
    if found.promise is not None:
        show_promise(console, found.promise)
    console.print(f"\n{plain(found.model.summary())}")
    kept = 100 * float(found.before.explained_variance_ratio_.sum())
    console.print(f"Plain PCA keeps {kept:.1f} % of the variance.")
    console.print(f"\n[bold]On the {found.audit.n_rows:,} rows held out[/bold]")
    show_numbers(console, found.audit)
    _show_notes(console, found.notes[shown:])
    console.print("\n[bold]Files[/bold]")
    for what, path in files.items():
        console.print(f"  {what:<12} {plain(path)}")
    console.print(f"\nKeep {plain(files['rows'])} to yourself: it can show whether someone was in the fit.")
    console.print(f"Begin with {plain(files['report'])}")
