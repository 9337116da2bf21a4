"""Places that rows are rounded to, and how they are merged on levels on which groups become more and more alike."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin

from fairpca._utils.typing import FloatArray, IntArray

Merging = Callable[[FloatArray, FloatArray, FloatArray], IntArray]


@dataclass(frozen=True, eq=False)
class Places:
    """Places, and how they are merged on each level.

    Attributes
    ----------
    centres : ndarray of shape (k, q)
        Where the places are: a row belongs to the nearest.
    values : ndarray of shape (k, r)
        The mean of what is to be kept of the rows of each place.
    masses : ndarray of shape (k,)
        The mass of the training rows of each.
    levels : ndarray of int of shape (n_levels, k)
        The number of the cell that each place is merged into, from the coarsest to the finest level, each with more
        cells than the one before.
    """

    centres: FloatArray
    values: FloatArray
    masses: FloatArray
    levels: IntArray

    @classmethod
    def fit(
        cls,
        points: FloatArray,
        values: FloatArray,
        weights: FloatArray,
        masses: FloatArray,
        n_cells: int,
        seed: int,
        merging: Merging,
    ) -> "Places":
        """Find places of training rows, and merge them.

        Parameters
        ----------
        points : ndarray of shape (n, q)
            Where rows are.
        values : ndarray of shape (n, r)
            What is to be kept of them.
        weights : ndarray of shape (n, n_measures)
            Weights of rows in what is compared.
        masses : ndarray of shape (n,)
            Masses of rows.
        n_cells : int
            Places, no more than there are different points.
        seed : int
            Of the first centres.
        merging : callable
            Gives levels of masses, values and differences of places.
        """
        clusters = KMeans(n_cells, n_init=1, random_state=seed).fit(points, sample_weight=masses)
        codes = pairwise_distances_argmin(points, clusters.cluster_centers_)
        sums = _summed(codes, masses[:, None], n_cells)[:, 0]
        means = _summed(codes, masses[:, None] * values, n_cells) / np.maximum(sums, 1e-300)[:, None]
        levels = merging(sums, means, _summed(codes, weights, n_cells))
        return cls(np.asarray(clusters.cluster_centers_, dtype=np.float64), means, sums, levels)

    def codes(self, points: FloatArray) -> IntArray:
        """Return the place of each row."""
        return np.asarray(pairwise_distances_argmin(points, self.centres), dtype=np.int64)

    def values_of(self, level: int) -> FloatArray:
        """Return what is released of each cell of a level: the mean of its training rows."""
        cells = self.levels[level]
        n_cells = int(cells.max()) + 1
        sums = np.bincount(cells, self.masses, minlength=n_cells)
        return _summed(cells, self.masses[:, None] * self.values, n_cells) / np.maximum(sums, 1e-300)[:, None]

    def distances(self, differences: FloatArray, level: int) -> FloatArray:
        """Return T of each measure on a level.

        Parameters
        ----------
        differences : ndarray of shape (k, n_measures)
            Differences of shares in each place.
        level : int
            The level.
        """
        cells = self.levels[level]
        return 0.5 * np.abs(_summed(cells, differences, int(cells.max()) + 1)).sum(axis=0)


def merged(masses: FloatArray, values: FloatArray, differences: FloatArray) -> IntArray:
    """Merge places two by two, those whose differences cancel most for what is lost of their values.

    Parameters
    ----------
    masses : ndarray of shape (k,)
        Masses of places.
    values : ndarray of shape (k, r)
        Their values; what a merge loses is their sum of squares around the common mean.
    differences : ndarray of shape (k, n_measures)
        Differences of the shares of two sides in each.

    Returns
    -------
    levels : ndarray of int of shape (n_levels, k)
        The cell of each place on each level, from two cells to k.
    """
    cells = np.arange(len(masses))
    masses, values, differences = masses.copy(), values.copy(), differences.copy()
    levels, alive = [cells.copy()], np.ones(len(masses), dtype=bool)
    while alive.sum() > 2:
        into, gone = _best_pair(np.flatnonzero(alive), masses, values, differences)
        total = masses[into] + masses[gone]
        if total > 0.0:
            values[into] = (masses[into] * values[into] + masses[gone] * values[gone]) / total
        masses[into], alive[gone] = total, False
        differences[into] += differences[gone]
        cells[cells == gone] = into
        levels.append(np.unique(cells, return_inverse=True)[1].ravel())
    return np.array(levels[::-1], dtype=np.int64)


def _best_pair(alive: IntArray, masses: FloatArray, values: FloatArray, differences: FloatArray) -> tuple[int, int]:
    own, centres, shares = masses[alive], values[alive], differences[alive]
    squares = np.sum(centres**2, axis=1)
    between = np.maximum(squares[:, None] + squares - 2.0 * centres @ centres.T, 0.0)
    loss = between * own[:, None] * own / np.maximum(own[:, None] + own, 1e-300)
    gain = np.zeros_like(loss)
    for share in shares.T:
        gain += np.abs(share)[:, None] + np.abs(share) - np.abs(share[:, None] + share)
    upper = np.triu_indices(len(alive), 1)
    loss, gain = loss[upper], gain[upper]
    # Where no merge makes groups more alike, the one that loses least.
    rounding = len(alive) * np.finfo(np.float64).eps
    cost = np.where(gain > rounding, loss / np.maximum(gain, rounding), np.inf) if gain.max() > rounding else loss
    best = int(np.argmin(cost))
    return int(alive[upper[0][best]]), int(alive[upper[1][best]])


def _summed(codes: IntArray, columns: FloatArray, n_codes: int) -> FloatArray:
    """Return the sums of columns over the rows with each code."""
    if not columns.shape[1]:
        return np.zeros((n_codes, 0))
    sums = [np.bincount(codes, column, minlength=n_codes) for column in columns.T]
    return np.asarray(np.column_stack(sums), dtype=np.float64)
