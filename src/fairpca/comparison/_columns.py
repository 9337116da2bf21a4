"""Columns of labels and of numbers, in memory: read from any container, checked, counted and coded."""
# SPDX-License-Identifier: MIT

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison._errors import ErrorRates

_ALLOWED = (
    "must hold one label for each row: a list, a numpy, pyarrow or Dask array, a pandas, polars or Dask series, or a "
    "frame of such columns"
)

_SINGLE = "each label must be one string, number, boolean or date."

MOST_GROUPS = 100
"""Values of a column that can be compared as groups; more are a continuous attribute, or names of people."""

MOST_CELLS = 10_000
"""Combinations of labels at most: of more than that most have too few rows to be compared."""

FEW_VALUES = 20
"""Distinct numbers up to which a column counts as groups unless it is said to be continuous."""

ABSENT = "missing"
"""Label of the group of rows without one."""


def as_labels(values: Any, argument: str = "sensitive_features") -> AnyArray:
    """Return one column of labels as an array; missing ones stay what they are.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, 1)
        What a user passed.
    argument : str, default="sensitive_features"
        Its name, for messages.
    """
    labels = as_array(values, argument)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"{argument} has shape {labels.shape}; it must be one column.")
    if labels.dtype.kind in "cV":
        raise TypeError(f"{argument} has labels of type {labels.dtype}; {_SINGLE}")
    return labels


def as_array(values: Any, argument: str) -> AnyArray:
    """Return labels in an array of one or two dimensions.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k)
        What a user passed.
    argument : str
        Its name, for messages.
    """
    if np.ma.isMaskedArray(values):
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    elif "pyarrow" in sys.modules and isinstance(values, sys.modules["pyarrow"].Array):
        values = values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    try:
        labels = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{argument} {_ALLOWED}; its entries have different lengths.") from error
    if labels.ndim == 0:
        kind = f"an object of type {type(values).__name__}"
        got = f"the string {values!r}: pass the column, not its name" if isinstance(values, str) else kind
        raise TypeError(f"{argument} {_ALLOWED}; got {got}.")
    if labels.dtype.kind == "U" and isinstance(values, Sequence):
        # A list that mixes strings with None or nan would come out as strings.
        labels = np.asarray(values, dtype=object)
    return labels


def comparable(labels: AnyArray, argument: str = "sensitive_features") -> AnyArray:
    """Return labels that can be sorted, none of them missing.

    Equal labels stay equal, whatever their types: 1, 1.0 and True are one group. Labels of kinds that have no order
    among them, such as numbers and strings, become strings.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    if labels.dtype != object:
        return labels
    values = labels.tolist()
    number = {label: position for position, label in enumerate(counted(values, argument))}
    return _sortable(list(number), argument)[[number[label] for label in values]]


def counted(values: Iterable[Any], argument: str = "sensitive_features") -> "Counter[Any]":
    """Return how often each label occurs.

    Parameters
    ----------
    values : iterable
        Labels.
    argument : str, default="sensitive_features"
        Their name, for messages.
    """
    try:
        return Counter(values)
    except TypeError as error:
        raise TypeError(f"{argument} has labels that cannot be hashed; {_SINGLE}") from error


def missing(labels: AnyArray) -> BoolArray:
    """Return which labels stand for none.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    """
    if labels.dtype.kind in "biuUS":
        return np.zeros(len(labels), dtype=bool)
    if labels.dtype.kind == "f":
        return np.isnan(labels)
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    return np.fromiter(map(is_missing, labels.tolist()), dtype=bool, count=len(labels))


def is_missing(label: Any) -> bool:
    """Tell whether a label stands for none: None, nan, pandas.NA or NaT."""
    # pandas.NA and NaT refuse to be compared like numbers; they are known by their type's name.
    return label is None or type(label).__name__ in {"NAType", "NaTType"} or bool(label != label)


def are_numbers(labels: AnyArray) -> bool:
    """Tell whether labels, none of them missing, are numbers that can be far from or near each other.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    """
    if labels.dtype == object:
        return all(isinstance(label, Real) and not isinstance(label, bool | np.bool_) for label in labels.tolist())
    return labels.dtype.kind in "iuf"


def _sortable(labels: list[Any], argument: str) -> AnyArray:
    """Return distinct labels as an array whose entries have an order."""
    if any(isinstance(label, Collection) and not isinstance(label, str | bytes) for label in labels):
        raise TypeError(f"{argument} has labels that are collections, such as {labels[0]!r}; {_SINGLE}")
    if all(isinstance(label, Real | np.bool_) for label in labels):
        numbers = np.array(labels)
        # Integers beyond 2^53 beside floats would lose the digits in which they differ.
        if len(set(numbers.tolist())) == len(labels):
            return numbers
    if all(isinstance(label, str) for label in labels):
        return np.array(labels, dtype=str)
    try:
        sorted(labels)
    except TypeError:
        whole = (int(label) if isinstance(label, float) and label.is_integer() else label for label in labels)
        return np.array([str(label) for label in whole], dtype=str)
    return np.fromiter(labels, dtype=object, count=len(labels))


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
    is_attribute : bool
        Whether it is a protected attribute; `missing` is an option for these alone.
    """

    argument: str
    kind: str = "groups"
    missing: str = "refuse"
    is_attribute: bool = False

    def is_continuous(self, n_values: int, numeric: bool) -> bool:
        """Decide whether values are numbers, given how many distinct ones there are and whether they could be."""
        if self.kind == "continuous" and not numeric:
            raise TypeError(
                f'{self.argument} is said to be "continuous", but holds labels that are not numbers. Codes, such '
                "as zip codes, have no distance: merge them into groups. Texts of amounts take astype(float)."
            )
        return self.kind == "continuous" or (self.kind == "auto" and numeric and n_values > FEW_VALUES)

    def check_present(self, n_absent: int, first: int | None = None) -> None:
        """Refuse missing values unless they are provided for."""
        if n_absent and self.missing == "refuse":
            where = "" if first is None else f", the first in row {first}"
            options = (
                'use missing="group" for a group of their own or missing="leave" to leave them out of the comparison'
                if self.is_attribute
                else "give them a label of their own"
            )
            values = "value" if n_absent == 1 else "values"
            raise ValueError(f"{self.argument} has {n_absent} missing {values}{where}; drop those rows, or {options}.")

    def check_length(self, n_entries: int, n_rows: int) -> None:
        """Refuse a column that is not as long as the table."""
        if n_entries != n_rows:
            raise ValueError(f"{self.argument} has {n_entries} entries but X has {n_rows} rows.")

    def check_groups(self, labels: AnyArray, counts: AnyArray) -> None:
        """Refuse more values than can be compared as groups, and names that differ only by blanks around them."""
        by_name: dict[str, str] = {}
        for label in (label for label in labels.tolist() if isinstance(label, str)):
            other = by_name.setdefault(label.strip(), label)
            if other != label:
                raise ValueError(
                    f"{self.argument} has groups whose names differ only by blanks, {other!r} and {label!r}; strip "
                    "them, or rename one."
                )
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
    errors : ErrorRates or None, default=None
        How often labels are wrong.
    """

    name: str
    labels: AnyArray
    counts: IntArray
    codes: Any
    errors: ErrorRates | None = None


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
        return NumberColumn(name, as_numbers(present, absent, reading.argument))
    reading.check_groups(values_found, counts)
    codes = np.full(n_rows, -1, dtype=smallest_codes(len(values_found) + 1))
    # Of two groups, the usual case, without a search.
    codes[~absent] = present == values_found[1] if len(values_found) == 2 else np.searchsorted(values_found, present)
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


def as_numbers(present: AnyArray, absent: BoolArray, argument: str) -> FloatArray:
    """Return numbers, none of them infinite, of shape (n, 1); NaN for absent ones."""
    values = np.full((len(absent), 1), np.nan)
    values[~absent, 0] = present.astype(np.float64)
    if np.isinf(values).any():
        raise ValueError(f"{argument} has infinite numbers; missing ones are NaN or None.")
    return values


def listed(groups: AnyArray, counts: AnyArray, most: int = 5) -> str:
    """Return the largest groups with their rows, in words.

    Parameters
    ----------
    groups : ndarray of shape (n_groups,)
        The distinct labels.
    counts : ndarray of shape (n_groups,)
        Their rows.
    most : int, default=5
        Groups that are named.
    """
    order = np.argsort(-counts, kind="stable")[:most]
    names = [f"{groups[[k]].tolist()[0]!r} ({counts[k]} {'row' if counts[k] == 1 else 'rows'})" for k in order]
    return ", ".join([*names, "..."] if len(groups) > most else names)


def distinct(labels: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the distinct labels in order and how often each occurs.

    Two numbers, the usual case, are found without sorting: millions of labels take a fraction of the time and memory.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels that can be compared.
    """
    if labels.dtype.kind in "biuf" and len(labels):
        low, high = labels.min(), labels.max()
        n_low, n_high = int(np.count_nonzero(labels == low)), int(np.count_nonzero(labels == high))
        if low != high and n_low + n_high == len(labels):
            return np.array([low, high]), np.array([n_low, n_high])
    return np.unique(labels, return_counts=True)
