"""Labels of exactly two groups, for what compares no more."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.comparison._labels import as_labels, comparable, missing

LISTED = 5
"""Groups that are named when there are too many."""


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
    _check_group_sizes(*distinct(labels))
    return labels


def _check_group_sizes(groups: AnyArray, counts: AnyArray) -> None:
    """Refuse a single group, more than two, and groups of one row."""
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


def listed(groups: AnyArray, counts: AnyArray) -> str:
    """Return the largest groups with their rows, in words.

    Parameters
    ----------
    groups : ndarray of shape (n_groups,)
        The distinct labels.
    counts : ndarray of shape (n_groups,)
        Their rows.
    """
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
