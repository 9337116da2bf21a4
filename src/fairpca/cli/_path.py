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
from fairpca.solvers import Budget
from fairpca.tables import PreparedTable, Roles, prepare

HEADINGS = ("tolerance", "mmd2", "variance_kept", "met")


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
        print_json({"n_components": path.models_[0].n_components_, "path": rows, "advice": advice(path)})
    else:
        shown = [
            (f"{row['tolerance']:.2g}", f"{row['mmd2']:.2g}", f"{100 * row['variance_kept']:.1f} %", _yes(row["met"]))
            for row in rows
        ]
        title = f"Variance kept by {path.models_[0].n_components_} components"
        out().print(numbers_table(title, ("tolerance", "MMD²", "variance kept", "met"), shown))
        out().print(advice(path))
        if file is not None:
            out().print(f"curve: {plain(str(file))}")
    return 0 if all(row["met"] for row in rows) else 1


def advice(path: FairPCAPath) -> str:
    """Return which tolerance to take, and why, in two sentences.

    Parameters
    ----------
    path : FairPCAPath
        The fitted path.
    """
    chance, kept = path.models_[0].chance_level_, 100 * path.variances_
    level = f"random groups of this size would differ by about {chance:.2g}"
    if path.mmd2s_[0] <= chance:
        return f"Plain PCA is fair enough on these rows: its MMD² is {path.mmd2s_[0]:.2g}, and {level}."
    enough = np.flatnonzero(path.converged_ & (path.mmd2s_ <= chance))
    if not len(enough):
        return (
            f"No tolerance of this path reaches the chance level: {level}. Ask for fewer components, or drop columns."
        )
    k = int(enough[0])
    return (
        f"Take --tolerance {path.tolerances_[k]:.2g}: it keeps {kept[k]:.1f} % of the variance, "
        f"{kept[0] - kept[k]:.1f} points less than the loosest, and {level}. Stricter tolerances cost variance "
        "and change little for new people."
    )


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
    model: FairPCA,
    before: FairPCA,
    prepared: PreparedTable,
    seed: int,
    stages: Stages,
    n_points: int = 5,
    most_rows: int = 1_000,
) -> tuple[FairPCAPath | None, tuple[str, ...]]:
    """Trace the trade-off from plain PCA to the model, on some of the rows where they are many.

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
    n_points : int, default=5
        Models before that of the fit, which is the last step of the slider.
    most_rows : int, default=1,000
        Rows at most: what is drawn is measured on the held-out rows, and only the model of the fit is used.

    Returns
    -------
    path : FairPCAPath or None
        The path; None where so few rows cannot be compared.
    notes : tuple of str
        What readers must know of it.
    """
    stages.say("tracing the trade-off")
    n_rows = len(prepared.X_train)
    few = n_rows > most_rows
    rows = np.sort(np.random.default_rng(seed).choice(n_rows, most_rows, replace=False)) if few else slice(None)
    people = {name: taken(table, rows) for name, table in known(prepared.people_train).items()}
    settings = dict(vars(Terms.of(model))) | {
        "n_components": model.n_components_,
        "bandwidth": model.bandwidth if model.bandwidth == "scales" else model.bandwidth_,
        "small_groups": "merge" if few else model.small_groups,
        "random_state": seed,
        # A curve shows a ten-thousandth of the variance and no more.
        "solver": Budget(gain_tolerance=1e-4, n_starts=1),
    }
    loosest = max(before.mmd2_, 4 * model.tolerance_)
    tolerances = np.geomspace(loosest, model.tolerance_, n_points + 1)[:-1].tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            path = FairPCAPath(FairPCA(**settings), tolerances=tolerances).fit(prepared.X_train[rows], **people)
        except ValueError as error:
            return None, (f"The trade-off is not shown: {error}",)
    return path, (f"The trade-off was traced on {most_rows:,} of the {n_rows:,} rows to fit.",) if few else ()


def taken(table: Any, rows: Any) -> Any:
    if isinstance(table, dict):
        return {name: column[rows] for name, column in table.items()}
    return None if table is None else table[rows]
