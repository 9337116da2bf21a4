"""Places that rows are rounded to, and a nested path of merged places on which groups become more and more alike."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import pairwise_distances_argmin
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

LEAST_GAIN = 1e-12
"""What a merge takes off the distance of groups, below which it counts as nothing but rounding."""

N_FOLDS = 3
"""Folds of cross-fitted scores: a row's own label must not be in the score that places it."""


@dataclass(frozen=True, eq=False)
class TaskScores:
    r"""Where rows stand by what models say of a task, among everyone and among people of their groups.

    With t the probability of a label and F_g its distribution function among the training rows of group g, the fair
    score of a row is the place that its t has within groups, each as probable as a model of the groups says:

    .. math:: F = \sum_g P(g \mid z) \, F_g(t).

    Attributes
    ----------
    models : list of HistGradientBoostingClassifier
        Of the task, then of each protected attribute, fitted to all training rows.
    within : list of list of list of ndarray
        For each attribute, group and label but the first the scores t of training rows, increasing.
    among : list of ndarray
        Fair scores of training rows for each label but the first, then their t, increasing.
    """

    models: list[Any]
    within: list[list[list[FloatArray]]]
    among: list[FloatArray]

    @classmethod
    def fit(cls, Z: FloatArray, targets: list[AnyArray], seed: int) -> tuple["TaskScores", FloatArray]:
        """Fit models, and return them with the points of the training rows.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Training rows.
        targets : list of ndarray of int of shape (n,)
            Labels of the task, then groups of each attribute; -1 where there is none.
        seed : int
            Of folds.
        """
        models, crossed = zip(*(_cross_fitted(Z, target, seed) for target in targets), strict=True)
        task = crossed[0][:, 1:]
        within = [
            [[np.sort(score[target == group]) for score in task.T] for group in np.unique(target[target >= 0])]
            for target in targets[1:]
        ]
        found = np.hstack([_fair(within, crossed[1:], task), task])
        own = cls(list(models), within, [np.sort(column) for column in found.T])
        return own, _standing(own.among, found)

    def of(self, Z: FloatArray) -> FloatArray:
        """Return the point of each row: where it stands by fair scores, then by t."""
        task, *groups = (model.predict_proba(Z) for model in self.models)
        return _standing(self.among, np.hstack([_fair(self.within, groups, task[:, 1:]), task[:, 1:]]))


def _cross_fitted(Z: FloatArray, target: AnyArray, seed: int) -> tuple[Any, FloatArray]:
    """Return a model of all rows, and probabilities of each row from models that have not seen it."""
    known = target >= 0
    model = HistGradientBoostingClassifier(random_state=seed)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    unseen = cross_val_predict(clone(model), Z[known], target[known], cv=folds, method="predict_proba")
    fitted = model.fit(Z[known], target[known])
    scores = np.asarray(fitted.predict_proba(Z), dtype=np.float64)
    scores[known] = unseen
    return fitted, scores


def _fair(within: list[list[list[FloatArray]]], groups: Sequence[FloatArray], task: FloatArray) -> FloatArray:
    """Return the fair scores of each label but the first, the mean over attributes."""
    total = np.zeros_like(task)
    for of_groups, probable in zip(within, groups, strict=True):
        for known, share in zip(of_groups, probable.T, strict=True):
            total += share[:, None] * _standing(known, task)
    return total / len(within)


def _standing(known: list[FloatArray], scores: FloatArray) -> FloatArray:
    """Return the share of known scores below each, those that equal it by half."""
    places = [
        (np.searchsorted(own, column) + np.searchsorted(own, column, side="right")) / (2.0 * len(own))
        for own, column in zip(known, scores.T, strict=True)
    ]
    return np.column_stack(places)


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
        The number of the cell that each place is merged into, from the coarsest to the finest level; each level merges
        cells of the next.
    """

    centres: FloatArray
    values: FloatArray
    masses: FloatArray
    levels: IntArray

    @classmethod
    def fit(
        cls, points: FloatArray, values: FloatArray, weights: FloatArray, masses: FloatArray, n_cells: int, seed: int
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
        """
        clusters = KMeans(n_cells, n_init=1, random_state=seed).fit(points, sample_weight=masses)
        codes = pairwise_distances_argmin(points, clusters.cluster_centers_)
        sums = _summed(codes, masses[:, None], n_cells)[:, 0]
        means = _summed(codes, masses[:, None] * values, n_cells) / np.maximum(sums, 1e-300)[:, None]
        levels = merged(sums, means, _summed(codes, weights, n_cells))
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
    cost = np.where(gain > LEAST_GAIN, loss / np.maximum(gain, LEAST_GAIN), np.inf) if gain.max() > LEAST_GAIN else loss
    best = int(np.argmin(cost))
    return int(alive[upper[0][best]]), int(alive[upper[1][best]])


def _summed(codes: IntArray, columns: FloatArray, n_codes: int) -> FloatArray:
    """Return the sums of columns over the rows with each code."""
    if not columns.shape[1]:
        return np.zeros((n_codes, 0))
    sums = [np.bincount(codes, column, minlength=n_codes) for column in columns.T]
    return np.asarray(np.column_stack(sums), dtype=np.float64)
