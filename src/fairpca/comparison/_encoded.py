"""Attributes and labels as numbers: an indicator for each group, the number itself where they are continuous."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison._columns import LabelColumn, NumberColumn, Reading, read_column
from fairpca.comparison._dask_columns import read_column_beside
from fairpca.comparison._terms import KINDS, People, Terms, columns_of
from fairpca.comparison._weights import MASS, read_weights
from fairpca.rows import compute, is_dask


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
        """Numbers of a row."""
        return sum(column.width for column in self.columns)

    def of(self, attached: AnyArray) -> FloatArray:
        """Return the numbers of rows, each times the mass of its row, of shape (n, width).

        Parameters
        ----------
        attached : ndarray of shape (n, k)
            What is attached to the rows.
        """
        found = [np.empty((len(attached), 0))]
        for position, column in enumerate(self.columns, start=MASS + 1):
            values = attached[:, position, None]
            found.append(values == np.arange(len(column.groups)) if column.groups else values - column.shift)
        numbers: FloatArray = np.hstack(found) * attached[:, MASS, None]
        return numbers


def encoded(
    people: People, rows: int | tuple[int, ...], sensitive_kind: Any = "auto", *, more_to_come: bool = False
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
    named = [] if people.sensitive_features is None else columns_of(people.sensitive_features, "sensitive_features")
    names = [name for name, _ in named]
    readings = [
        Reading(f"sensitive_features[{name!r}]" if len(named) > 1 else "sensitive_features", kind)
        for name, kind in zip(names, Terms.named(sensitive_kind=sensitive_kind).kinds_of(names), strict=True)
    ]
    columns = [_read(*column, rows, reading) for column, reading in zip(named, readings, strict=True)]
    if people.y is not None:
        columns.append(_read("y", people.y, rows, Reading("y", KINDS[0])))
    masses = read_weights(people.sample_weight, rows, as_they_are=more_to_come)
    found = tuple(_encoded(column, masses, k == len(named)) for k, column in enumerate(columns))
    return _attached(columns, masses, rows), Encoding(found)


def _read(name: str, values: Any, rows: int | tuple[int, ...], reading: Reading) -> LabelColumn | NumberColumn:
    if isinstance(rows, int):
        return read_column(name, values, rows, reading)
    return read_column_beside(name, values, rows, reading)


def _encoded(column: LabelColumn | NumberColumn, masses: Any, is_label: bool) -> EncodedColumn:
    if isinstance(column, LabelColumn):
        return EncodedColumn(column.name, tuple(column.labels.tolist()), is_label=is_label)
    counting = np.ones(1) if masses is None else masses
    total, mass = (column.values * counting).sum(), (0 * column.values + counting).sum()
    total, mass = compute(total, mass) if is_dask(column.values) else (total, mass)
    return EncodedColumn(column.name, shift=float(total / mass), is_label=is_label)


def _attached(columns: Sequence[LabelColumn | NumberColumn], masses: Any, rows: int | tuple[int, ...]) -> Any:
    lazy = not isinstance(rows, int)
    array = require("dask.array", "dask") if lazy else np
    size = {"chunks": (rows, (1,))} if lazy else {}
    n_rows = sum(rows) if isinstance(rows, tuple) else rows
    ones = array.ones((n_rows, 1), **size)
    values = [column.codes if isinstance(column, LabelColumn) else column.values for column in columns]
    attached = array.concatenate([0 * ones, ones if masses is None else masses, *values], axis=1)
    return attached.rechunk({1: -1}) if lazy else attached.astype(np.float64, copy=False)
