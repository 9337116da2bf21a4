"""Group labels of any kind and container, as one array that can be compared and sorted."""
# SPDX-License-Identifier: MIT

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray

_ALLOWED = (
    "must hold one label for each row: a list, a numpy, pyarrow or Dask array, a pandas, polars or Dask series, or a "
    "frame of such columns"
)
_SINGLE = "each label must be one string, number, boolean or date."


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
    try:
        labels = _as_array(values)
    except ValueError as error:
        raise ValueError(f"{argument} {_ALLOWED}; its entries have different lengths.") from error
    if labels.ndim == 0:
        name = f"the string {values!r}: pass the column, not its name" if isinstance(values, str) else _kind(values)
        raise TypeError(f"{argument} {_ALLOWED}; got {name}.")
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


def _as_array(values: Any) -> AnyArray:
    if np.ma.isMaskedArray(values):
        values = np.where(np.ma.getmaskarray(values), np.array(None), values.data)
    elif _is_pyarrow_array(values):
        values = values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    labels = np.asarray(values)
    if labels.dtype.kind == "U" and isinstance(values, Sequence):
        # A list that mixes strings with None or nan would come out as strings.
        labels = np.asarray(values, dtype=object)
    return labels


def _is_pyarrow_array(values: Any) -> bool:
    return "pyarrow" in sys.modules and isinstance(values, sys.modules["pyarrow"].Array)


def _kind(values: Any) -> str:
    return f"an object of type {type(values).__name__}"


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
        return np.array([_name(label) for label in labels], dtype=str)
    return np.fromiter(labels, dtype=object, count=len(labels))


def _name(label: Any) -> str:
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)
