"""What models say of a task and of groups: boosted trees as plain arrays, and where rows stand by their chances."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared

N_FOLDS = 3
"""Folds of cross-fitted scores: a row's own label must not be in the score that places it."""


def boosting(seed: int, depth: int = 8) -> HistGradientBoostingClassifier:
    """Return boosting of trees that are shallow enough to be kept as whole binary trees.

    Parameters
    ----------
    seed : int
        Of the rows on which it decides to stop.
    depth : int, default=8
        Splits one after the other. Trees have 31 leaves at most; in a table of 171,000 patients a depth of 5 costs
        .2 points of accuracy against any depth.
    """
    return HistGradientBoostingClassifier(max_depth=depth, random_state=seed)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Sums of whole binary trees: node i has the children 2 i + 1, for numbers up to its threshold, and 2 i + 2.

    Attributes
    ----------
    baseline : ndarray of shape (k,)
        What sums begin with, one for each class, or one for the second of two.
    features : ndarray of int of shape (n_trees, 2^depth - 1)
        The column that each node looks at. Trees go in turn to the k sums.
    thresholds : ndarray of shape (n_trees, 2^depth - 1)
        Its threshold; infinite where a tree ends before.
    values : ndarray of shape (n_trees, 2^depth)
        What leaves add.
    """

    baseline: FloatArray
    features: IntArray
    thresholds: FloatArray
    values: FloatArray

    @property
    def n_classes(self) -> int:
        """Classes that there are chances of."""
        return max(2, len(self.baseline))

    @classmethod
    def fit(cls, Z: FloatArray, target: AnyArray, seed: int) -> "BoostedTrees":
        """Boost trees.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        target : ndarray of int of shape (n,)
            Classes.
        seed : int
            See `boosting`.
        """
        model = boosting(seed).fit(Z, target)
        # scikit-learn has no public name for its trees; a test compares their sums with its own.
        trees = [_whole(tree.nodes, model.max_depth) for step in model._predictors for tree in step]
        features, thresholds, values = (np.array(parts) for parts in zip(*trees, strict=True))
        return cls(np.ravel(model._baseline_prediction).astype(np.float64), features, thresholds, values)

    def predict_proba(self, Z: FloatArray, block: int = 2**13) -> FloatArray:
        """Return the probability of each class.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows.
        block : int, default=2**13
            Rows at a time, so that what they are looked up in stays near the processor.
        """
        sums = np.empty((len(Z), len(self.baseline)))
        for start in range(0, len(Z), block):
            sums[start : start + block] = self._sums(Z[start : start + block])
        if sums.shape[1] > 1:
            return np.asarray(softmax(sums, axis=1), dtype=np.float64)
        second = expit(sums[:, 0])
        return np.column_stack([1.0 - second, second])

    def _sums(self, Z: FloatArray) -> FloatArray:
        flat, start = np.ascontiguousarray(Z).ravel(), np.arange(len(Z)) * Z.shape[1]
        sums = np.tile(self.baseline, (len(Z), 1))
        n_nodes = self.features.shape[1]
        for number, (features, thresholds, values) in enumerate(
            zip(self.features, self.thresholds, self.values, strict=True)
        ):
            node = np.zeros(len(Z), dtype=np.int64)
            while n_nodes > node[0]:
                node = 2 * node + 1 + (flat.take(start + features.take(node)) > thresholds.take(node))
            sums[:, number % len(self.baseline)] += values.take(node - n_nodes)
        return sums


def _whole(nodes: Any, depth: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return features, thresholds and values of a tree of scikit-learn, filled up to one depth."""
    n_nodes = 2**depth - 1
    features, thresholds = np.zeros(n_nodes, dtype=np.int64), np.full(n_nodes, np.inf)
    values = np.zeros(2 * n_nodes + 1)
    below = {0: 0}
    for place in range(2 * n_nodes + 1):
        node = nodes[below[place]]
        values[place] = node["value"]
        if place >= n_nodes:
            continue
        # A leaf above the last depth is its own child.
        left, right = below[place], below[place]
        if not node["is_leaf"]:
            features[place], thresholds[place] = node["feature_idx"], node["num_threshold"]
            left, right = int(node["left"]), int(node["right"])
        below[2 * place + 1], below[2 * place + 2] = left, right
    return features, thresholds, values[n_nodes:]


@dataclass(frozen=True, eq=False)
class TaskScores:
    r"""Where rows stand, among all, by the chances of labels and of groups that boosting gives them.

    Attributes
    ----------
    models : list of BoostedTrees
        Of the task, then of each protected attribute, fitted to all training rows.
    quantiles : ndarray of shape (n_scores, n_quantiles)
        Of the chances of training rows, increasing: of labels but the first, then of groups but the first of each
        attribute.
    """

    models: list[BoostedTrees]
    quantiles: FloatArray

    @classmethod
    def fit(
        cls, Z: FloatArray, targets: list[AnyArray], seed: int, n_quantiles: int = 500
    ) -> tuple["TaskScores", FloatArray, FloatArray]:
        """Fit models, and return them with the points of the training rows and their chances of labels but the first.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Training rows.
        targets : list of ndarray of int of shape (n,)
            Labels of the task, then groups of each attribute; -1 where there is none.
        seed : int
            Of folds.
        n_quantiles : int, default=500
            Steps in which rows stand; places are larger.
        """
        models, crossed = zip(*(_cross_fitted(Z, target, seed) for target in targets), strict=True)
        scores = np.hstack([chances[:, 1:] for chances in crossed])
        ranks = (np.arange(n_quantiles) + 0.5) / n_quantiles
        own = cls(list(models), np.quantile(scores, ranks, axis=0, method="inverted_cdf").T)
        return own, own._standing(scores), crossed[0][:, 1:]

    def of(self, Z: FloatArray) -> FloatArray:
        """Return the point of each row: where it stands by each score."""
        return self._standing(np.hstack([model.predict_proba(Z)[:, 1:] for model in self.models]))

    def _standing(self, scores: FloatArray) -> FloatArray:
        """Return the share of training rows below each score, those that equal it by half."""
        places = [
            (np.searchsorted(known, column) + np.searchsorted(known, column, side="right")) / (2.0 * len(known))
            for known, column in zip(self.quantiles, scores.T, strict=True)
        ]
        return np.column_stack(places)


def _cross_fitted(Z: FloatArray, target: AnyArray, seed: int) -> tuple[BoostedTrees, FloatArray]:
    """Return a model of all rows, and probabilities of each row from models that have not seen it."""
    known = target >= 0
    classes, codes = np.unique(target[known], return_inverse=True)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    model = BoostedTrees.fit(Z[known], codes, seed)
    scores = np.zeros((len(Z), len(classes)))
    scores[~known] = model.predict_proba(Z[~known])
    scores[known] = cross_val_predict(boosting(seed), Z[known], codes, cv=folds, method="predict_proba")
    return model, scores


def targets_of(y: AnyArray, compared: Compared | None, used: AnyArray) -> tuple[AnyArray, list[IntArray]]:
    """Return the labels that there are, and what models learn: labels, then groups of each attribute.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    compared : Compared or None
        What is known of groups.
    used : ndarray of bool of shape (n,)
        Rows that count.
    """
    if compared is None or not compared.known:
        raise ValueError('kind="task" learns to tell the groups: pass sensitive_features.')
    classes, labels = _labels(y)
    attributes = [np.ravel(known.values).astype(np.int64) for known in compared.known]
    targets = [_learnable(target, used) for target in (labels, *attributes)]
    return classes[np.unique(targets[0][targets[0] >= 0])], targets


def _labels(y: AnyArray) -> tuple[AnyArray, IntArray]:
    if y is None:
        raise ValueError('kind="task" keeps what tells a label: pass y, or use kind="cells".')
    labels = column_or_1d(np.asarray(y))
    if type_of_target(labels) not in ("binary", "multiclass"):
        raise ValueError('kind="task" takes labels with few values as y; cut numbers into ranges.')
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2 or np.bincount(codes).min() < N_FOLDS:
        raise ValueError(f'kind="task" needs two labels or more in y, each of them in {N_FOLDS} rows at least.')
    return classes, codes


def _learnable(target: AnyArray, used: AnyArray) -> AnyArray:
    """Return codes without those of which there are too few rows to be learned and scored."""
    counts = np.bincount(target[used & (target >= 0)], minlength=int(target.max()) + 1)
    return np.where(used & (target >= 0) & (counts[target] >= N_FOLDS), target, -1)
