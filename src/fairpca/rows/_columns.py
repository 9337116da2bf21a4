"""Means, scales and products of columns, in two passes over the rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._typing import AnyArray, FloatArray
from fairpca.rows._protocol import Rows


@dataclass(frozen=True)
class ColumnSums:
    """Sums and ranges of columns.

    Attributes
    ----------
    n_rows : int
        Rows summed.
    total, smallest, largest : ndarray of shape (p,)
        Sum, minimum and maximum of each column.
    """

    n_rows: int
    total: FloatArray
    smallest: FloatArray
    largest: FloatArray

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
        return ColumnSums(
            self.n_rows + other.n_rows,
            self.total + other.total,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
        )


@dataclass(frozen=True)
class CentredProducts:
    """Sums of products of centred columns with themselves and with the weights.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        sum_i (x_i - mean)(x_i - mean)'.
    weighted : ndarray of shape (p, c)
        sum_i (x_i - mean) w_i'.
    """

    gram: FloatArray
    weighted: FloatArray

    def __add__(self, other: "CentredProducts") -> "CentredProducts":
        return CentredProducts(self.gram + other.gram, self.weighted + other.weighted)


@dataclass(frozen=True)
class ColumnSummary:
    """What standardisation and principal axes need to know of the columns.

    Attributes
    ----------
    mean : ndarray of shape (p,)
        Means.
    deviation : ndarray of shape (p,)
        Standard deviations (divisor n); exactly 0 for constant columns.
    covariance : ndarray of shape (p, p)
        Covariance (divisor n), with zeros for constant columns.
    weighted : ndarray of shape (p, c)
        sum_i (x_i - mean) w_i': the differences that the weights compare.
    """

    mean: FloatArray
    deviation: FloatArray
    covariance: FloatArray
    weighted: FloatArray

    @classmethod
    def of(cls, rows: Rows) -> "ColumnSummary":
        """Summarise rows."""
        sums = rows.total(sums_of_block)
        mean = sums.total / sums.n_rows
        products = rows.total(products_of_block, mean)
        covariance = products.gram / sums.n_rows
        deviation = np.sqrt(np.diag(covariance))
        # What is left of a constant column is rounding in its values or its mean, not variance.
        constant = (sums.smallest == sums.largest) | (deviation <= 1e-13 * np.abs(mean))
        covariance[constant] = covariance[:, constant] = 0.0
        return cls(mean, np.where(constant, 0.0, deviation), covariance, products.weighted)


def sums_of_block(X: AnyArray, weights: AnyArray) -> ColumnSums:
    """Return sums and ranges of the columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    weights : ndarray of shape (n_block, c)
        Not used.
    """
    total = X.sum(axis=0, dtype=np.float64)
    return ColumnSums(len(X), total, X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64))


def products_of_block(X: AnyArray, weights: AnyArray, mean: FloatArray) -> CentredProducts:
    """Return the products of the centred columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    weights : ndarray of shape (n_block, c)
        Their weights.
    mean : ndarray of shape (p,)
        What is subtracted.
    """
    centred = np.subtract(X, mean, dtype=np.float64)
    return CentredProducts(centred.T @ centred, centred.T @ weights)
