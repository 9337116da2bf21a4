"""What is refused of a comparison before any work: tolerances, rows in another order, more than two groups."""
# SPDX-License-Identifier: MIT

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import warn_user
from fairpca.comparison._columns import Reading, as_labels, comparable, distinct, listed, missing
from fairpca.exceptions import RowLabelsWarning
from fairpca.rows import compute, is_dask, is_dask_frame, is_dask_series

_MEANING = "the largest MMD^2 that is allowed"

AUTO = "auto"

LARGEST_MMD2 = 2.0
"""The largest MMD^2 there is: a tolerance that any measure meets, where none is asked for."""


def check_auto(tolerance: str) -> None:
    """Refuse a word that is no tolerance.

    Parameters
    ----------
    tolerance : str
        What the user passed.
    """
    if tolerance != AUTO:
        raise ValueError(f"tolerance={tolerance!r} must be {AUTO!r}, or a number, {_MEANING}.")


def check_tolerances(
    tolerance: Any, names: Sequence[str] | None = None, attributes: Sequence[str] | None = None
) -> FloatArray:
    """Return the largest MMD^2 allowed, one number or one for each measure, all >= 0.

    Parameters
    ----------
    tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
        What the user passed.
    names : sequence of str, default=None
        What each measure compares, where that is known.
    attributes : sequence of str, default=None
        The attribute of each measure, where that is known.
    """
    if isinstance(tolerance, Mapping):
        return _by_attribute(tolerance, attributes)
    if np.ndim(tolerance) == 0:
        return np.array(check_at_least_zero("tolerance", tolerance, _MEANING))
    listed = list(tolerance)
    if names is None:
        names = [f"measure {number}" for number in range(len(listed))]
    if len(listed) != len(names):
        raise ValueError(
            f"tolerance has {len(listed)} numbers, but there are {len(names)} measures: {', '.join(names)}. Give one "
            "number for all, or one for each."
        )
    pairs = zip(listed, names, strict=True)
    return np.array([check_at_least_zero(f"tolerance of {name!r}", value, _MEANING) for value, name in pairs])


def _by_attribute(tolerance: Mapping[Any, Any], attributes: Sequence[str] | None) -> FloatArray:
    values = {
        str(name): check_at_least_zero(f"tolerance of {str(name)!r}", value, _MEANING)
        for name, value in tolerance.items()
    }
    if attributes is None:
        return np.array(list(values.values()))
    known = list(dict.fromkeys(attributes))
    if known == [""]:
        raise ValueError(
            f"tolerance names the attributes {', '.join(map(repr, values))}, but sensitive_features has no name. Give "
            "one number, or pass a frame or a dict whose column is called so."
        )
    if sorted(known) != sorted(values):
        raise ValueError(
            f"tolerance names the attributes {', '.join(map(repr, values))}, but those compared are "
            f"{', '.join(map(repr, known))}. Give a number for each, or one number for all."
        )
    return np.array([values[attribute] for attribute in attributes])


def check_same_rows(X: Any, tables: Mapping[str, Any]) -> None:
    """Refuse tables whose rows have the labels of those of `X` in another order, and warn where the labels differ.

    Rows are always matched by position. Tables without labels of rows (the index of pandas and Dask frames and series)
    pass, and so do tables of different lengths, which are refused elsewhere.

    Parameters
    ----------
    X : object
        Rows, as the user passed them.
    tables : mapping of str to object
        What else is known of the rows, as the user passed it, by the name of the argument.
    """
    index = _index(X)
    others = {argument: _index(table) for argument, table in tables.items()}
    others = {argument: other for argument, other in others.items() if other is not None}
    if index is None or not others:
        return
    if any(map(is_dask, [index, *others.values()])):
        own, *digests = _digests([index, *others.values()])
        for argument, digest in zip(others, digests, strict=True):
            _judge(argument, own.n_rows == digest.n_rows, own == digest, own.bag == digest.bag)
        return
    for argument, other in others.items():
        same = index.equals(other)
        reordered = not same and Counter(index.tolist()) == Counter(other.tolist())
        _judge(argument, len(index) == len(other), same, reordered)


def _judge(argument: str, as_long: bool, same: bool, reordered: bool) -> None:
    if not as_long or same:
        return
    if reordered:
        raise ValueError(
            f"{argument} has the row labels of X in another order, and rows are matched by position: bring them into "
            f"one order, for example by {argument}.loc[X.index], or pass {argument}.to_numpy() if the order is right "
            "and the labels are not."
        )
    warn_user(
        f"{argument} and X have different row labels; rows were matched by position. Give both the same index, or pass "
        f"{argument}.to_numpy() if the positions are right.",
        RowLabelsWarning,
    )


@dataclass(frozen=True)
class IndexDigest:
    """A few numbers by which it is known whether two indices hold the same labels, and whether in the same order.

    A sum is the digest of the first index followed by the second.

    Attributes
    ----------
    n_rows : int
        Length.
    bag : int
        Sum of the labels' hashes modulo 2^64, which no order changes.
    sequence : int
        sum_i i hash_i modulo 2^64, which other orders change.
    """

    n_rows: int
    bag: int
    sequence: int

    def __add__(self, other: "IndexDigest") -> "IndexDigest":
        return IndexDigest(
            self.n_rows + other.n_rows,
            (self.bag + other.bag) % 2**64,
            (self.sequence + other.sequence + self.n_rows * other.bag) % 2**64,
        )


def digest_of_index(index: Any) -> IndexDigest:
    """Return the digest of an index in memory.

    Parameters
    ----------
    index : pandas.Index of length n
        Labels of rows.
    """
    hashes = require("pandas", "frame").util.hash_pandas_object(index).to_numpy()
    positions = np.arange(len(hashes), dtype=np.uint64)
    return IndexDigest(len(hashes), int(hashes.sum(dtype=np.uint64)), int((hashes * positions).sum(dtype=np.uint64)))


def _digests(indices: list[Any]) -> list[IndexDigest]:
    """Return the digests of indices of which some are Dask's, in one pass over what they come from."""
    delayed = require("dask", "dask").delayed(digest_of_index)
    parts = [[delayed(part) for part in _parts(index)] for index in indices]
    found = iter(compute(*chain.from_iterable(parts)))
    return [reduce(add, [next(found) for _ in each]) for each in parts]


def _parts(index: Any) -> list[Any]:
    return list(index.to_delayed()) if is_dask(index) else [index]


def _index(table: Any) -> Any:
    """Return the labels of the rows, or None where a table has none."""
    if is_dask_frame(table) or is_dask_series(table):
        return table.index
    pandas = sys.modules.get("pandas")
    return table.index if pandas and isinstance(table, pandas.DataFrame | pandas.Series) else None


def check_two_groups(sensitive_features: Any, n_samples: int) -> AnyArray:
    """Return group labels as a 1-d array with exactly two distinct values, each on at least two rows, none missing.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_samples,) or (n_samples, 1)
        Strings, booleans, numbers, dates; a list, a numpy or pyarrow array, a pandas or polars Series or a frame of one
        column.
    n_samples : int
        Number of rows it must have.
    """
    labels, reading = as_labels(sensitive_features), Reading("sensitive_features")
    reading.check_length(len(labels), n_samples)
    absent = missing(labels)
    reading.check_present(int(absent.sum()), int(absent.argmax()))
    labels = comparable(labels)
    groups, counts = distinct(labels)
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
    return labels
