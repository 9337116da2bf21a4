"""The trade-off: fairpca path, and what a report shows of it."""
# SPDX-License-Identifier: MIT

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from fairpca import FairPCA, FairPCAPath
from fairpca._utils.files import writing
from fairpca.cli._options import PathTerms, Table
from fairpca.cli._output import Stages, check_file, numbers_table, out, plain, print_json
from fairpca.cli._study import known
from fairpca.comparison import Terms
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning
from fairpca.tables import PreparedTable, Roles, prepare

HEADINGS = ("tolerance", "mmd2", "variance_kept", "met")

PATH_ROWS = 2_000
"""Rows on which the trade-off is traced: it is drawn, not used."""

N_POINTS = 8
"""Points of a curve that a slider moves along."""


def run_path(choice: Table, roles: Roles, asked: PathTerms, seed: int, file: Path | None, as_json: bool) -> int:
    """Trace the trade-off on all rows of a table.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    asked : PathTerms
        What is asked of the fits.
    seed : int
        Of what is drawn.
    file : Path or None
        A CSV for the curve.
    as_json : bool
        Whether to print JSON.

    Returns
    -------
    code : int
        0, or 1 where some tolerance is not met.
    """
    asked.check_people(roles)
    check_file("--out", file, [choice.table])
    with (
        Stages() as stages,
        prepare(choice.file, roles, choice.options(), held_out=0.0, callback=stages.rows) as table,
    ):
        stages.say("tracing the trade-off")
        people = table.people_train
        path = FairPCAPath(FairPCA(**asked.settings(people.y, seed), callback=stages.step))
        path.fit(table.X_train, **known(people))
    rows = curve(path)
    if file is not None:
        write_curve(file, rows)
    if as_json:
        print_json({"n_components": path.models_[0].n_components_, "path": rows})
    else:
        shown = [
            (f"{row['tolerance']:.2g}", f"{row['mmd2']:.2g}", f"{100 * row['variance_kept']:.1f} %", _yes(row["met"]))
            for row in rows
        ]
        title = f"Variance kept by {path.models_[0].n_components_} components"
        out().print(numbers_table(title, ("tolerance", "MMD²", "variance kept", "met"), shown))
        if file is not None:
            out().print(f"curve: {plain(str(file))}")
    return 0 if all(row["met"] for row in rows) else 1


def curve(path: FairPCAPath) -> list[dict[str, Any]]:
    """Return the path as rows of plain numbers."""
    columns = (path.tolerances_, path.mmd2s_, path.variances_, path.converged_)
    return [dict(zip(HEADINGS, row, strict=True)) for row in zip(*(each.tolist() for each in columns), strict=True)]


def write_curve(file: Path, rows: list[dict[str, Any]]) -> None:
    """Write the curve as CSV."""
    with writing(file) as temporary, temporary.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, HEADINGS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _yes(met: bool) -> str:
    return "yes" if met else "no"


def trade_off(
    model: FairPCA, before: FairPCA, prepared: PreparedTable, seed: int, stages: Stages
) -> tuple[FairPCAPath | None, tuple[str, ...]]:
    """Trace the trade-off from plain PCA to half of the model's tolerance, on some of the rows where they are many.

    Parameters
    ----------
    model, before : FairPCA
        The fitted model, and plain PCA.
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
    people = {name: taken(table, rows) for name, table in known(prepared.people_train).items()}
    settings = dict(vars(Terms.of(model))) | {
        "n_components": model.n_components_,
        "bandwidth": model.bandwidth if model.bandwidth == "scales" else model.bandwidth_,
        "small_groups": "merge" if few else model.small_groups,
        "random_state": seed,
    }
    strictest = 0.5 * model.tolerance_
    tolerances = np.geomspace(max(before.mmd2_, 4 * strictest), strictest, N_POINTS).tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            path = FairPCAPath(FairPCA(**settings), tolerances=tolerances).fit(prepared.X_train[rows], **people)
        except ValueError as error:
            return None, (f"The trade-off is not shown: {error}",)
    return path, (f"The trade-off was traced on {PATH_ROWS:,} of the {n_rows:,} rows to fit.",) if few else ()


def taken(table: Any, rows: Any) -> Any:
    if isinstance(table, dict):
        return {name: column[rows] for name, column in table.items()}
    return None if table is None else table[rows]
