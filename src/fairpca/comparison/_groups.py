"""Groups of rows: checked, counted and numbered."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.comparison._labels import as_labels, comparable, missing

LISTED = 5
"""Groups that are named when there are too many."""

MOST_GROUPS = 100
"""Groups that can be compared; more are a continuous attribute, or names of people."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Which group each row belongs to.

    Attributes
    ----------
    labels : ndarray of shape (n_groups,)
        The distinct labels, sorted.
    counts : ndarray of shape (n_groups,)
        Their rows.
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The number of the group of each row.
    """

    labels: AnyArray
    counts: IntArray
    codes: Any

    @classmethod
    def of(cls, sensitive_features: Any, n_samples: int) -> "Groups":
        """Check and number labels in memory.

        Parameters
        ----------
        sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
            Labels.
        n_samples : int
            Number of rows they must have.
        """
        values = check_labels(sensitive_features, n_samples)
        labels, counts = distinct(values)
        check_group_sizes(labels, counts, most=MOST_GROUPS)
        dtype = smallest_codes(len(labels))
        if len(labels) == 2:
            return cls(labels, counts, (values == labels[1]).astype(dtype)[:, None])
        return cls(labels, counts, np.searchsorted(labels, values).astype(dtype)[:, None])


def smallest_codes(n_strata: int) -> "np.dtype[Any]":
    """Return the smallest type for the numbers of strata, and -1."""
    return np.dtype(np.int8 if n_strata <= 127 else np.int32)


def check_labels(sensitive_features: Any, n_samples: int) -> AnyArray:
    """Return group labels as a 1-d array that can be sorted, none of them missing.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
        Strings, booleans, numbers, dates; a list, a numpy or pyarrow array, a pandas or polars Series or a frame of one
        column.
    n_samples : int
        Number of rows it must have.
    """
    labels = as_labels(sensitive_features)
    if len(labels) != n_samples:
        raise ValueError(f"sensitive_features has {len(labels)} entries but X has {n_samples} rows.")
    absent = missing(labels)
    if absent.any():
        raise ValueError(
            f"sensitive_features has {int(absent.sum())} missing values, the first in row "
            f"{int(absent.argmax())}; drop those rows or give them a group of their own."
        )
    return comparable(labels)


def check_two_groups(sensitive_features: Any, n_samples: int) -> AnyArray:
    """Return group labels as a 1-d array with exactly two distinct values, each on at least two rows.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
        See `check_labels`.
    n_samples : int
        Number of rows it must have.
    """
    labels = check_labels(sensitive_features, n_samples)
    check_group_sizes(*distinct(labels), most=2)
    return labels


def check_group_sizes(groups: AnyArray, counts: AnyArray, *, most: int) -> None:
    """Refuse a single group, too many, and groups of one row.

    Parameters
    ----------
    groups : ndarray of shape (n_groups,)
        The distinct labels.
    counts : ndarray of shape (n_groups,)
        Their rows.
    most : int
        How many there may be.
    """
    if len(groups) == 1:
        raise ValueError(f"sensitive_features has one group only, {groups.tolist()[0]!r}; two are needed to compare.")
    if len(groups) > most:
        raise ValueError(
            f"sensitive_features has {len(groups)} groups, {_listed(groups, counts)}; "
            f"{'two' if most == 2 else f'at most {most}'} can be compared. Merge some of them, for example one group "
            "against all others."
        )
    if counts.min() < 2:
        raise ValueError(
            f"sensitive_features has {int(counts.min())} row in group {groups.tolist()[counts.argmin()]!r}; "
            "each group needs at least 2."
        )


def _listed(groups: AnyArray, counts: AnyArray) -> str:
    """Return the largest groups with their rows, in words."""
    order = np.argsort(-counts, kind="stable")[:LISTED]
    names = [f"{groups[[k]].tolist()[0]!r} ({counts[k]} {'row' if counts[k] == 1 else 'rows'})" for k in order]
    return ", ".join([*names, "..."] if len(groups) > LISTED else names)


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
