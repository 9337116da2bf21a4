"""Rows split at random, with the same share of each group held out."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairpca._utils.typing import BoolArray, IntArray
from fairpca.comparison import Compared, People
from fairpca.inference import ComparedRows
from fairpca.rows import is_sparse, strata_of


def by_position(table: Any) -> Any:
    """Return a table whose rows are identified, and may be chosen, by their positions alone.

    Labels of rows were compared once, on the whole table; the same labels in a part would be compared again.

    Parameters
    ----------
    table : array-like, frame, sparse array or matrix, or mapping of n rows
        What a user passed.
    """
    if is_sparse(table):
        # Other formats cannot be indexed by rows.
        return table.tocsr()
    return table.reset_index(drop=True) if hasattr(table, "reset_index") else table


def part_of(table: Any, rows: IntArray) -> Any:
    """Return some of the rows of a table, in a container of the same kind.

    Parameters
    ----------
    table : array-like, frame or mapping of n rows
        What a user passed; None stays None.
    rows : ndarray of int of shape (k,)
        Which.
    """
    if table is None:
        return None
    if isinstance(table, Mapping):
        return {name: part_of(column, rows) for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[rows].reset_index(drop=True)
    if hasattr(table, "take") and hasattr(table, "slice"):
        # Arrays and tables of pyarrow, which cannot be indexed by rows.
        return table.take(rows)
    if isinstance(table, (list, tuple)):
        # Not by way of an array, which would turn labels of different kinds into strings.
        return [table[row] for row in rows.tolist()]
    return table[rows] if hasattr(table, "shape") else np.asarray(table)[rows]


def people_at(people: People, rows: IntArray) -> People:
    """Return what is known of some of the people.

    Parameters
    ----------
    people : People
        What is known of all.
    rows : ndarray of int of shape (k,)
        Which.
    """
    return People(**{name: part_of(table, rows) for name, table in people.tables.items()})


def held_out_split(
    share: float, compared: Compared, generator: np.random.Generator, to_fit: int, to_judge: int, asked: str
) -> tuple[IntArray, IntArray]:
    """Return the positions of the rows to fit to and of those held out, the same share of each group.

    Parameters
    ----------
    share : float
        The share that is held out.
    compared : Compared
        Who is compared with whom.
    generator : numpy.random.Generator
        Draws the rows.
    to_fit, to_judge : int
        Rows that every side of what is compared needs in either part; less is refused.
    asked : str
        The argument that asked for the split, for messages.
    """
    strata = strata_of(compared.attached)
    steps = np.floor(share * np.arange(len(strata) + 1) + generator.random())
    held_out = np.zeros(len(strata), dtype=bool)
    # One stratum after the other, in random order within each.
    held_out[np.lexsort([generator.random(len(strata)), strata])] = np.diff(steps) > 0
    for name, sides in _sides(compared).items():
        fitted, judging = (min(int(side[rows].sum()) for side in sides) for rows in (~held_out, held_out))
        if fitted < to_fit or judging < to_judge:
            raise ValueError(
                f"{asked} leaves {fitted} rows of one side of {name!r} to fit to and {judging} to judge by; at least "
                f"{to_fit} and {to_judge} are needed. Split otherwise, or merge small groups."
            )
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _sides(compared: Compared) -> dict[str, list[BoolArray]]:
    """Return which rows are on each side of every measure; those of a continuous attribute are on one."""
    rows = ComparedRows.of(np.zeros((len(compared.attached), 0)), compared)
    found: dict[str, list[BoolArray]] = {}
    for j, measure in enumerate(compared.measures):
        columns = rows.columns_of(j)
        signs = [columns > 0, columns < 0] if measure.kind == "groups" else [columns != 0]
        found[measure.measured.name] = [np.asarray(sign.any(axis=1)) for sign in signs]
    return found
