"""What a user knows of the people behind the rows: columns in the order of the rows, compared with their labels."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import warn_user
from fairpca.comparison._columns import (
    Column,
    Height,
    LabelColumn,
    Reading,
    as_array,
    as_labels,
    comparable,
    distinct,
    listed,
    missing,
    read_column,
    read_weights,
    zeros_beside,
)
from fairpca.comparison._comparison import MASS
from fairpca.comparison._terms import Terms
from fairpca.exceptions import RowLabelsWarning
from fairpca.rows import compute, is_dask


@dataclass(frozen=True, eq=False)
class People:
    """What is known of the people behind the rows, as the user passed it.

    Attributes
    ----------
    sensitive_features : vector or table of n rows, default=None
        Protected attributes; nothing is compared without.
    y : vector of n rows, default=None
        Labels.
    control_features : vector or table of n rows, default=None
        Segments within which groups are compared.
    sample_weight : vector of n rows, default=None
        How much each row counts.
    """

    sensitive_features: Any = None
    y: Any = None
    control_features: Any = None
    sample_weight: Any = None

    @property
    def tables(self) -> dict[str, Any]:
        """What was passed, by the name of the argument."""
        return {name: table for name, table in vars(self).items() if table is not None}


def columns_of(table: Any, argument: str) -> list[tuple[str, Any]]:
    """Return the columns of a vector or table: the name of each, empty where it has none, and its entries.

    Parameters
    ----------
    table : array-like or Dask collection of shape (n,) or (n, k), or mapping of names to columns
        What a user passed.
    argument : str
        Its name, for messages.
    """
    if isinstance(table, Mapping) or (hasattr(table, "columns") and getattr(table, "ndim", 2) == 2):
        names = list(table if isinstance(table, Mapping) else getattr(table, "column_names", table.columns))
        if not names:
            raise ValueError(f"{argument} has no columns.")
        return [(str(name), table[name]) for name in names]
    name = "" if is_dask(table) else getattr(table, "name", None)
    if not is_dask(table) and len(getattr(table, "shape", (0, 0))) == 2:
        table = as_array(table, argument)
    if len(table.shape) == 2 and table.shape[1] > 1:
        return [(f"{argument}[{k}]", table[:, k]) for k in range(table.shape[1])]
    return [(name if isinstance(name, str) else "", table)]


def read_columns(argument: str, table: Any, rows: Height, terms: Terms | None = None) -> list[Column]:
    """Return the columns that were passed as an argument, checked and coded.

    Parameters
    ----------
    argument : str
        Its name.
    table : array-like or Dask collection of shape (n,) or (n, k), mapping of names to columns, or None
        What a user passed.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    terms : Terms, default=None
        How protected attributes are to be read; other columns are labels, of which none is missing.
    """
    if table is None:
        return []
    named = columns_of(table, argument)
    names = [name for name, _ in named]
    kinds = ["groups"] * len(named) if terms is None else terms.kinds_of(names)
    errors = [None] * len(named) if terms is None else terms.errors_of(names)
    found = []
    for (name, values), kind, rates in zip(named, kinds, errors, strict=True):
        where = f"{argument}[{name!r}]" if len(named) > 1 else argument
        reading = Reading(where, kind) if terms is None else Reading(where, kind, terms.missing, is_attribute=True)
        column = read_column(name, values, rows, reading)
        if rates is not None:
            rates.check_groups(where, [str(label) for label in getattr(column, "labels", [])])
            assert isinstance(column, LabelColumn)
            column = replace(column, errors=rates)
        found.append(column)
    return found


def side_by_side(codes: Any, masses: Any, columns: Sequence[Column]) -> Any:
    """Return what is attached to rows: their stratum, mass and columns, as float64, where the rows are.

    Parameters
    ----------
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The stratum of each row.
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        The mass of each; None where all have the mass 1.
    columns : sequence of LabelColumn and NumberColumn
        The columns.
    """
    if masses is None:
        masses = np.ones_like(codes, dtype=np.float64)
    values = [column.codes if isinstance(column, LabelColumn) else column.values for column in columns]
    attached: Any = np.concatenate([codes.astype(np.float64), masses, *values], axis=1)
    return attached.rechunk({1: -1}) if is_dask(attached) else attached


def check_same_rows(X: Any, tables: Mapping[str, Any]) -> None:
    """Refuse tables whose rows have the labels of those of `X` in another order, and warn where the labels differ.

    Rows are always matched by position. Tables without labels of rows (the index of pandas and Dask frames and series)
    pass, and so do tables of different lengths, which are refused elsewhere.

    Parameters
    ----------
    X : object
        Rows, as the user passed them.
    tables : mapping of str to object
        What else is known of the rows, as the user passed it, by the name of the argument.
    """
    named = ((argument, getattr(table, "index", None)) for argument, table in {"X": X, **tables}.items())
    # Of a list `index` is a method.
    indices: dict[str, Any] = {
        argument: index for argument, index in named if index is not None and not callable(index)
    }
    if "X" not in indices or len(indices) < 2:
        return
    own = indices.pop("X")
    if not any(map(is_dask, [own, *indices.values()])):
        for argument, other in indices.items():
            same = own.equals(other)
            reordered = not same and Counter(own.tolist()) == Counter(other.tolist())
            _judge(argument, len(own) == len(other), same, reordered)
        return
    lazy = require("dask", "dask").delayed(digest_of_index)
    parts = [list(index.to_delayed()) if is_dask(index) else [index] for index in (own, *indices.values())]
    # In one pass over what they come from.
    found = iter(compute(*(lazy(part) for each in parts for part in each)))
    first, *others = (_joined(islice(found, len(each))) for each in parts)
    for argument, digest in zip(indices, others, strict=True):
        _judge(argument, first[0] == digest[0], first == digest, first[1] == digest[1])


def _judge(argument: str, as_long: bool, same: bool, reordered: bool) -> None:
    if not as_long or same:
        return
    if reordered:
        raise ValueError(
            f"{argument} has the row labels of X in another order, and rows are matched by position: bring them into "
            f"one order, for example by {argument}.loc[X.index], or pass {argument}.to_numpy() if the order is right "
            "and the labels are not."
        )
    warn_user(
        f"{argument} and X have different row labels; rows were matched by position. Give both the same index, or pass "
        f"{argument}.to_numpy() if the positions are right.",
        RowLabelsWarning,
    )


def digest_of_index(index: Any) -> tuple[int, int, int]:
    """Return numbers by which it is known whether two indices hold the same labels, and whether in the same order.

    Parameters
    ----------
    index : pandas.Index of length n
        Labels of rows.

    Returns
    -------
    n_rows : int
        Length.
    bag : int
        Sum of the labels' hashes modulo 2^64, which no order changes.
    sequence : int
        sum_i i hash_i modulo 2^64, which other orders change.
    """
    hashes = require("pandas", "frame").util.hash_pandas_object(index).to_numpy()
    positions = np.arange(len(hashes), dtype=np.uint64)
    return len(hashes), int(hashes.sum(dtype=np.uint64)), int((hashes * positions).sum(dtype=np.uint64))


def _joined(digests: Iterable[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Return the digest of indices that follow each other."""
    n, bag, sequence = 0, 0, 0
    for length, its_bag, its_sequence in digests:
        sequence = (sequence + its_sequence + n * its_bag) % 2**64
        n, bag = n + length, (bag + its_bag) % 2**64
    return n, bag, sequence


def check_two_groups(sensitive_features: Any, n_samples: int) -> AnyArray:
    """Return group labels as a 1-d array with exactly two distinct values, each on at least two rows, none missing.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
        Strings, booleans, numbers, dates; a list, a numpy or pyarrow array, a pandas or polars Series or a frame of one
        column.
    n_samples : int
        Number of rows it must have.
    """
    labels, reading = as_labels(sensitive_features), Reading("sensitive_features")
    absent = missing(labels)
    reading.check_rows(len(labels), n_samples, int(absent.sum()), int(absent.argmax()))
    labels = comparable(labels)
    groups, counts = distinct(labels)
    if len(groups) == 1:
        raise ValueError(f"sensitive_features has one group only, {groups.tolist()[0]!r}; two are needed to compare.")
    if len(groups) > 2:
        raise ValueError(
            f"sensitive_features has {len(groups)} groups, {listed(groups, counts)}; two can be compared. Merge some "
            "of them, for example one group against all others."
        )
    if counts.min() < 2:
        raise ValueError(
            f"sensitive_features has {int(counts.min())} row in group {groups.tolist()[counts.argmin()]!r}; "
            "each group needs at least 2."
        )
    return labels


@dataclass(frozen=True)
class EncodedColumn:
    """A column of labels or numbers.

    Attributes
    ----------
    name : str
        Its name, or empty.
    groups : tuple
        The labels, an indicator for each; none where the column holds numbers.
    shift : float
        What is subtracted from numbers, so that their products keep their digits.
    is_label : bool
        Whether it is y, and no attribute.
    """

    name: str
    groups: tuple[Any, ...] = ()
    shift: float = 0.0
    is_label: bool = False

    @property
    def width(self) -> int:
        """Numbers that it is encoded as."""
        return len(self.groups) or 1


@dataclass(frozen=True)
class Encoding:
    """How attributes and labels become numbers.

    Attributes
    ----------
    columns : tuple of EncodedColumn
        The columns; their numbers are attached to rows in this order, behind the masses.
    """

    columns: tuple[EncodedColumn, ...] = ()

    @property
    def width(self) -> int:
        """Numbers of a row, without its mass."""
        return sum(column.width for column in self.columns)

    def of(self, attached: AnyArray) -> FloatArray:
        """Return a one and the numbers of each row, times its mass, of shape (n, 1 + width).

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            What is attached to the rows.
        """
        masses, start = attached[:, MASS], 1
        # One number after the other in memory, so that sums over rows are fast.
        numbers = np.empty((1 + self.width, len(masses)))
        numbers[0] = masses
        for position, column in enumerate(self.columns, start=MASS + 1):
            values, end = attached[:, position], start + column.width
            own = values == np.arange(column.width)[:, None] if column.groups else values - column.shift
            np.multiply(own, masses, out=numbers[start:end])
            start = end
        return numbers.T


def encoded(
    people: People, rows: Height, sensitive_kind: Any = "auto", *, more_to_come: bool = False
) -> tuple[Any, Encoding]:
    """Return what is attached to rows, stratum, mass and the columns, and how these become numbers.

    Parameters
    ----------
    people : People
        What is known of the rows; controls are not used.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        See `Terms`.
    more_to_come : bool, default=False
        Whether these are some of the rows, so that weights stay as they are.
    """
    columns = read_columns("sensitive_features", people.sensitive_features, rows, Terms(sensitive_kind=sensitive_kind))
    n_attributes = len(columns)
    if people.y is not None:
        columns.append(read_column("y", people.y, rows, Reading("y", "auto")))
    masses = read_weights(people.sample_weight, rows, as_they_are=more_to_come)
    found = tuple(_encoded(column, masses, k == n_attributes) for k, column in enumerate(columns))
    return side_by_side(zeros_beside(rows), masses, columns), Encoding(found)


def _encoded(column: Column, masses: Any, is_label: bool) -> EncodedColumn:
    if isinstance(column, LabelColumn):
        return EncodedColumn(column.name, tuple(column.labels.tolist()), is_label=is_label)
    counting = np.ones(1) if masses is None else masses
    total, mass = (column.values * counting).sum(), (0 * column.values + counting).sum()
    total, mass = compute(total, mass) if is_dask(column.values) else (total, mass)
    return EncodedColumn(column.name, shift=float(total / mass), is_label=is_label)
