"""From raw text files to columns of strings, and from those to a matrix."""
# SPDX-License-Identifier: MIT

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from pathlib import Path
from sys import intern
from typing import Any, TextIO

import numpy as np
from numpy.typing import DTypeLike

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

Table = dict[str, Sequence[str]]

BLOCK_ROWS = 2**14
"""Rows that are read at a time where a table is large."""


@dataclass(frozen=True)
class Design:
    """A matrix with named columns.

    Attributes
    ----------
    matrix : ndarray of shape (n_rows, n_columns)
        The values.
    names : list of str
        Names of the columns; those of one-hot columns are "column=category".
    """

    matrix: AnyArray
    names: list[str]


def read_blocks(path: Path, names: Sequence[str], delimiter: str = ",") -> Iterator[Table]:
    """Read a text table without a header, some rows at a time.

    Blank lines, and lines that start with a bar, are no rows.

    Parameters
    ----------
    path : Path
        The file.
    names : sequence of str
        Names of the fields.
    delimiter : str, default=","
        What separates the fields. Blanks around a field are dropped.

    Yields
    ------
    table : dict of str to sequence of str
        The columns of the next rows.
    """
    first = 1
    with path.open(newline="", encoding="utf-8") as stream:
        rows = _rows(stream, delimiter)
        while block := list(islice(rows, BLOCK_ROWS)):
            yield as_table(block, names, path, first)
            first += len(block)
    if first == 1:
        raise _no_rows(path)


def _rows(stream: TextIO, delimiter: str) -> Iterator[list[str]]:
    for line in csv.reader(stream, delimiter=delimiter, skipinitialspace=True):
        if line and not line[0].startswith("|"):
            # Fields repeat: interned, the largest table takes a tenth of the memory.
            yield list(map(intern, map(str.strip, line)))


def as_table(rows: Sequence[Sequence[str]], names: Sequence[str], path: Path, first: int = 1) -> Table:
    """Turn rows into named columns.

    Parameters
    ----------
    rows : sequence of sequence of str
        Rows of fields.
    names : sequence of str
        Names of the fields. Of fields with the same name the first counts.
    path : Path
        The file they come from, for the message.
    first : int, default=1
        The number of the first of them in the file.

    Returns
    -------
    table : dict of str to sequence of str
        The columns.
    """
    if not rows:
        raise _no_rows(path)
    for number, row in enumerate(rows, start=first):
        check_length(row, len(names), number, path)
    table: Table = {}
    for name, column in zip(names, zip(*rows, strict=True), strict=True):
        table.setdefault(name, column)
    return table


def _no_rows(path: Path) -> ValueError:
    return ValueError(f"{path} holds no rows; it must be the raw file as its publisher gives it.")


def check_length(row: Sequence[str], n_fields: int, number: int, path: Path) -> None:
    """Refuse a row of a file, known by its number, that has not so many fields."""
    if len(row) != n_fields:
        raise ValueError(
            f"{path} has {len(row)} fields in row {number} where {n_fields} are expected; it must be the raw file as "
            "its publisher gives it."
        )


def stack(tables: Sequence[Table]) -> Table:
    """Return one table with the rows of several that have the same columns, in their order."""
    if len(tables) == 1:
        return tables[0]
    return {name: list(chain.from_iterable(table[name] for table in tables)) for name in tables[0]}


def keep_rows(table: Table, keep: Iterable[bool]) -> Table:
    """Return the rows of a table for which `keep` is true."""
    mask = list(keep)
    return {name: list(compress(column, mask)) for name, column in table.items()}


def numbers(name: str, column: Sequence[str]) -> FloatArray:
    """Return a column as numbers; its name is for the message."""
    try:
        return np.array(column, dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"Column {name!r} of the raw file must hold numbers: {error}.") from error


def whole_numbers(name: str, column: Sequence[str]) -> IntArray:
    """Return a column as whole numbers; its name is for the message."""
    try:
        return np.array(column, dtype=np.int64)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"Column {name!r} of the raw file must hold whole numbers: {error}.") from error


def indicator(column: Sequence[str], value: str) -> IntArray:
    """Return 1 where a column has the value and 0 elsewhere."""
    return np.fromiter((field == value for field in column), dtype=np.int64, count=len(column))


def design(
    table: Table,
    numeric: Sequence[str],
    categorical: Sequence[str],
    replaced: Mapping[str, IntArray],
    rows: IntArray | None = None,
    dtype: DTypeLike = np.float64,
) -> Design:
    """Build the matrix: numeric columns, then one-hot columns by column with the categories sorted.

    Parameters
    ----------
    table : dict of str to sequence of str
        The columns.
    numeric, categorical : sequence of str
        Which columns, in which order.
    replaced : dict of str to ndarray of shape (n_rows,)
        Values that take the place of a numeric column.
    rows : ndarray of int, default=None
        Rows to take, by default all. Categories are those of the whole table, whatever the rows.
    dtype : dtype, default=float64
        Of the matrix.

    Returns
    -------
    design : Design
        The matrix and the names of its columns.
    """
    chosen: Any = slice(None) if rows is None else rows
    categories = {name: sorted(set(table[name])) for name in categorical}
    names = [*numeric, *(f"{name}={category}" for name in categorical for category in categories[name])]
    n_rows = len(next(iter(table.values()))) if rows is None else len(rows)
    matrix = np.zeros((n_rows, len(names)), dtype=dtype)
    for position, name in enumerate(numeric):
        matrix[:, position] = (replaced[name] if name in replaced else numbers(name, table[name]))[chosen]
    start = len(numeric)
    for name in categorical:
        matrix[np.arange(n_rows), start + _codes(table[name], categories[name])[chosen]] = 1
        start += len(categories[name])
    return Design(matrix, names)


def _codes(column: Sequence[str], categories: Sequence[str]) -> IntArray:
    code = {category: index for index, category in enumerate(categories)}
    return np.fromiter(map(code.__getitem__, column), dtype=np.int64, count=len(column))
