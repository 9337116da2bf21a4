"""What a promise about every classifier leaves of a reduction."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.comparison import People
from fairpca.release import Release


def kept_by_release(
    release: Release, fitted: tuple[FloatArray, People], judged: tuple[FloatArray, People], target: float
) -> dict[str, Any]:
    """Return what the finest level that keeps a promise on some rows keeps of them.

    Parameters
    ----------
    release : Release
        Of cells, fitted.
    fitted, judged : tuple of ndarray of shape (n, d) and People
        The rows that it was fitted to, and those that judge.
    target : float
        The promise.

    Returns
    -------
    kept : dict
        The number of cells, the share of the variance of the projections, and the AUC of a label of two values; None
        where the promise is out of reach, and where there is no such label.
    """
    (Z, people), (Z_new, new) = fitted, judged
    (cost,) = release.trade_off(Z_new, **vars(new), targets=(target,))
    found = {"n_cells": cost["n_cells"], "variance": cost["variance"], "label_auc": None}
    if cost["n_cells"] is None:
        return found
    level = int(np.flatnonzero(release.levels_ == cost["n_cells"])[0])
    cells = [release.places_.levels[level][release.places_.codes(rows)] for rows in (Z, Z_new)]
    labels = two_labels(people.y, new.y)
    if labels is not None:
        n_cells = int(release.places_.levels[level].max()) + 1
        shares = _shares(cells[0], labels[0], n_cells)
        found["label_auc"] = float(roc_auc_score(labels[1], shares[cells[1]]))
    return found


def two_labels(y: Any, y_new: Any) -> tuple[IntArray, IntArray] | None:
    """Return labels of two values that both occur on either side as 0 and 1, or None.

    Parameters
    ----------
    y, y_new : array-like of shape (n,), or None
        Labels of the rows that fit, and of those that judge.
    """
    if y is None or y_new is None:
        return None
    sides = [np.asarray(each).astype(str) for each in (y, y_new)]
    values = np.unique(np.concatenate(sides))
    if len(values) != 2 or any(len(np.unique(side)) < 2 for side in sides):
        return None
    first, second = (np.searchsorted(values, side) for side in sides)
    return first, second


def _shares(cells: IntArray, labels: IntArray, n_cells: int) -> FloatArray:
    """Return the share of the second label in each cell, drawn a little towards that of all."""
    counts = [np.bincount(cells, weights, minlength=n_cells) for weights in (labels, None)]
    shares: FloatArray = (counts[0] + labels.mean()) / (counts[1] + 1.0)
    return shares
