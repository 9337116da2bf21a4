"""Ranges, means, scales and products of columns, and the variance that components keep, in two passes over the rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.checks import LARGEST, SMALLEST
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.comparison import RowWeights, masses_of
from fairpca.rows import FieldSums, Rows

MOST_COLUMNS = 10_000
"""Columns up to which a covariance is made: 800 MB, and a few times that on the way."""

LARGEST_ENTRY = 1e300
"""Largest number in a table: sums of many still are numbers."""


@dataclass(frozen=True)
class ColumnRanges:
    """Where the numbers of each column lie, and the type that they came in.

    Attributes
    ----------
    mean, smallest, largest : ndarray of shape (p,)
        Mean, minimum and maximum.
    dtype : dtype
        float32 or float64.
    """

    mean: FloatArray
    smallest: FloatArray
    largest: FloatArray
    dtype: "np.dtype[Any]"

    @property
    def units(self) -> FloatArray:
        """Powers of two just above the largest distance from the mean: squares in these units stay within [0, 1]."""
        reach = np.maximum(self.largest - self.mean, self.mean - self.smallest)
        return np.ldexp(1.0, np.where(reach > 0, np.frexp(reach)[1], 0))

    def check_size(self) -> None:
        """Refuse numbers whose sums would overflow."""
        largest = float(np.maximum(np.abs(self.smallest), np.abs(self.largest)).max())
        if largest > LARGEST_ENTRY:
            raise ValueError(
                f"X has numbers up to {largest:.3g}, beyond {LARGEST_ENTRY:g} sums over rows overflow; divide the "
                "columns by a constant first."
            )


@dataclass(frozen=True)
class ColumnScaling:
    """Means and scales.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        What is subtracted and what divides.
    constant : ndarray of shape (p,) of bool
        Columns that are set to 0.
    noise : float
        Root of the sum over columns of the squared rounding of their numbers, in the scaled units: rows cannot differ
        by less in any direction.
    """

    mean: FloatArray
    scale: FloatArray
    constant: BoolArray
    noise: float

    @classmethod
    def of(cls, ranges: ColumnRanges, deviation: FloatArray, standardize: bool) -> "ColumnScaling":
        """Choose the scales.

        Parameters
        ----------
        ranges : ColumnRanges
            Means and ranges.
        deviation : ndarray of shape (p,)
            Standard deviations (divisor n).
        standardize : bool
            Divide the columns by their deviations.
        """
        smallest, largest = ranges.smallest, ranges.largest
        rounding = float(np.finfo(ranges.dtype).eps) * np.maximum(np.abs(smallest), np.abs(largest))
        # What rounding has left of a column is no variance.
        constant = (smallest == largest) | (deviation <= 2 * rounding)
        if np.all(smallest == largest):
            raise ValueError("X has zero variance in every column; there is nothing to keep.")
        if constant.all():
            raise ValueError(
                f"X differs in no column by more than rounding: deviations are at most {deviation.max():.2g} around "
                f"means up to {np.abs(ranges.mean).max():.2g}. Subtract what the numbers have in common before they "
                "are rounded."
            )
        lost = ~constant & (deviation < np.finfo(np.float64).smallest_normal)
        if lost.any():
            column = int(np.flatnonzero(lost)[0])
            raise ValueError(
                f"X differs in column {column} by {deviation[column]:.2g}, so little that numbers have lost their "
                "digits; change its unit, or leave it out."
            )
        if not standardize and not SMALLEST <= deviation[~constant].max() <= LARGEST:
            raise ValueError(
                f"X has deviations up to {deviation[~constant].max():.3g}, whose squares are not normal numbers; use "
                f"standardize=True, or units in which they lie between {SMALLEST:g} and {LARGEST:g}."
            )
        scale = np.where(constant, 1.0, deviation) if standardize else np.ones_like(deviation)
        noise = np.where(constant, 0.0, rounding / scale)
        return cls(ranges.mean, scale, constant, float(np.linalg.norm(noise)))


def standardized(X: AnyArray, standardize: bool, masses: FloatArray | None = None) -> tuple[FloatArray, ColumnScaling]:
    """Return the centred, scaled rows in float64, exact zeros in constant columns, and how they were made.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, which may be lost.
    standardize : bool
        Scale the columns to unit variance.
    masses : ndarray of shape (n,), default=None
        Masses of the rows, all above 0; by default 1.
    """
    rows = X.astype(np.float64, copy=False)
    smallest, largest = rows.min(axis=0), rows.max(axis=0)
    ColumnRanges(smallest, smallest, largest, X.dtype).check_size()
    mean = np.average(rows, axis=0, weights=masses)
    rows -= mean
    # A mean far from 0 loses digits that the differences from it still have.
    left = np.average(rows, axis=0, weights=masses)
    rows -= left
    ranges = ColumnRanges(mean + left, smallest, largest, X.dtype)
    units = ranges.units
    rows /= units
    squares = np.einsum("ij,ij->j", rows, rows) if masses is None else np.einsum("i,ij,ij->j", masses, rows, rows)
    deviation = np.sqrt(squares / (len(rows) if masses is None else masses.sum()))
    scaling = ColumnScaling.of(ranges, units * deviation, standardize)
    rows[:, scaling.constant] = 0.0
    if standardize:
        rows /= np.where(scaling.constant, 1.0, deviation)
    else:
        rows *= units
    return rows, scaling


@dataclass(frozen=True)
class ColumnSums:
    """Sums and ranges of columns.

    Attributes
    ----------
    mass : float
        Sum of the masses of the rows, their number where they have none.
    total, smallest, largest : ndarray of shape (p,)
        Sum, weighted by the masses, minimum and maximum of each column.
    dtype : dtype
        Type of the numbers.
    """

    mass: float
    total: FloatArray
    smallest: FloatArray
    largest: FloatArray
    dtype: "np.dtype[Any]"

    def __add__(self, other: "ColumnSums") -> "ColumnSums":
        return ColumnSums(
            self.mass + other.mass,
            self.total + other.total,
            np.minimum(self.smallest, other.smallest),
            np.maximum(self.largest, other.largest),
            self.dtype,
        )

    @property
    def ranges(self) -> ColumnRanges:
        """Means and ranges."""
        return ColumnRanges(self.total / self.mass, self.smallest, self.largest, self.dtype)


@dataclass(frozen=True, eq=False)
class CentredProducts(FieldSums):
    """Sums of products of centred columns, in units that keep squares from overflowing, and with the weights.

    Attributes
    ----------
    total : ndarray of shape (p,)
        sum_i m_i y_i with masses m and y = (x - mean) / units: what the rounding of the mean has left.
    gram : ndarray of shape (p, p)
        sum_i m_i y_i y_i'.
    weighted : ndarray of shape (p, c)
        sum_i y_i w_i'.
    """

    total: FloatArray
    gram: FloatArray
    weighted: FloatArray


@dataclass(frozen=True)
class ColumnSummary:
    """What standardisation and principal axes need to know of the columns.

    Attributes
    ----------
    scaling : ColumnScaling
        Means and scales.
    mass : float
        n, the sum of the masses of the rows.
    covariance : ndarray of shape (p, p)
        Covariance (divisor n) of the scaled columns, with zeros for constant ones.
    weighted : ndarray of shape (p, c)
        sum_i (x_i - mean) w_i' of the scaled columns: the differences that the weights compare.
    """

    scaling: ColumnScaling
    mass: float
    covariance: FloatArray
    weighted: FloatArray


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
    check_columns(rows.n_columns)
    sums = checked_sums(rows, feature_names)
    sums.ranges.check_size()
    mean, units = sums.ranges.mean, sums.ranges.units
    products = rows.total(products_of_block, columns, mean, units)
    scaling, covariance, factors = scaled_covariance(products, sums, mean, units, standardize)
    return ColumnSummary(scaling, sums.mass, covariance, products.weighted * factors[:, None])


def scaled_covariance(
    products: CentredProducts, sums: ColumnSums, mean: FloatArray, units: FloatArray, standardize: bool
) -> tuple[ColumnScaling, FloatArray, FloatArray]:
    """Return how columns are scaled, their covariance (divisor n) then, and what their products are multiplied by.

    Parameters
    ----------
    products : CentredProducts
        Of the columns.
    sums : ColumnSums
        Their sums and ranges.
    mean, units : ndarray of shape (p,)
        What was subtracted for the products, and what divided.
    standardize : bool
        Scale the columns to unit variance.
    """
    left = products.total / sums.mass
    covariance = products.gram / sums.mass - np.outer(left, left)
    ranges = replace(sums.ranges, mean=mean + units * left)
    scaling = ColumnScaling.of(ranges, units * np.sqrt(np.maximum(np.diag(covariance), 0.0)), standardize)
    factors = np.where(scaling.constant, 0.0, units / scaling.scale)
    return scaling, covariance * np.outer(factors, factors), factors


def checked_sums(rows: Rows, feature_names: AnyArray | None = None) -> ColumnSums:
    """Return sums and ranges of columns; numbers that are not finite are refused.

    Parameters
    ----------
    rows : Rows
        Raw rows.
    feature_names : ndarray of shape (p,), default=None
        Names of the columns, for messages.
    """
    sums = rows.total(sums_of_block)
    if not np.isfinite(sums.smallest + sums.largest).all():
        rows.check_finite(feature_names)
    return sums


def check_columns(n_columns: int) -> None:
    """Refuse more columns than a covariance is made of."""
    if n_columns > MOST_COLUMNS:
        raise ValueError(
            f"X has {n_columns} columns, whose covariance would take {8e-9 * n_columns**2:.1f} GB; with as many rows "
            f"at most {MOST_COLUMNS} columns are allowed: reduce them first, for example by a plain PCA to some "
            'hundred dimensions, or, where rows in memory are fewer than columns, use mmd="exact".'
        )


def sums_of_block(X: AnyArray, attached: AnyArray) -> ColumnSums:
    """Return sums and ranges of the columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Has their masses.
    """
    masses = masses_of(attached)
    if masses is None or (masses == 1.0).all():
        mass, total = float(len(X)), X.sum(axis=0, dtype=np.float64)
    else:
        if not masses.all():
            X, masses = X[masses > 0], masses[masses > 0]
        mass, total = float(masses.sum()), masses @ X.astype(np.float64)
    # A block may have no row with a mass.
    smallest, largest = extremes(X, np.minimum, np.inf), extremes(X, np.maximum, -np.inf)
    return ColumnSums(mass, total, smallest.astype(np.float64), largest.astype(np.float64), X.dtype)


def extremes(X: AnyArray, function: np.ufunc, initial: float) -> AnyArray:
    """Return the least or largest entry of each column of a block.

    numpy compares one row with another at a time, which for 40 columns takes ten times as long as for thousands: some
    rows are laid side by side, and what is left of each column in these is compared at the end.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    function : ufunc
        `numpy.minimum` or `numpy.maximum`.
    initial : float
        That of no rows.
    """
    n, p = X.shape
    beside = max(1, min(n, 2048 // p))
    whole = n - n % beside
    sides = function.reduce(X[:whole].reshape(-1, beside * p), axis=0, initial=initial).reshape(beside, p)
    found: AnyArray = function.reduce(np.vstack([sides, X[whole:]]), axis=0, initial=initial)
    return found


def products_of_block(
    X: AnyArray, attached: AnyArray, columns: RowWeights, mean: FloatArray, units: FloatArray
) -> CentredProducts:
    """Return the products of the centred columns of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Their strata and masses.
    columns : RowWeights
        Their weights.
    mean, units : ndarray of shape (p,)
        What is subtracted and what divides.
    """
    masses, weights = masses_of(attached), columns.of(attached)
    centred = np.subtract(X, mean, dtype=np.float64)
    if (units != 1.0).any():
        centred /= units
    weighted = centred.T @ weights
    if masses is None:
        return CentredProducts(centred.sum(axis=0), centred.T @ centred, weighted)
    centred *= np.sqrt(masses)[:, None]
    return CentredProducts(np.sqrt(masses) @ centred, centred.T @ centred, weighted)


@dataclass(frozen=True, eq=False)
class Spread(FieldSums):
    """Squares of the centred, scaled rows, in a unit in which they neither overflow nor vanish.

    Attributes
    ----------
    total : float
        A multiple of tr S; exactly 0 where no column varies.
    kept : float
        The same multiple of tr V'SV.
    """

    total: float
    kept: float

    @classmethod
    def of(cls, rows: Rows, scale: FloatArray | float, components: FloatArray) -> "Spread":
        """Measure rows.

        Parameters
        ----------
        rows : Rows
            Raw rows, with their strata and, where they have them, their masses attached.
        scale : ndarray of shape (p,) or float
            What divides the columns.
        components : ndarray of shape (d, p)
            V', orthonormal rows, in the scaled columns.
        """
        sums = checked_sums(rows)
        if np.all(sums.smallest == sums.largest):
            return cls(0.0, 0.0)
        ranges = sums.ranges
        if not np.isfinite(ranges.mean).all():
            ranges.check_size()
        unit = scale * float((ranges.units / scale).max())
        return rows.total(squares_of_block, ranges.mean, unit, components)


def squares_of_block(
    X: AnyArray, attached: AnyArray, mean: FloatArray, scale: FloatArray | float, components: FloatArray
) -> Spread:
    """Return the squares of the centred, scaled rows of a block, and of their projections.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Has their masses.
    mean : ndarray of shape (p,)
        What is subtracted.
    scale : ndarray of shape (p,) or float
        What divides.
    components : ndarray of shape (d, p)
        V'.
    """
    centred = np.subtract(X, mean, dtype=np.float64)
    centred /= scale
    masses = masses_of(attached)
    if masses is not None:
        centred *= np.sqrt(masses)[:, None]
    projected = centred @ components.T
    return Spread(float(np.vdot(centred, centred)), float(np.vdot(projected, projected)))
