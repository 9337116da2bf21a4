"""The median heuristic for the kernel bandwidth."""
# SPDX-License-Identifier: MIT

import math

import numpy as np
from scipy.spatial.distance import pdist

from fairpca._utils.typing import FloatArray, IntArray

ALL_PAIRS_ROWS = 4096
"""Up to this many rows all pairs are used."""

N_PAIRS = 2**21
"""Pairs of more rows: the median of as many is known to some hundredths of a percent."""

MOST_ROWS = 2**17
"""Rows at most that the pairs are made of."""

ORDER = 20220222
"""Seed of the one order in which rows are chosen and paired, whatever the random state of a fit is."""


def median_bandwidth(Z: FloatArray, masses: FloatArray | None = None) -> float:
    """Return sigma = sqrt(median of |z_i - z_j|^2 over pairs / 2).

    Above `ALL_PAIRS_ROWS` rows the median is one over `N_PAIRS` pairs, in which every row of at most `MOST_ROWS` occurs
    equally often. The same rows always give the same sigma.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows after plain PCA; of a longer table those of `bandwidth_rows`.
    masses : ndarray of shape (n,), default=None
        How much each row counts, see `rows_by_mass`.

    Returns
    -------
    bandwidth : float
        sigma. When more than half of the pairs coincide, the median of the positive distances is taken, and 1
        when all rows are equal.
    """
    if masses is not None:
        Z = Z[rows_by_mass(masses)]
    Z = Z[bandwidth_rows(len(Z))] if len(Z) > MOST_ROWS else Z
    unit = _unit(Z)
    # Squares in this unit neither overflow nor vanish, but for rows so far that infinity will do.
    with np.errstate(over="ignore", invalid="ignore"):
        median = _median_square(Z / unit)
    return 1.0 if median is None else unit * math.sqrt(median / 2.0)


def bandwidth_rows(n_rows: int) -> IntArray:
    """Return the numbers, increasing, of the rows that are enough for the bandwidth of a table.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    """
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(ORDER).choice(n_rows, MOST_ROWS, replace=False, shuffle=False))


def rows_by_mass(masses: FloatArray) -> IntArray:
    """Return the numbers of rows that are enough for the bandwidth of a table, each as often as its mass asks for.

    Rows of masses 2 and 3 count as two and three equal rows; masses that are not whole numbers are met in proportion.

    Parameters
    ----------
    masses : ndarray of shape (n,)
        Masses >= 0, some above 0.
    """
    edges = np.cumsum(masses)
    if np.all(masses == np.rint(masses)):
        return np.searchsorted(edges, bandwidth_rows(int(edges[-1])), side="right")
    count = max(ALL_PAIRS_ROWS, len(masses))
    return np.searchsorted(edges, (bandwidth_rows(count) + 0.5) * (edges[-1] / count))


def _median_square(Z: FloatArray) -> float | None:
    """Return the median of |z_i - z_j|^2, of those above 0 where it is 0, and None where all are."""
    squares = _squared_distances(Z)
    median = _median(squares)
    return median if median else _median(squares[squares > 0])


def _squared_distances(Z: FloatArray) -> FloatArray:
    """Return |z_i - z_j|^2 of all pairs, or of pairs that are neighbours of some degree in a random ring."""
    n = len(Z)
    if n <= ALL_PAIRS_ROWS:
        return pdist(Z, "sqeuclidean")
    # A random ring: neighbours in a sorted table are nearer than others.
    ring = np.ascontiguousarray(Z[np.random.default_rng(ORDER).permutation(n)].T)
    squares = np.zeros((min(N_PAIRS // n, (n - 1) // 2), n))
    for coordinate in ring:
        twice = np.concatenate([coordinate, coordinate])
        for degree, row in enumerate(squares, start=1):
            differences = coordinate - twice[degree : degree + n]
            differences *= differences
            row += differences
    return squares.ravel()


def _median(numbers: FloatArray) -> float | None:
    """Return the median, None of no numbers; their order is lost."""
    return float(np.median(numbers, overwrite_input=True)) if numbers.size else None


def _unit(Z: FloatArray) -> float:
    """Return a power of two of the size of the differences between most rows."""
    # Medians to within a place: a power of two is all that is wanted of them.
    sizes = np.abs(Z - np.partition(Z, len(Z) // 2, axis=0)[len(Z) // 2])
    size = float(np.partition(sizes, sizes.size // 2, axis=None)[sizes.size // 2]) or float(sizes.max())
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if 0.0 < size < math.inf else 1.0
