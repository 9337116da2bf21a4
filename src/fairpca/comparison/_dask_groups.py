"""Group labels in a Dask table: counted in one pass, then numbers that stay where the rows are."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import IntArray
from fairpca.comparison._groups import MOST_GROUPS, Groups, check_group_sizes, smallest_codes
from fairpca.comparison._labels import as_labels, comparable, counted, missing
from fairpca.rows import compute, is_dask, is_dask_frame

LABELS_KEPT = 10 * MOST_GROUPS
"""Distinct labels of a part that are counted: enough to say that there are too many, also where several stand for one
group, as 1 and "1" do."""


def groups_beside(sensitive_features: Any, chunks: tuple[int, ...]) -> Groups:
    """Count, check and number labels of the rows of a Dask table.

    Parameters
    ----------
    sensitive_features : Dask series, array or one-column frame, or array-like of shape (n,)
        Labels, in the order of the rows.
    chunks : tuple of int
        Rows of each block that the codes shall have.
    """
    if is_dask(sensitive_features):
        return _of_parts(_label_parts(sensitive_features), chunks)
    groups = Groups.of(sensitive_features, sum(chunks))
    codes = require("dask.array", "dask").from_array(groups.codes, chunks=(chunks, (1,)))
    return Groups(groups.labels, groups.counts, codes)


def _of_parts(parts: list[Any], chunks: tuple[int, ...]) -> Groups:
    delayed = require("dask", "dask").delayed
    lengths, counters = zip(*compute(*map(delayed(counts_of_labels), parts)), strict=True)
    if sum(lengths) != sum(chunks):
        raise ValueError(f"sensitive_features has {sum(lengths)} entries but X has {sum(chunks)} rows.")
    found: Counter[Any] = sum(counters, Counter())
    if None in found:
        raise ValueError(
            f"sensitive_features has {found[None]} missing values; drop those rows or give them a group of their own."
        )
    distinct_labels = np.fromiter(found, dtype=object, count=len(found))
    labels, index = np.unique(comparable(distinct_labels), return_inverse=True)
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, index, list(found.values()))
    if len(found) >= LABELS_KEPT:
        raise ValueError(
            f"sensitive_features has {LABELS_KEPT} or more distinct labels; at most {MOST_GROUPS} groups can be "
            "compared. Merge some of them, for example one group against all others."
        )
    check_group_sizes(labels, counts, most=MOST_GROUPS)
    code = delayed(partial(codes_of_labels, code_of=dict(zip(found, index.tolist(), strict=True))))
    return Groups(labels, counts, _array_of_parts(map(code, parts), lengths).rechunk((chunks, (1,))))


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


def codes_of_labels(part: Any, code_of: dict[Hashable, int]) -> IntArray:
    """Return the numbers of groups, of shape (n_part, 1).

    Parameters
    ----------
    part : ndarray or pandas.Series of shape (n_part,)
        Labels.
    code_of : dict
        The number of each label; the same for several when labels of different kinds stand for one group.
    """
    labels = as_labels(part)
    codes = np.zeros((len(labels), 1), dtype=smallest_codes(1 + max(code_of.values())))
    for label, code in code_of.items():
        if code > 0:
            codes[labels == label] = code
    return codes


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
        [array.from_delayed(part, (length, 1), np.int8) for part, length in zip(parts, lengths, strict=True)]
    )
