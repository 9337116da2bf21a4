"""Group labels in a Dask table: counted in one pass, then codes 0 and 1 that stay where the rows are."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairpca._checks import check_group_sizes, check_two_groups, distinct
from fairpca._extras import require
from fairpca._labels import as_labels, comparable, counted, missing
from fairpca._typing import AnyArray, IntArray
from fairpca.rows._dask_blocks import compute
from fairpca.rows._dask_kind import is_dask, is_dask_frame

LABELS_KEPT = 100
"""Distinct labels of a part that are counted: enough to say that there are too many."""


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Which of two groups each row belongs to.

    Attributes
    ----------
    labels : ndarray of shape (2,)
        The two labels, sorted.
    counts : ndarray of shape (2,)
        Their rows.
    codes : dask.array.Array of shape (n,)
        0 for the first label, 1 for the second.
    """

    labels: AnyArray
    counts: IntArray
    codes: Any

    @classmethod
    def of(cls, sensitive_features: Any, chunks: tuple[int, ...]) -> "TwoGroups":
        """Count and check labels.

        Parameters
        ----------
        sensitive_features : Dask series, array or one-column frame, or array-like of shape (n,)
            Labels, in the order of the rows.
        chunks : tuple of int
            Rows of each block that the codes shall have.
        """
        if is_dask(sensitive_features):
            return cls._of_parts(_label_parts(sensitive_features), chunks)
        groups = check_two_groups(sensitive_features, sum(chunks))
        labels, counts = distinct(groups)
        codes = require("dask.array", "dask").from_array((groups == labels[1]).astype(np.int8), chunks=(chunks,))
        return cls(labels, counts, codes)

    @classmethod
    def _of_parts(cls, parts: list[Any], chunks: tuple[int, ...]) -> "TwoGroups":
        delayed = require("dask", "dask").delayed
        lengths, counters = zip(*compute(*map(delayed(counts_of_labels), parts)), strict=True)
        if sum(lengths) != sum(chunks):
            raise ValueError(f"sensitive_features has {sum(lengths)} entries but X has {sum(chunks)} rows.")
        found: Counter[Any] = sum(counters, Counter())
        if None in found:
            raise ValueError(
                f"sensitive_features has {found[None]} missing values; drop those rows or give them a group of their "
                "own."
            )
        distinct_labels = np.fromiter(found, dtype=object, count=len(found))
        labels, index = np.unique(comparable(distinct_labels), return_inverse=True)
        counts = np.zeros(len(labels), dtype=np.int64)
        np.add.at(counts, index, list(found.values()))
        check_group_sizes(labels, counts, n_groups=f"{LABELS_KEPT} or more" if len(found) >= LABELS_KEPT else None)
        second = [label for label, code in zip(found, index.tolist(), strict=True) if code == 1]
        code = delayed(partial(codes_of_labels, second=second))
        return cls(labels, counts, _array_of_parts(map(code, parts), lengths).rechunk((chunks,)))


def counts_of_labels(part: Any) -> tuple[int, "Counter[Any]"]:
    """Return the number of rows of a part, and how many there are of each label; None stands for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels of any kind.
    """
    labels = as_labels(part)
    absent = missing(labels)
    present = labels[~absent]
    if labels.dtype == object:
        found = counted(present.tolist())
    else:
        values, counts = np.unique(present, return_counts=True)
        # Dates stay numpy's: as plain numbers they would equal no entry of the part.
        names = values if labels.dtype.kind in "mM" else values.tolist()
        found = Counter(dict(zip(names, counts.tolist(), strict=True)))
    kept: Counter[Any] = Counter(dict(found.most_common(LABELS_KEPT)))
    if absent.any():
        kept[None] = int(absent.sum())
    return len(labels), kept


def codes_of_labels(part: Any, second: list[Hashable]) -> IntArray:
    """Return 1 for labels of the second group, else 0.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels.
    second : list
        The labels of the second group; several when labels of different kinds stand for it.
    """
    labels = as_labels(part)
    return np.any([labels == label for label in second], axis=0).astype(np.int8)


def parity_weights(codes: Any, counts: IntArray) -> Any:
    """Return the weights that compare two groups, see `fairpca.measures.demographic_parity`.

    Parameters
    ----------
    codes : dask.array.Array of shape (n,)
        0 or 1.
    counts : ndarray of shape (2,)
        How many there are of each.

    Returns
    -------
    weights : dask.array.Array of shape (n, 1)
        +1 / counts[0] or -1 / counts[1].
    """
    weight_of_code = np.array([[1.0 / counts[0]], [-1.0 / counts[1]]])
    return codes.map_blocks(
        partial(np.take, weight_of_code, axis=0), dtype=np.float64, new_axis=1, chunks=(codes.chunks[0], (1,))
    )


def _label_parts(sensitive_features: Any) -> list[Any]:
    """Return the delayed parts of one column of labels: arrays or series."""
    labels = sensitive_features
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[labels.columns[0]] if is_dask_frame(labels) else labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"sensitive_features has {labels.shape[1]} columns; it must be one column.")
    return list(np.ravel(labels.to_delayed()))


def _array_of_parts(parts: Iterable[Any], lengths: Iterable[int]) -> Any:
    array = require("dask.array", "dask")
    return array.concatenate(
        [array.from_delayed(part, (length,), np.int8) for part, length in zip(parts, lengths, strict=True)]
    )
