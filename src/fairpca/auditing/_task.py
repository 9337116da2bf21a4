"""What a classifier of the labels makes of the projection, and how evenly."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fairpca._utils.typing import AnyArray, FloatArray

N_FOLDS = 5
MOST_ROWS = 100_000


def parity_gaps(Z: FloatArray, y: AnyArray, groups: AnyArray, seed: int) -> dict[str, float] | None:
    """Return accuracy and gaps between groups of a logistic regression of two labels, on rows it was not fitted to.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    y : ndarray of shape (n,)
        Labels; of other than two, or fewer than five rows with one of them, there is nothing to say.
    groups : ndarray of int of shape (n,)
        The group of each row; -1 for rows of none.
    seed : int
        Of the folds.
    """
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) != 2 or np.bincount(codes).min() < N_FOLDS:
        return None
    if len(Z) > MOST_ROWS:
        chosen = np.random.default_rng(seed).choice(len(Z), MOST_ROWS, replace=False)
        Z, codes, groups = Z[chosen], codes[chosen], groups[chosen]
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
    predicted = cross_val_predict(model, Z, codes, cv=folds)
    return {
        "accuracy": float(accuracy_score(codes, predicted)),
        "demographic_parity": _gap(predicted, np.ones(len(Z), dtype=bool), groups),
        "equal_opportunity": _gap(predicted, codes == 1, groups),
        "equalized_odds": max(_gap(predicted, codes == 1, groups), _gap(predicted, codes == 0, groups)),
    }


def _gap(predicted: AnyArray, among: Any, groups: AnyArray) -> float:
    """Return the largest difference between groups in the share of positive predictions."""
    rates = [predicted[among & (groups == group)] for group in np.unique(groups[groups >= 0])]
    shares = [float(rate.mean()) for rate in rates if len(rate)]
    return max(shares) - min(shares) if len(shares) > 1 else float("nan")
