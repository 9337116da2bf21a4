"""Whether rows and groups that carry labels of rows come in the same order."""
# SPDX-License-Identifier: MIT

import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.warn import warn_user
from fairpca.exceptions import RowLabelsWarning
from fairpca.rows import compute, is_dask, is_dask_frame, is_dask_series

_BASE = 0x9E3779B97F4A7C15
_WORD = 2**64


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
    """A few numbers that tell whether two indices hold the same labels, and whether in the same order.

    A sum is the digest of the first index followed by the second.

    Attributes
    ----------
    n_rows : int
        Length.
    bag : int
        Sum of the labels' hashes modulo 2^64, which no order changes.
    sequence : int
        sum_i hash_i b^i modulo 2^64, b odd, which other orders change.
    """

    n_rows: int
    bag: int
    sequence: int

    def __add__(self, other: "IndexDigest") -> "IndexDigest":
        return IndexDigest(
            self.n_rows + other.n_rows,
            (self.bag + other.bag) % _WORD,
            (self.sequence + pow(_BASE, self.n_rows, _WORD) * other.sequence) % _WORD,
        )


def digest_of_index(index: Any) -> IndexDigest:
    """Return the digest of an index in memory.

    Parameters
    ----------
    index : pandas.Index of length n
        Labels of rows.
    """
    hashes = require("pandas", "frame").util.hash_pandas_object(index).to_numpy()
    powers = np.full(len(hashes), _BASE, dtype=np.uint64)
    powers[:1] = 1
    powers = np.multiply.accumulate(powers)
    return IndexDigest(len(hashes), int(hashes.sum(dtype=np.uint64)), int((hashes * powers).sum(dtype=np.uint64)))


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
