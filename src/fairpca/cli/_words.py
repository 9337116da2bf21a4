"""What commands print."""
# SPDX-License-Identifier: MIT

import json
import math
from collections.abc import Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from fairpca.auditing import AuditResult
from fairpca.cli._plain import plain

MOST_COLUMNS = 40
"""Columns of a table that are listed; more are counted."""

LONGEST_WORD = 30
"""Letters of a word that is not broken."""

LONGEST_NAME = 60
"""Letters of a name that are shown; more are left to the report."""


def print_json(document: dict[str, Any]) -> None:
    """Print a document as JSON; numbers that are none are null.

    Parameters
    ----------
    document : dict
        Plain types.
    """
    typer.echo(json.dumps(finite(document), ensure_ascii=False, allow_nan=False, indent=1))


def finite(value: Any) -> Any:
    """Return plain types with null in place of numbers that JSON does not have.

    Parameters
    ----------
    value : Any
        Plain types; arrays and scalars of numpy are taken for their values.
    """
    if isinstance(value, dict):
        return {str(name): finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def columns_table(columns: Sequence[dict[str, Any]]) -> Table:
    """Return what each column of a table is taken for.

    Parameters
    ----------
    columns : sequence of dict
        As `fairpca.tables.describe` returns them.
    """
    more = f"and {len(columns) - MOST_COLUMNS} more columns" if len(columns) > MOST_COLUMNS else None
    table = Table(title="Columns", title_justify="left", caption=more, box=None, pad_edge=False)
    for heading, side in (("column", "left"), ("role", "left"), ("kind", "left"), ("values", "right")):
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    table.add_column("missing", justify="right")
    table.add_column("features", justify="right")
    for column in columns[:MOST_COLUMNS]:
        distinct = f"{column['distinct']}{'+' if column['more_distinct'] else ''}"
        counts = (distinct, str(column["missing"] or ""), str(column["features"] or ""))
        name = column["column"]
        shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
        table.add_row(plain(shown), column["role"], column["kind"], *counts)
    return table


def numbers_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column is text and whose others are numbers.

    Parameters
    ----------
    title : str
        Above it.
    headings : sequence of str
        Of the columns.
    rows : sequence of sequences of str
        The cells.
    """
    table = Table(title=plain(title), title_justify="left", box=None, pad_edge=False)
    for position, heading in enumerate(headings):
        longest = max((len(word) for row in rows for word in row[position].split()), default=0)
        # Headings and names may take several lines; no word and no number is broken for that.
        width = min(longest, LONGEST_WORD)
        table.add_column(heading, justify="right" if position else "left", min_width=width, overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False, soft_wrap=True)


def show_audit(console: Console, found: AuditResult) -> None:
    """Print what an audit has found: each measure, the adversaries that read most, the verdict.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    found : AuditResult
        The findings.
    """
    at_most = f"at most\n({100 * found.confidence:g} %)"
    headings = ("compared", "rows", "MMD²", "by\nchance", "p over\nscales", at_most)
    rows = [
        (
            measure["name"],
            " and ".join(f"{n:,}" for n in measure["sides"] or [measure["n_rows"]]),
            f"{measure['mmd2']:.2g}",
            f"{measure['chance_level']:.2g}",
            f"{measure['p_value_scales']:.2g}",
            "not known" if math.isnan(measure["upper_bound"]) else f"{measure['upper_bound']:.2g}",
        )
        for measure in found.measures
    ]
    console.print(numbers_table("", headings, rows))
    for attribute, record in best_readers(found.adversaries).items():
        score = f"R² {record['r2']:.2f}" if "r2" in record else f"AUC {record['auc']:.2f}"
        console.print(f"{plain(attribute or 'the attribute')} is read best by {record['adversary']}: {score}.")
    console.print(plain(found.verdict))


def best_readers(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the adversary that reads each attribute best.

    Parameters
    ----------
    records : sequence of dict
        `AuditResult.adversaries`.
    """
    best: dict[str, dict[str, Any]] = {}
    for record in records:
        known = best.get(record["attribute"])
        if known is None or reading(record) > reading(known):
            best[record["attribute"]] = record
    return best


def reading(record: dict[str, Any]) -> float:
    """Return how well an adversary reads an attribute: its AUC, or R^2.

    Parameters
    ----------
    record : dict
        One of `AuditResult.adversaries`.
    """
    return float(record["r2"] if "r2" in record else record["auc"])
