"""Some of the rows of what a user passed, whatever holds them."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from typing import Any

import numpy as np

from fairpca._utils.typing import IntArray
from fairpca.comparison import People
from fairpca.rows import is_sparse


def by_position(table: Any) -> Any:
    """Return a table whose rows are told apart, and may be chosen, by their positions alone.

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
