"""fairpca path: how much variance each tolerance costs."""
# SPDX-License-Identifier: MIT

import csv
from pathlib import Path
from typing import Any

from fairpca import FairPCA, FairPCAPath
from fairpca._utils.files import writing
from fairpca.cli._options import PathTerms, Table
from fairpca.cli._places import check_file
from fairpca.cli._plain import plain
from fairpca.cli._stages import Stages
from fairpca.cli._study import known
from fairpca.cli._words import numbers_table, out, print_json
from fairpca.tables import Roles, prepare

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
