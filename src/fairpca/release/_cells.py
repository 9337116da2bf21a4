"""Rows as cells: of the rows themselves, or of what models say of a task."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared
from fairpca.release._levels import Merge, fair_levels
from fairpca.release._places import Merging, Places, merged
from fairpca.release._sides import EQUAL_GROUPS, Sides
from fairpca.release._task import TaskScores, targets_of


@dataclass(frozen=True, eq=False)
class Cells:
    """Places, and what rows are before they are rounded to them.

    Attributes
    ----------
    places : Places
        The places and their levels.
    scores : TaskScores or None
        Of a task.
    labels : tuple of str
        Of a task: what there is to be told.
    """

    places: Places
    scores: TaskScores | None = None
    labels: tuple[str, ...] = ()

    @classmethod
    def fit(cls, Z: FloatArray, masses: FloatArray, sides: list[Sides], n_cells: int | None, seed: int) -> "Cells":
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
        return cls(_places(Z, Z, masses, sides, n_cells or 64, seed, merged))

    @classmethod
    def fit_task(
        cls,
        Z: FloatArray,
        y: Any,
        compared: Compared | None,
        masses: FloatArray,
        sides: list[Sides],
        n_cells: int | None,
        seed: int,
    ) -> "Cells":
        """Learn a task and groups, find places of rows by their chances, and put them together for the task.

        Parameters
        ----------
        Z, masses, sides, seed
            As above.
        y : array-like of shape (n,)
            Labels.
        compared : Compared or None
            What is known of groups.
        n_cells : int or None
            Places; by default 256, if there are 32 rows for each.
        """
        labels, targets = targets_of(y, compared, masses > 0)
        scores, points, chances = TaskScores.fit(Z, targets, seed)
        n_places = n_cells or max(2, min(256, int(np.sum(masses > 0)) // 32))
        scatter = EQUAL_GROUPS * max(each.squares for each in sides) ** 0.5
        merging = partial(_merged_for_a_task, scatter=scatter)
        return cls(_places(points, chances, masses, sides, n_places, seed, merging), scores, tuple(map(str, labels)))

    @property
    def levels(self) -> FloatArray:
        """Numbers of cells, increasing."""
        return np.asarray(self.places.levels.max(axis=1) + 1.0, dtype=np.float64)

    def codes(self, Z: FloatArray) -> IntArray:
        """Return the place of each row."""
        return self.places.codes(Z if self.scores is None else self.scores.of(Z))

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
        cells = self.places.levels[level][self.codes(Z)]
        return cells[:, None] if output == "codes" else self.places.values_of(level)[cells]

    def distances(self, Z: FloatArray, sides: Sequence[Sides]) -> Iterator[FloatArray]:
        """Yield T of each comparison, on one level after the other.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        sides : sequence of Sides
            What is compared.
        """
        codes, n_places = self.codes(Z), len(self.places.centres)
        differences = np.column_stack([each.distances(codes, n_places) for each in sides])
        for level in range(len(self.places.levels)):
            yield self.places.distances(differences, level)

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
                found = {"n_cells": int(self.levels[level]), "variance": kept, "label_auc": auc}
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


def _places(
    points: FloatArray,
    values: FloatArray,
    masses: FloatArray,
    sides: list[Sides],
    n_cells: int,
    seed: int,
    merging: Merging,
) -> Places:
    used = masses > 0
    weights = np.column_stack([each.weights for each in sides]) if sides else np.zeros((len(points), 0))
    n_places = min(n_cells, len(np.unique(points[used], axis=0)))
    return Places.fit(points[used], values[used], weights[used], masses[used], n_places, seed, merging)


def _merged_for_a_task(masses: FloatArray, values: FloatArray, differences: FloatArray, scatter: float) -> IntArray:
    return fair_levels(Merge(masses / masses.sum(), values, differences), scatter)


def _variance(Z: FloatArray, masses: FloatArray) -> float:
    return float(np.average((Z - np.average(Z, axis=0, weights=masses)) ** 2, axis=0, weights=masses).sum())
