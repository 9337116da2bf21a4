"""Variance of rows that may count more or less."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray

BLOCK_ROWS = 8192
"""Rows that are scaled at a time: the table may be mapped from a file."""


def scaled_rows(model: Any, X: Any) -> FloatArray:
    """Return rows as a model scales them.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like of shape (n, p)
        Rows.
    """
    rows = np.asarray(X, dtype=np.float64)
    return np.where(model.constant_features_, 0.0, (rows - model.mean_) / model.scale_)


def spread_of(model: Any, X: Any, masses: FloatArray | None) -> float:
    """Return the sum of the variances of the columns as a model scales them; 0 where rows do not vary.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like of shape (n, p)
        Rows.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    table = np.asarray(X)
    counts = np.ones(len(table)) if masses is None else masses
    total = float(counts.sum())
    mean = sum(weights @ rows for rows, weights in _blocks(model, table, counts)) / total
    first = scaled_rows(model, table[np.flatnonzero(counts)[:1]])
    squares, varies = 0.0, False
    for rows, weights in _blocks(model, table, counts):
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


def _blocks(model: Any, table: Any, counts: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    for start in range(0, len(table), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        yield scaled_rows(model, table[block]), counts[block]
