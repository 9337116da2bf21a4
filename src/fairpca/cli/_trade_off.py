"""fairpca path and compare: what fairness costs, by tolerances and by methods."""
# SPDX-License-Identifier: MIT

import csv
from pathlib import Path
from typing import Any

import numpy as np
import typer

from fairpca import FairPCA, FairPCAPath
from fairpca._utils.files import writing
from fairpca._utils.warn import warn_user
from fairpca.cli._fit import read
from fairpca.cli._guard import NOT_MET
from fairpca.cli._options import Compare, TradeOff, number_or_share, tolerance_of
from fairpca.cli._output import Stages, check_file, json_text, nothing_on_failure, numbers_table, out, plain
from fairpca.comparison import Terms
from fairpca.exceptions import TableWarning
from fairpca.methods import Asked, MethodComparison, Part, compare_parts, names_of_methods, notes_of, table_of
from fairpca.tables import prepare


def run_path(given: TradeOff) -> int:
    """Trace the trade-off on all rows of a table.

    Parameters
    ----------
    given : TradeOff
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 where some tolerance is not met.
    """
    given.check(given.roles)
    check_file("--out", given.out, [given.table])
    with (
        Stages() as stages,
        prepare(given.file, given.roles, given.options, held_out=0.0, callback=stages.rows) as table,
    ):
        stages.say("tracing the trade-off")
        people = table.people_train
        path = FairPCAPath(FairPCA(**given.settings(people.y, given.seed), callback=stages.step))
        path.fit(table.X_train, **vars(people))
    columns = {
        "tolerance": path.tolerances_,
        "mmd2": path.mmd2s_,
        "variance_kept": path.variances_,
        "met": path.converged_,
    }
    rows = [
        dict(zip(columns, row, strict=True)) for row in zip(*(each.tolist() for each in columns.values()), strict=True)
    ]
    if given.out is not None:
        _write_curve(given.out, rows)
    n_components = path.models_[0].n_components_
    if given.as_json:
        typer.echo(json_text({"n_components": n_components, "path": rows, "advice": _advice(path)}))
    else:
        shown = [
            (
                f"{row['tolerance']:.2g}",
                f"{row['mmd2']:.2g}",
                f"{100 * row['variance_kept']:.1f} %",
                "yes" if row["met"] else "no",
            )
            for row in rows
        ]
        headings = ("tolerance", "MMD²", "variance kept", "met")
        out().print(numbers_table(f"Variance kept by {n_components} components", headings, shown))
        out().print(_advice(path))
        if given.out is not None:
            out().print(f"curve: {plain(str(given.out))}")
    return 0 if path.converged_.all() else NOT_MET


def _advice(path: FairPCAPath) -> str:
    """Return which tolerance to take, and why, in two sentences."""
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


def _write_curve(file: Path, rows: list[dict[str, Any]]) -> None:
    with writing(file) as temporary, temporary.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def run_compare(given: Compare) -> int:
    """Fit every method to the same rows, and report of the rows held out.

    Parameters
    ----------
    given : Compare
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 where FairPCA does not meet its tolerance.
    """
    given.check(given.roles)
    if given.scales:
        raise ValueError("--scales: FairPCA-scales is among the methods that are compared; leave it out.")
    names_of_methods(given.methods or None)
    check_file("--out", given.out, [given.table])
    with Stages() as stages:
        prepared, _, notes = read(given, stages)
        for note in notes:
            warn_user(note, TableWarning)
        with prepared, nothing_on_failure([] if given.out is None else [given.out]):
            rest = Part(prepared.X_train, prepared.people_train)
            wanted = Asked(
                number_or_share(given.components),
                tolerance_of(given.tolerance),
                given.target,
                given.methods or None,
                Terms.named(**given.terms(prepared.people_train.y)),
                given.seed,
                stages.say,
            )
            found = compare_parts(rest, Part(prepared.X_new, prepared.people_new), wanted)
            if given.out is not None:
                found.save(given.out)
    if given.as_json:
        typer.echo(json_text(found.to_dict()))
    else:
        _show(found, given.out)
    return 0 if all(row["converged"] for row in found.methods if row["method"] == "FairPCA") else NOT_MET


def _show(found: MethodComparison, page: Path | None) -> None:
    """Print what was found, and where the page is."""
    console = out()
    for sentence in found.recommendation:
        console.print(plain(sentence))
    headings, rows = table_of(found)
    console.print()
    console.print(numbers_table(f"On {found.n_rows['held_out']:,} rows held out", headings, rows))
    for note in notes_of(found):
        console.print(plain(note))
    if page is not None:
        console.print(f"page: {plain(str(page))}")
