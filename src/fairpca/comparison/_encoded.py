"""Attributes and labels as numbers: an indicator for each group, the number itself where they are continuous."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison._columns import LabelColumn, NumberColumn, Reading
from fairpca.comparison._compare import read_attributes, read_either
from fairpca.comparison._terms import People, Terms
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
    terms = Terms.named(sensitive_kind=sensitive_kind)
    columns = [] if people.sensitive_features is None else read_attributes(people, rows, terms)
    n_attributes = len(columns)
    if people.y is not None:
        columns.append(read_either("y", people.y, rows, Reading("y", "auto")))
    masses = read_weights(people.sample_weight, rows, as_they_are=more_to_come)
    found = tuple(_encoded(column, masses, k == n_attributes) for k, column in enumerate(columns))
    return _attached(columns, masses, rows), Encoding(found)


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
