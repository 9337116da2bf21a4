"""Sums of outer products of rows with themselves, for many weights at once."""
# SPDX-License-Identifier: MIT

from functools import cache, partial

import numpy as np

from fairpca._utils.threads import run_all
from fairpca._utils.typing import AnyArray, IntArray

FEW = 8
"""Weights below which products of columns cost more than they save."""

PIECE = 128
"""Products of columns that are made and used at a time, so that they stay in the cache."""


def outer_sums(N: AnyArray, weights: AnyArray) -> AnyArray:
    """Return the sums over i of s_i n_i n_i' for several s, on and above the diagonal.

    They are symmetric, so that products of columns, each pair once, and one product of matrices take half of what
    N'(s * N) takes for each s.

    Parameters
    ----------
    N : ndarray of shape (n, q)
        Rows n_i.
    weights : ndarray of shape (n_sums, n)
        The s.

    Returns
    -------
    sums : ndarray of shape (n_sums, q * (q + 1) / 2)
        Their entries, row after row; see `squares_of`.
    """
    q = N.shape[1]
    columns = np.ascontiguousarray(N.T)
    if len(weights) < FEW:
        return np.stack([((each * columns) @ N)[upper_indices(q)] for each in weights])
    starts = np.concatenate([[0], np.cumsum(q - np.arange(q))])
    sums = np.empty((len(weights), starts[-1]), dtype=N.dtype)

    def fill(lines: range) -> None:
        first = starts[lines.start]
        products = np.empty((starts[lines.stop] - first, len(N)), dtype=N.dtype)
        for k in lines:
            np.multiply(columns[k], columns[k:], out=products[starts[k] - first : starts[k + 1] - first])
        np.matmul(weights, products.T, out=sums[:, first : starts[lines.stop]])

    run_all([partial(fill, lines) for lines in _pieces(q)])
    return sums


def squares_of(sums: AnyArray, q: int) -> AnyArray:
    """Return symmetric q x q matrices, given what is on and above their diagonals.

    Parameters
    ----------
    sums : ndarray of shape (n_sums, q * (q + 1) / 2)
        See `outer_sums`.
    q : int
        Rows of a matrix.
    """
    return np.take(sums, _places(q), axis=1)


@cache
def upper_indices(q: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of entries on and above the diagonal, row after row.

    Parameters
    ----------
    q : int
        Rows of the matrix.
    """
    return np.triu_indices(q)


@cache
def _places(q: int) -> IntArray:
    """Return for each entry of a symmetric matrix its place in what is on and above the diagonal."""
    places = np.empty((q, q), dtype=np.intp)
    upper = upper_indices(q)
    places[upper] = places.T[upper] = np.arange(len(upper[0]))
    return places


def _pieces(q: int) -> list[range]:
    """Return lines of the triangle, as many as have about `PIECE` entries."""
    pieces, start, size = [], 0, 0
    for k in range(q):
        size += q - k
        if size >= PIECE or k == q - 1:
            pieces.append(range(start, k + 1))
            start, size = k + 1, 0
    return pieces
