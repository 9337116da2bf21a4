"""What an algorithm that is linear in the rows may ask of them: sums over blocks, stratified samples."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray

PILOT_ROWS = 4096
"""Rows of a pilot sample: enough to see how a table is spread, and few enough to compare all pairs in milliseconds."""


def sum_of_block(X: AnyArray, attached: AnyArray) -> FloatArray:
    """Return the sum of the rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    """
    return X.sum(axis=0, dtype=np.float64)


def strata_of(attached: AnyArray) -> IntArray:
    """Return the stratum of each row, the first number attached to it; negative where it is in none.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    """
    codes = attached[:, 0]
    return codes if codes.dtype.kind == "i" else codes.astype(np.intp)


@dataclass(frozen=True, eq=False)
class StratifiedDraw:
    """Random rows of a table, every stratum with a fair share.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        Row numbers, increasing.
    strata : ndarray of shape (k,)
        The stratum of each.
    counts : ndarray of shape (n_strata,)
        Rows of each stratum in the table.
    """

    indices: IntArray
    strata: IntArray
    counts: IntArray

    @classmethod
    def of(cls, indices: IntArray, strata: IntArray, counts: IntArray) -> "StratifiedDraw":
        """Describe a draw.

        Parameters
        ----------
        indices, strata : ndarray of shape (k,)
            Rows, in any order, and the stratum of each.
        counts : ndarray of shape (n_strata,)
            Rows of each stratum in the table.
        """
        order = np.argsort(indices)
        return cls(indices[order], strata[order], counts)

    @property
    def drawn(self) -> IntArray:
        """Rows of each stratum in the draw."""
        return np.bincount(self.strata, minlength=len(self.counts))


def stratified_parts(strata: IntArray, n_parts: int, are_split: BoolArray) -> list[IntArray]:
    """Return the rows of each of some parts, every part with its share of every stratum.

    Parameters
    ----------
    strata : ndarray of shape (k,)
        Number of the stratum of each row; the rows are in random order.
    n_parts : int
        Number of parts.
    are_split : ndarray of bool of shape (n_strata,)
        Whether the rows of a stratum are split; otherwise every part has all of them.
    """
    by_stratum = [np.flatnonzero(strata == s) for s in range(len(are_split))]
    return [
        np.concatenate(
            [rows[part::n_parts] if is_split else rows for rows, is_split in zip(by_stratum, are_split, strict=True)]
        )
        for part in range(n_parts)
    ]


def shares(counts: IntArray, size: int) -> IntArray:
    """Return how many rows to draw from each stratum: half of the sample is shared equally, half by size.

    Parameters
    ----------
    counts : ndarray of shape (n_strata,)
        Rows of each stratum.
    size : int
        Rows to draw in all.

    Examples
    --------
    >>> shares(np.array([10, 990]), 100)
    array([10, 75])
    """
    equal = size / (2 * max(1, int(np.count_nonzero(counts))))
    proportional = size / 2 * counts / max(1, int(counts.sum()))
    return np.asarray(np.minimum(counts, np.ceil(equal + proportional)).astype(np.int64))


class Addable(Protocol):
    """Anything with a sum."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, eq=False)
class FieldSums:
    """What blocks give whose sum has the sums of their fields."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


Partial = TypeVar("Partial", bound=Addable)

Transform = Callable[[AnyArray], AnyArray]
"""From some rows to as many others."""


class Rows(Protocol):
    """A table of n rows and p columns, with k numbers attached to each row, of which only sums over blocks are seen.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    """

    n_rows: int
    n_columns: int

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over the blocks of ``function(X_block, attached_block, *arguments)``.

        The blocks are consecutive rows, of the dtype that the table has. The order of the additions is fixed, so that
        the same table and blocks give the same bits. Function and arguments may travel to other processes.

        Parameters
        ----------
        function : callable
            A function at the top of a module: takes arrays of shape (n_block, p) and (n_block, k), returns something
            that can be added.
        *arguments : Any
            The same for all blocks.
        """

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached to them by increasing row number, in memory.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        transform : callable, default=None
            Applied to some rows at a time where they are; its results are returned instead of the rows.
        """

    def taken(self, indices: AnyArray) -> "RowsInMemory":
        """Return rows by increasing row number, with what is attached to them, in memory, as compact as they came.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        """

    def mapped(self, transform: Transform) -> "RowsInMemory":
        """Return all rows as a transform makes them, with what is attached to them, in memory.

        Parameters
        ----------
        transform : callable
            Applied to some rows at a time where they are; its results should be small.
        """

    def attached_column(self, position: int) -> AnyArray:
        """Return one of the numbers attached to every row, in memory.

        Parameters
        ----------
        position : int
            Which.
        """

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose about `size` random rows, every stratum with a fair share.

        The first number attached to a row is its stratum; rows with a negative one are not chosen.
        """

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error that says where the first number is that is not finite, if there is one.

        Parameters
        ----------
        column_names : ndarray of shape (p,), default=None
            Names of the columns; without them the error has the number.
        """


class RowsInMemory(Rows, Protocol):
    """Rows whose attached numbers, too, are in memory.

    Attributes
    ----------
    attached : ndarray of shape (n, k)
        What is attached to each row.
    """

    attached: AnyArray
