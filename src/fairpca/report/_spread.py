"""Variance of rows that may count more or less."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from fairpca._utils.typing import FloatArray
from fairpca.rows import dense, is_sparse

BLOCK_NUMBERS = 2**20
"""Numbers that are scaled at a time, 8 MB: the table may be mapped from a file or sparse."""


def spread_of(model: Any, X: Any, masses: FloatArray | None) -> float:
    """Return the sum of the variances of the columns as a model scales them; 0 where rows do not vary.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    counts = np.ones(X.shape[0]) if masses is None else masses
    total, mean = float(counts.sum()), scaled_mean(model, X, counts)
    first = None
    squares, varies = 0.0, False
    for rows, weights in scaled_blocks(model, X, counts):
        if first is None and weights.any():
            first = rows[np.flatnonzero(weights)[:1]]
        squares += float(weights @ np.sum((rows - mean) ** 2, axis=1))
        varies = varies or bool((rows[weights > 0] != first).any())
    # What rounding leaves of rows that are all the same is no variance.
    return squares / total if varies else 0.0


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


def share_kept(Z: FloatArray, spread: float, masses: FloatArray | None) -> float:
    """Return the share of the variance that projections keep; nan where rows do not vary.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    spread : float
        The variance of the rows that were projected.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    return total_variance(Z, masses) / spread if spread else math.nan


def scaled_mean(model: Any, X: Any, counts: FloatArray) -> FloatArray:
    """Return the mean of the rows as a model scales them.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    counts : ndarray of shape (n,)
        How much each counts.
    """
    return np.asarray(sum(weights @ rows for rows, weights in scaled_blocks(model, X, counts)) / counts.sum())


def scaled_blocks(model: Any, X: Any, counts: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield some rows at a time as a model scales them, and how much each counts.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    counts : ndarray of shape (n,)
        How much each counts.
    """
    table = X if is_sparse(X) else np.asarray(X)
    for block in gen_batches(table.shape[0], max(1, BLOCK_NUMBERS // table.shape[1])):
        rows = dense(table, block).astype(np.float64)
        yield np.where(model.constant_features_, 0.0, (rows - model.mean_) / model.scale_), counts[block]
