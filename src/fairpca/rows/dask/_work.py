"""What runs where the blocks are: each function takes one block and returns something that can be added."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.threads import BLOCK_NUMBERS, single_threaded_blas
from fairpca._utils.typing import AnyArray, IntArray
from fairpca.rows._protocol import Transform, strata_of

ALIGNMENT = 64
"""Bytes of a line of the cache. BLAS sums in another order when an array starts elsewhere."""


@dataclass(frozen=True, eq=False)
class Work:
    """A function of rows and what is attached to them, with the arguments that come after these.

    Attributes
    ----------
    function : callable
        The function.
    arguments : tuple
        The arguments.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self, X: AnyArray, attached: AnyArray) -> Any:
        return self.function(X, attached, *self.arguments)


@dataclass(frozen=True, eq=False)
class Picked:
    """Rows picked from blocks; a sum holds those of the first, then those of the second.

    Attributes
    ----------
    X : ndarray of shape (n_picked, p)
        Rows.
    attached : ndarray of shape (n_picked, k)
        What is attached to them.
    """

    X: AnyArray
    attached: AnyArray

    def __add__(self, other: "Picked") -> "Picked":
        return Picked(np.concatenate([self.X, other.X]), np.concatenate([self.attached, other.attached]))


def total_of_block(X: AnyArray, attached: AnyArray, work: Work) -> Any:
    """Return the sum of a function over pieces of a block that fit the cache, so that its temporaries stay small.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows, at least one.
    attached : ndarray of shape (n_block, k)
        What is attached to them.
    work : Work
        What to do with each piece.
    """
    # Pieces of an aligned block are aligned when their heights are multiples of ALIGNMENT.
    height = max(256, BLOCK_NUMBERS // X.shape[1] // ALIGNMENT * ALIGNMENT)
    pieces = (slice(start, start + height) for start in range(0, len(X), height))
    with single_threaded_blas():
        return add_all(work(aligned(X[piece]), aligned(attached[piece])) for piece in pieces)


def aligned(array: AnyArray) -> AnyArray:
    """Return an array that starts at a line of the cache, so that a block that has travelled gives the same bits.

    Parameters
    ----------
    array : ndarray
        Returned as it is if it is aligned and contiguous.
    """
    if array.ctypes.data % ALIGNMENT == 0 and array.flags.c_contiguous:
        return array
    buffer = np.empty(array.nbytes + ALIGNMENT, dtype=np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def add_all(terms: Iterable[Any]) -> Any:
    """Return the sum of terms from left to right."""
    return reduce(add, terms)


def add_terms(*terms: Any) -> Any:
    """Return the sum of terms from left to right, as a task that waits for each."""
    return add_all(terms)


def rows_of_block(X: AnyArray, attached: AnyArray, indices: IntArray, transform: Transform | None) -> Picked:
    """Return some rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        What is attached to them.
    indices : ndarray of shape (k,)
        Row numbers in the block.
    transform : callable or None
        Applied to them.
    """
    rows = X[indices]
    return Picked(rows if transform is None else transform(rows), attached[indices])


def attached_column_of_block(X: AnyArray, attached: AnyArray, position: int) -> list[AnyArray]:
    """Return one number attached to each row; a sum of such lists has one entry for each block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of shape (n_block, k)
        What is attached to the rows.
    position : int
        Which number.
    """
    return [attached[:, position]]


def stratum_counts_of_block(X: AnyArray, attached: AnyArray) -> list[IntArray]:
    """Return how many rows of each stratum a block has; a sum of such lists has one entry for each block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of int of shape (n_block, k)
        The stratum of each row in the first column.
    """
    codes = strata_of(attached)
    return [np.bincount(codes[codes >= 0])]


def ranked_indices_of_block(X: AnyArray, attached: AnyArray, start: int, ranks: list[IntArray]) -> list[IntArray]:
    """Return the numbers, in the table and of their stratum, of rows known by their rank among those of the stratum.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of int of shape (n_block, k)
        The stratum of each row in the first column.
    start : int
        Number of the first row of the block in the table.
    ranks : list of ndarray
        For each stratum which of its rows in this block are wanted: 0 is the first.

    Returns
    -------
    placed : list of one ndarray of shape (n_wanted, 2)
        A sum of such lists has one entry for each block.
    """
    chosen = [start + np.flatnonzero(strata_of(attached) == code)[rank] for code, rank in enumerate(ranks)]
    numbers = np.repeat(np.arange(len(ranks)), [len(each) for each in chosen])
    return [np.column_stack([np.concatenate(chosen), numbers])]
