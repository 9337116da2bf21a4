"""Group labels in a Dask table: counted in one pass, then codes 0 and 1 that stay where the rows are."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairpca._checks import check_two_groups, distinct, is_missing
from fairpca._extras import require
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
        found = _checked(sum(counters, Counter()))
        # Few rows stand for all: the same checks, and the same sorting of labels of mixed kinds.
        few = np.repeat(_objects(found), [min(count, 2) for count in found.values()])
        labels, index = np.unique(check_two_groups(few, len(few)), return_inverse=True)
        code_of = dict(zip(few.tolist(), index.tolist(), strict=True))
        counts = np.zeros(2, dtype=np.int64)
        for label, count in found.items():
            counts[code_of[label]] += count
        code = delayed(partial(codes_of_labels, second=[label for label in found if code_of[label] == 1]))
        return cls(labels, counts, _array_of_parts(map(code, parts), lengths).rechunk((chunks,)))


def counts_of_labels(part: Any) -> tuple[int, "Counter[Any]"]:
    """Return the number of rows of a part, and how many there are of each label; None stands for missing ones.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels of any kind.
    """
    labels = _as_array(part)
    if labels.dtype == object:
        found = Counter(labels.tolist())
    else:
        values, counts = np.unique(labels, return_counts=True)
        found = Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
    counter: Counter[Any] = Counter()
    for label, count in found.items():
        # Two NaN are two labels to a dictionary.
        counter[None if is_missing(label) else label] += count
    return len(labels), Counter(dict(counter.most_common(LABELS_KEPT)))


def codes_of_labels(part: Any, second: list[Hashable]) -> IntArray:
    """Return 1 for labels of the second group, else 0.

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels.
    second : list
        The labels of the second group; several when labels of different kinds stand for it.
    """
    labels = _as_array(part)
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


def _as_array(part: Any) -> AnyArray:
    # Not Dask's own conversion: it turns labels of extension types into strings.
    return part.to_numpy() if hasattr(part, "to_numpy") else np.asarray(part)


def _checked(counter: "Counter[Any]") -> "Counter[Any]":
    if None in counter:
        raise ValueError(
            f"sensitive_features has {counter[None]} missing values; drop those rows or give them a group of their own."
        )
    if len({str(label) for label in counter}) > 2:
        found = f"{LABELS_KEPT} or more" if len(counter) >= LABELS_KEPT else str(len(counter))
        some = ", ".join(repr(label) for label in list(counter)[:5])
        raise ValueError(
            f"sensitive_features has {found} groups, {some}{', ...' if len(counter) > 5 else ''}; two can be compared. "
            "Merge them into two, for example one group against all others."
        )
    return counter


def _objects(labels: "Counter[Any]") -> AnyArray:
    array = np.empty(len(labels), dtype=object)
    array[:] = list(labels)
    return array
