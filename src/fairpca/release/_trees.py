"""Boosted trees as plain arrays: what is fitted, saved and loaded is one thing, and nothing in it can be run."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.ensemble import HistGradientBoostingClassifier

from fairpca._utils.typing import AnyArray, FloatArray, IntArray


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
