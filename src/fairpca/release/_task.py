"""Where rows stand by what models say of a task and of groups."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Compared
from fairpca.release._trees import BoostedTrees, boosting

N_FOLDS = 3
"""Folds of cross-fitted scores: a row's own label must not be in the score that places it."""


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
