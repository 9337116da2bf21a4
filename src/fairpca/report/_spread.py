"""Variance of rows that may count more or less."""
# SPDX-License-Identifier: MIT

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.typing import FloatArray


def scaled_rows(model: Any, X: Any) -> FloatArray:
    """Return rows as a model scales them.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like of shape (n, p)
        Rows.
    """
    rows: FloatArray = check_array(X, dtype=np.float64, input_name="X")
    return np.where(model.constant_features_, 0.0, (rows - model.mean_) / model.scale_)


def total_variance(rows: FloatArray, masses: FloatArray | None) -> float:
    """Return the sum of the variances of the columns.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Rows.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    centred = rows - np.average(rows, axis=0, weights=masses)
    return float(np.average(np.einsum("ij,ij->i", centred, centred), weights=masses))


def share_kept(Z: FloatArray, scaled: FloatArray, masses: FloatArray | None) -> float:
    """Return the share of the variance that projections keep; nan where rows do not vary.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    scaled : ndarray of shape (n, p)
        The rows that were projected.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    # What rounding leaves of rows that are all the same is no variance.
    varies = np.ptp(scaled if masses is None else scaled[masses > 0], axis=0).any()
    return total_variance(Z, masses) / total_variance(scaled, masses) if varies else math.nan
