"""Places that rows are rounded to, by themselves or by what models say of a task, and how they are merged on levels."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared
from fairpca.release._levels import Merge, fair_levels
from fairpca.release._sides import EQUAL_GROUPS, Sides
from fairpca.release._task import TaskScores, targets_of

Merging = Callable[[FloatArray, FloatArray, FloatArray], IntArray]
"""Gives levels of masses, values and differences of places."""


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
    scores : TaskScores or None
        Of a task: what stands for rows.
    labels : tuple of str
        Of a task: what there is to be told.
    """

    centres: FloatArray
    values: FloatArray
    masses: FloatArray
    levels: IntArray
    scores: TaskScores | None = None
    labels: tuple[str, ...] = ()

    @classmethod
    def of_rows(cls, Z: FloatArray, masses: FloatArray, sides: list[Sides], n_cells: int | None, seed: int) -> Self:
        """Find places of rows, and merge them.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Training rows.
        masses : ndarray of shape (n,)
            Their masses.
        sides : list of Sides
            What is compared.
        n_cells : int or None
            Places; 64 by default.
        seed : int
            Of the first centres.
        """
        return cls._found(Z, Z, masses, sides, n_cells or 64, seed, merged)

    @classmethod
    def for_task(
        cls,
        Z: FloatArray,
        masses: FloatArray,
        sides: list[Sides],
        n_cells: int | None,
        seed: int,
        y: Any,
        compared: Compared | None,
    ) -> Self:
        """Learn a task and groups, find places of rows by their chances, and put them together for the task.

        Parameters
        ----------
        Z, masses, sides, seed
            As above.
        n_cells : int or None
            Places; by default 256, if there are 32 rows for each.
        y : array-like of shape (n,)
            Labels.
        compared : Compared or None
            What is known of groups.
        """
        labels, targets = targets_of(y, compared, masses > 0)
        scores, points, chances = TaskScores.fit(Z, targets, seed)
        n_places = n_cells or max(2, min(256, int(np.sum(masses > 0)) // 32))
        merging = partial(_merged_for_a_task, scatter=EQUAL_GROUPS * max(each.squares for each in sides) ** 0.5)
        found = cls._found(points, chances, masses, sides, n_places, seed, merging)
        return replace(found, scores=scores, labels=tuple(map(str, labels)))

    @classmethod
    def _found(
        cls,
        points: FloatArray,
        values: FloatArray,
        masses: FloatArray,
        sides: list[Sides],
        n_cells: int,
        seed: int,
        merging: Merging,
    ) -> Self:
        used = masses > 0
        weights = np.column_stack([np.zeros((len(points), 0)), *(each.weights for each in sides)])
        points, values, weights, masses = points[used], values[used], weights[used], masses[used]
        n_cells = min(n_cells, len(np.unique(points, axis=0)))
        clusters = KMeans(n_cells, n_init=1, random_state=seed).fit(points, sample_weight=masses)
        codes = pairwise_distances_argmin(points, clusters.cluster_centers_)
        sums = _summed(codes, masses[:, None], n_cells)[:, 0]
        means = _summed(codes, masses[:, None] * values, n_cells) / np.maximum(sums, 1e-300)[:, None]
        levels = merging(sums, means, _summed(codes, weights, n_cells))
        return cls(np.asarray(clusters.cluster_centers_, dtype=np.float64), means, sums, levels)

    def codes(self, Z: FloatArray) -> IntArray:
        """Return the place of each row."""
        points = Z if self.scores is None else self.scores.of(Z)
        return np.asarray(pairwise_distances_argmin(points, self.centres), dtype=np.int64)

    def values_of(self, level: int) -> FloatArray:
        """Return what is released of each cell of a level: the mean of its training rows."""
        cells = self.levels[level]
        n_cells = int(cells.max()) + 1
        sums = np.bincount(cells, self.masses, minlength=n_cells)
        return _summed(cells, self.masses[:, None] * self.values, n_cells) / np.maximum(sums, 1e-300)[:, None]

    def released(self, Z: FloatArray, level: int, output: str) -> AnyArray:
        """Return the cell of each row on a level: its number, or its value.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        level : int
            The level.
        output : {"centres", "codes"}
            What is released.
        """
        cells = self.levels[level][self.codes(Z)]
        return cells[:, None] if output == "codes" else self.values_of(level)[cells]

    def distances(self, Z: FloatArray, sides: Sequence[Sides]) -> Iterator[FloatArray]:
        """Yield T of each comparison, on one level after the other.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        sides : sequence of Sides
            What is compared.
        """
        codes = self.codes(Z)
        differences = np.column_stack([each.distances(codes, len(self.centres)) for each in sides])
        for cells in self.levels:
            yield 0.5 * np.abs(_summed(cells, differences, int(cells.max()) + 1)).sum(axis=0)

    def costs(
        self, Z: FloatArray, y: Any, masses: FloatArray, bounds: FloatArray, targets: Sequence[float]
    ) -> list[dict[str, Any]]:
        """Return what each target leaves of the variance of rows, and of what tells a label of two values.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        y : array-like of shape (n,), or None
            Labels.
        masses : ndarray of shape (n,)
            Their masses.
        bounds : ndarray of shape (n_levels,)
            U on each level.
        targets : sequence of float
            Promises.
        """
        whole, costs = _variance(Z, masses) or 1.0, []
        for target in targets:
            above = np.flatnonzero(bounds > target)
            level = (int(above[0]) if len(above) else len(bounds)) - 1
            found: dict[str, Any] = {"n_cells": None, "variance": None, "label_auc": None}
            if level >= 0:
                kept = _variance(self.released(Z, level, "centres"), masses) / whole
                auc = None if y is None else _label_auc(self.released(Z, level, "codes").ravel(), y)
                found = {"n_cells": int(self.levels[level].max()) + 1, "variance": kept, "label_auc": auc}
            costs.append({"target": float(target), "balanced_accuracy": (1.0 + float(target)) / 2.0} | found)
        return costs


def _label_auc(cells: IntArray, y: Any) -> float | None:
    """Return the AUC of the shares of a label in cells, each half of the rows scored by those of the other half."""
    labels, codes = np.unique(np.asarray(y, dtype=str), return_inverse=True)
    if len(labels) != 2 or np.bincount(codes).min() < 2:
        return None
    scores, n_cells = np.empty(len(cells)), int(cells.max()) + 1
    for seen, unseen in StratifiedKFold(2, shuffle=True, random_state=0).split(cells, codes):
        positive = np.bincount(cells[seen], codes[seen], minlength=n_cells)
        shares = (positive + codes.mean()) / (np.bincount(cells[seen], minlength=n_cells) + 1.0)
        scores[unseen] = shares[cells[unseen]]
    return float(roc_auc_score(codes, scores))


def _merged_for_a_task(masses: FloatArray, values: FloatArray, differences: FloatArray, scatter: float) -> IntArray:
    return fair_levels(Merge(masses / masses.sum(), values, differences), scatter)


def _variance(Z: FloatArray, masses: FloatArray) -> float:
    return float(np.average((Z - np.average(Z, axis=0, weights=masses)) ** 2, axis=0, weights=masses).sum())


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
