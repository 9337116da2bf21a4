"""Columns beside a Dask table: counted in one pass, then codes and numbers that stay where the rows are."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison._columns import (
    MOST_CELLS,
    MOST_GROUPS,
    LabelColumn,
    NumberColumn,
    Reading,
    are_numbers,
    as_labels,
    as_numbers,
    comparable,
    counted,
    missing,
    read_column,
    smallest_codes,
    with_absent,
)
from fairpca.rows import compute, is_dask, is_dask_frame


def read_column_beside(name: str, values: Any, chunks: tuple[int, ...], reading: Reading) -> LabelColumn | NumberColumn:
    """Check and code a column of a Dask table.

    Parameters
    ----------
    name : str
        Its name.
    values : Dask series, array or one-column frame, or array-like of shape (n,)
        Its entries, in the order of the rows.
    chunks : tuple of int
        Rows of each block that the result shall have.
    reading : Reading
        How it is to be read.
    """
    if is_dask(values):
        return _of_parts(name, parts_of(values, reading.argument), chunks, reading)
    column = read_column(name, values, sum(chunks), reading)
    if isinstance(column, NumberColumn):
        return NumberColumn(name, in_blocks(column.values, chunks))
    return LabelColumn(name, column.labels, column.counts, in_blocks(column.codes, chunks))


def in_blocks(array: AnyArray, chunks: tuple[int, ...]) -> Any:
    """Return an array of shape (n, 1) in memory as one of Dask, in blocks of so many rows."""
    return require("dask.array", "dask").from_array(array, chunks=(chunks, (1,)))


def parts_of(values: Any, argument: str) -> list[Any]:
    """Return the delayed parts of one column: arrays or series.

    Parameters
    ----------
    values : Dask series, array or one-column frame
        The column.
    argument : str
        Its name, for messages.
    """
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[values.columns[0]] if is_dask_frame(values) else values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{argument} has {values.shape[1]} columns; it must be one column.")
    return list(np.ravel(values.to_delayed()))


def mapped_parts(
    function: Callable[[Any], AnyArray],
    parts: list[Any],
    lengths: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: "np.dtype[Any]",
) -> Any:
    """Return what a function makes of parts, as a Dask array of shape (n, 1) in blocks of so many rows.

    Parameters
    ----------
    function : callable
        From a part to an array of shape (n_part, 1).
    parts : list of delayed
        The parts.
    lengths : tuple of int
        Their rows.
    chunks : tuple of int
        Rows of each block.
    dtype : dtype
        Type of the result.
    """
    array = require("dask.array", "dask")
    lazy = map(require("dask", "dask").delayed(function), parts)
    pieces = [array.from_delayed(part, (length, 1), dtype) for part, length in zip(lazy, lengths, strict=True)]
    return array.concatenate(pieces).rechunk((chunks, (1,)))


def _of_parts(name: str, parts: list[Any], chunks: tuple[int, ...], reading: Reading) -> LabelColumn | NumberColumn:
    count = require("dask", "dask").delayed(partial(counts_of_labels, argument=reading.argument))
    lengths, counters = zip(*compute(*map(count, parts)), strict=True)
    reading.check_length(sum(lengths), sum(chunks))
    found: Counter[Any] = sum(counters, Counter())
    n_absent = found.pop(None, 0)
    reading.check_present(n_absent)
    different = comparable(np.fromiter(found, dtype=object, count=len(found)), reading.argument)
    labels, index = np.unique(different, return_inverse=True)
    if reading.is_continuous(len(labels), are_numbers(labels)):
        numbers = partial(numbers_of_labels, argument=reading.argument)
        return NumberColumn(name, mapped_parts(numbers, parts, lengths, chunks, np.dtype(np.float64)))
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, index, list(found.values()))
    if len(found) >= MOST_CELLS:
        raise ValueError(
            f"{reading.argument} has {MOST_CELLS} or more distinct labels; at most {MOST_GROUPS} groups can be "
            'compared. Merge some of them, or use sensitive_kind="continuous" if they are numbers.'
        )
    reading.check_groups(labels, counts)
    dtype = smallest_codes(len(labels) + 1)
    of_absent = len(labels) if reading.missing == "group" else -1
    code = partial(
        codes_of_labels,
        code_of=dict(zip(found, index.tolist(), strict=True)),
        of_absent=of_absent,
        dtype=dtype,
        argument=reading.argument,
    )
    if n_absent and reading.missing == "group":
        labels, counts = with_absent(labels, counts, n_absent)
    return LabelColumn(name, labels, counts, mapped_parts(code, parts, lengths, chunks, dtype))


def counts_of_labels(part: Any, argument: str = "sensitive_features") -> tuple[int, "Counter[Any]"]:
    """Return the number of rows of a part, and how many there are of each label; None stands for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels of any kind.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    present = labels[~absent]
    if labels.dtype == object:
        found = counted(present.tolist(), argument)
    else:
        values, counts = np.unique(present, return_counts=True)
        # Dates stay numpy's: as plain numbers they would equal no entry of the part.
        names = values if labels.dtype.kind in "mM" else values.tolist()
        found = Counter(dict(zip(names, counts.tolist(), strict=True)))
    # Enough to say that there are too many, also where several stand for one group, as 1 and "1" do.
    kept: Counter[Any] = Counter(dict(found.most_common(MOST_CELLS)))
    if absent.any():
        kept[None] = int(absent.sum())
    return len(labels), kept


def codes_of_labels(
    part: Any, code_of: dict[Hashable, int], of_absent: int, dtype: "np.dtype[Any]", argument: str
) -> IntArray:
    """Return the numbers of labels, of shape (n_part, 1).

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels.
    code_of : dict
        The number of each label; the same for several when labels of different kinds stand for one group.
    of_absent : int
        The number of missing ones.
    dtype : dtype
        Type of the result.
    argument : str
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    present = labels[~absent]
    found = np.zeros(len(present), dtype=dtype)
    for label, code in code_of.items():
        if code > 0:
            found[present == label] = code
    codes = np.full((len(labels), 1), of_absent, dtype=dtype)
    codes[~absent, 0] = found
    return codes


def numbers_of_labels(part: Any, argument: str) -> FloatArray:
    """Return numbers, of shape (n_part, 1); NaN for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Numbers of any kind.
    argument : str
        Their name, for messages.
    """
    labels = as_labels(part, argument)
    absent = missing(labels)
    return as_numbers(labels[~absent], absent, argument)
