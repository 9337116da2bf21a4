"""Columns of labels and of numbers, in memory: checked, counted and coded."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.comparison._labels import are_numbers, as_labels, comparable, missing
from fairpca.comparison._two_groups import distinct, listed

MOST_GROUPS = 100
"""Values of a column that can be compared as groups; more are a continuous attribute, or names of people."""

FEW_VALUES = 20
"""Distinct numbers up to which a column counts as groups unless it is said to be continuous."""

ABSENT = "missing"
"""Label of the group of rows without one."""


@dataclass(frozen=True)
class Reading:
    """How a column is to be read.

    Attributes
    ----------
    argument : str
        What the user passed it as, for messages, with its name where it has one.
    kind : {"auto", "groups", "continuous"}
        Whether its values are labels of groups or numbers.
    missing : {"refuse", "group", "leave"}
        What becomes of rows without a value.
    """

    argument: str
    kind: str = "groups"
    missing: str = "refuse"

    def is_continuous(self, n_values: int, numeric: bool) -> bool:
        """Decide whether values are numbers, given how many distinct ones there are and whether they could be."""
        if self.kind == "continuous" and not numeric:
            raise TypeError(f'{self.argument} is said to be "continuous", but holds labels that are not numbers.')
        return self.kind == "continuous" or (self.kind == "auto" and numeric and n_values > FEW_VALUES)

    def check_present(self, n_absent: int, first: int | None = None) -> None:
        """Refuse missing values unless they are provided for."""
        if n_absent and self.missing == "refuse":
            where = "" if first is None else f", the first in row {first}"
            raise ValueError(
                f'{self.argument} has {n_absent} missing values{where}; drop those rows, or use missing="group" for a '
                'group of their own or missing="leave" to leave them out of the comparison.'
            )

    def check_length(self, n_entries: int, n_rows: int) -> None:
        """Refuse a column that is not as long as the table."""
        if n_entries != n_rows:
            raise ValueError(f"{self.argument} has {n_entries} entries but X has {n_rows} rows.")

    def check_groups(self, labels: AnyArray, counts: AnyArray) -> None:
        """Refuse more values than can be compared as groups."""
        if len(labels) > MOST_GROUPS:
            raise ValueError(
                f"{self.argument} has {len(labels)} groups, {listed(labels, counts)}; at most {MOST_GROUPS} can be "
                'compared. Merge some of them, or use sensitive_kind="continuous" if they are numbers.'
            )


@dataclass(frozen=True, eq=False)
class LabelColumn:
    """Which of some labels each row has.

    Attributes
    ----------
    name : str
        Name of the column, or empty.
    labels : ndarray of shape (n_labels,)
        The distinct labels, in order; that of missing ones, where they are a group, last.
    counts : ndarray of shape (n_labels,)
        Their rows.
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The number of the label of each row; -1 where it has none.
    """

    name: str
    labels: AnyArray
    counts: IntArray
    codes: Any


@dataclass(frozen=True, eq=False)
class NumberColumn:
    """A number for each row.

    Attributes
    ----------
    name : str
        Name of the column, or empty.
    values : ndarray, or dask.array.Array, of shape (n, 1)
        float64; NaN where there is none.
    """

    name: str
    values: Any


def read_column(name: str, values: Any, n_rows: int, reading: Reading) -> LabelColumn | NumberColumn:
    """Check and code a column in memory.

    Parameters
    ----------
    name : str
        Its name.
    values : array-like of shape (n_rows,)
        Its entries.
    n_rows : int
        Rows that it must have.
    reading : Reading
        How it is to be read.
    """
    labels = as_labels(values, reading.argument)
    reading.check_length(len(labels), n_rows)
    absent = missing(labels)
    reading.check_present(int(absent.sum()), int(absent.argmax()))
    present = comparable(labels[~absent] if absent.any() else labels, reading.argument)
    values_found, counts = distinct(present)
    if reading.is_continuous(len(values_found), are_numbers(values_found)):
        return NumberColumn(name, _numbers(present, absent, reading.argument))
    reading.check_groups(values_found, counts)
    codes = np.full(n_rows, -1, dtype=smallest_codes(len(values_found) + 1))
    codes[~absent] = _codes(present, values_found)
    if absent.any() and reading.missing == "group":
        codes[absent] = len(values_found)
        values_found, counts = with_absent(values_found, counts, int(absent.sum()))
    return LabelColumn(name, values_found, counts, codes[:, None])


def smallest_codes(n_codes: int) -> "np.dtype[Any]":
    """Return the smallest type for as many codes, and -1."""
    return np.dtype(np.int8 if n_codes <= 127 else np.int32)


def with_absent(labels: AnyArray, counts: IntArray, n_absent: int) -> tuple[AnyArray, IntArray]:
    """Return labels and their rows, with those of missing ones as a group at the end."""
    named = np.array([*labels.tolist(), ABSENT], dtype=object)
    return named, np.append(counts, n_absent)


def check_finite_numbers(values: AnyArray, argument: str) -> None:
    """Refuse infinite numbers."""
    if np.isinf(values).any():
        raise ValueError(f"{argument} has infinite numbers; missing ones are NaN or None.")


def _codes(present: AnyArray, labels: AnyArray) -> AnyArray:
    if len(labels) == 2:
        return present == labels[1]
    return np.searchsorted(labels, present)


def _numbers(present: AnyArray, absent: AnyArray, argument: str) -> AnyArray:
    values = np.full(len(absent), np.nan)
    values[~absent] = present.astype(np.float64)
    check_finite_numbers(values, argument)
    return values[:, None]
