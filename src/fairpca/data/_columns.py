"""Ranges, means, scales and products of columns, in two passes over the rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import RowWeights
from fairpca.data._scaling import ColumnRanges, ColumnScaling
from fairpca.rows import Rows


@dataclass(frozen=True)
class ColumnSums:
    """Sums and ranges of columns.

    Attributes
    ----------
    n_rows : int
        Rows summed.
    total, smallest, largest : ndarray of shape (p,)
        Sum, minimum and maximum of each column.
    dtype : dtype
        Type of the numbers.
    """

    n_rows: int
    total: FloatArray
    smallest: FloatArray
    largest: FloatArray
    dtype: "np.dtype[Any]"

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
        return ColumnSums(
            self.n_rows + other.n_rows,
            self.total + other.total,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
            self.dtype,
        )

    @property
    def ranges(self) -> ColumnRanges:
        """Means and ranges."""
        return ColumnRanges(self.total / self.n_rows, self.smallest, self.largest, self.dtype)


@dataclass(frozen=True)
class CentredProducts:
    """Sums of products of centred columns, in units that keep squares from overflowing, and with the weights.

    Attributes
    ----------
    total : ndarray of shape (p,)
        sum_i y_i with y = (x - mean) / units: what the rounding of the mean has left.
    gram : ndarray of shape (p, p)
        sum_i y_i y_i'.
    weighted : ndarray of shape (p, c)
        sum_i y_i w_i'.
    """

    total: FloatArray
    gram: FloatArray
    weighted: FloatArray

    def __add__(self, other: "CentredProducts") -> "CentredProducts":
        return CentredProducts(self.total + other.total, self.gram + other.gram, self.weighted + other.weighted)


@dataclass(frozen=True)
class ColumnSummary:
    """What standardisation and principal axes need to know of the columns.

    Attributes
    ----------
    scaling : ColumnScaling
        Means and scales.
    covariance : ndarray of shape (p, p)
        Covariance (divisor n) of the scaled columns, with zeros for constant ones.
    weighted : ndarray of shape (p, c)
        sum_i (x_i - mean) w_i' of the scaled columns: the differences that the weights compare.
    """

    scaling: ColumnScaling
    covariance: FloatArray
    weighted: FloatArray

    @classmethod
    def of(cls, rows: Rows, sums: ColumnSums, standardize: bool, columns: RowWeights) -> "ColumnSummary":
        """Summarise rows.

        Parameters
        ----------
        rows : Rows
            Raw rows.
        sums : ColumnSums
            Their sums, see `sums_of_block`.
        standardize : bool
            Scale the columns to unit variance.
        columns : RowWeights
            Weights with which rows are summed.
        """
        ranges = sums.ranges
        ranges.check_size()
        units = ranges.units
        products = rows.total(products_of_block, columns, ranges.mean, units)
        left = products.total / sums.n_rows
        covariance = products.gram / sums.n_rows - np.outer(left, left)
        ranges = replace(ranges, mean=ranges.mean + units * left)
        scaling = ColumnScaling.of(ranges, units * np.sqrt(np.diag(covariance)), standardize)
        factors = np.where(scaling.constant, 0.0, units / scaling.scale)
        return cls(scaling, covariance * np.outer(factors, factors), products.weighted * factors[:, None])


def summarised(
    rows: Rows, standardize: bool, columns: RowWeights, feature_names: AnyArray | None = None
) -> ColumnSummary:
    """Return means, scales and covariance of columns; numbers that are not finite are refused.

    Parameters
    ----------
    rows : Rows
        Raw rows.
    standardize : bool
        Scale the columns to unit variance.
    columns : RowWeights
        Weights with which rows are summed.
    feature_names : ndarray of shape (p,), default=None
        Names of the columns, for messages.
    """
    sums = rows.total(sums_of_block)
    if not np.isfinite(sums.smallest + sums.largest).all():
        rows.check_finite(feature_names)
    return ColumnSummary.of(rows, sums, standardize, columns)


def sums_of_block(X: AnyArray, attached: AnyArray) -> ColumnSums:
    """Return sums and ranges of the columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    """
    total = X.sum(axis=0, dtype=np.float64)
    return ColumnSums(len(X), total, X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64), X.dtype)


def products_of_block(
    X: AnyArray, attached: AnyArray, columns: RowWeights, mean: FloatArray, units: FloatArray
) -> CentredProducts:
    """Return the products of the centred columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Their strata.
    columns : RowWeights
        Their weights.
    mean, units : ndarray of shape (p,)
        What is subtracted and what divides.
    """
    centred = np.subtract(X, mean, dtype=np.float64)
    centred /= units
    return CentredProducts(centred.sum(axis=0), centred.T @ centred, centred.T @ columns.of(attached))
