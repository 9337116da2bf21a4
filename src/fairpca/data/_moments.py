"""First and second moments of rows with their attributes and labels: sums over blocks, which more blocks add to."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import eigh

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import EncodedColumn, Encoding
from fairpca.data._axes import PrincipalAxes
from fairpca.data._columns import ColumnRanges, ColumnScaling, check_columns, extremes
from fairpca.rows import FieldSums, Rows

_SAFE = 1e-100, 1e100
"""Columns in such units have squares that are numbers, and need not be divided."""


@dataclass(frozen=True, eq=False)
class BlockMoments(FieldSums):
    """Sums of products of columns y = (x - mean) / units, with a mean and units that blocks have in common.

    Attributes
    ----------
    gram : ndarray of shape (p, p)
        sum_i m_i y_i y_i' with masses m.
    cross : ndarray of shape (p, 1 + c)
        sum_i m_i y_i z_i' with a one and the numbers z of attributes and labels.
    linear, squares : ndarray of shape (1 + c,)
        sum_i m_i z_i and sum_i m_i z_i^2.
    grams : ndarray of shape (c, p, p) or (0, p, p)
        Products of the features in each group, where they are asked for.
    smallest, largest : ndarray of shape (p,)
        Of each column x, in the type in which it came.
    """

    gram: FloatArray
    cross: FloatArray
    linear: FloatArray
    squares: FloatArray
    grams: FloatArray
    smallest: AnyArray
    largest: AnyArray

    def __add__(self, other: Self) -> Self:
        smallest, largest = np.minimum(self.smallest, other.smallest), np.maximum(self.largest, other.largest)
        return replace(super().__add__(other), smallest=smallest, largest=largest)

    @property
    def mass(self) -> float:
        """n, the sum of the masses."""
        return float(self.linear[0])

    def ranges(self, mean: FloatArray, units: FloatArray) -> ColumnRanges:
        """Return means and ranges of the columns x."""
        own = mean + units * (self.cross[:, 0] / self.mass)
        return ColumnRanges(own, self.smallest.astype(np.float64), self.largest.astype(np.float64), self.largest.dtype)

    def spread(self, places: IntArray, width: int) -> "BlockMoments":
        """Return the same with the numbers z at other places among more of them, where the others are zero."""

        def moved(array: FloatArray, where: IntArray, width: int) -> FloatArray:
            wide = np.zeros((width, *array.shape[1:]))
            wide[where] = array
            return wide

        behind = np.append(0, 1 + places), 1 + width
        linear, squares = (moved(each, *behind) for each in (self.linear, self.squares))
        grams = moved(self.grams, places, width) if len(self.grams) else self.grams
        return replace(self, cross=moved(self.cross.T, *behind).T, linear=linear, squares=squares, grams=grams)


def moments_of_block(
    X: AnyArray, attached: AnyArray, encoding: Encoding, mean: FloatArray, units: FloatArray, by_group: bool
) -> BlockMoments:
    """Return the moments of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Their masses, attributes and labels.
    encoding : Encoding
        How these become numbers.
    mean, units : ndarray of shape (p,)
        What is subtracted and what divides.
    by_group : bool
        Whether products are wanted for each group, too.
    """
    numbers, p = encoding.of(attached), X.shape[1]
    masses = numbers[:, 0]
    counts = slice(None) if masses.all() else masses > 0
    squares = np.einsum("ij,ij->j", numbers, numbers / np.maximum(masses[:, None], np.finfo(float).tiny))
    # Sums that are no numbers are looked at when all blocks have been added up.
    with np.errstate(over="ignore", invalid="ignore"):
        centred = np.subtract(X, mean, dtype=np.float64)
        if (units != 1.0).any():
            centred /= units
        # Here X is still in the cache.
        smallest, largest = extremes(X[counts], np.minimum, np.inf), extremes(X[counts], np.maximum, -np.inf)
        # For up to four columns, BLAS is faster one by one.
        cross = np.array([z @ centred for z in numbers.T]).T if numbers.shape[1] <= 4 else centred.T @ numbers
        if (masses != 1.0).any():
            centred *= np.sqrt(masses)[:, None]
        groups = [centred[column > 0] for column in numbers.T[1:]] if by_group else []
        grams = np.array([own.T @ own for own in groups]).reshape(-1, p, p)
        # Everyone is in one group of the first attribute.
        gram = grams[: encoding.columns[0].width].sum(axis=0) if by_group else centred.T @ centred
    return BlockMoments(gram, cross, numbers.sum(axis=0), squares, grams, smallest, largest)


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of all rows seen so far.

    Attributes
    ----------
    encoding : Encoding
        Attributes and labels.
    mean, units : ndarray of shape (p,)
        What was subtracted and what divided: those of the rows that came first.
    block : BlockMoments
        The products.
    """

    encoding: Encoding
    mean: FloatArray
    units: FloatArray
    block: BlockMoments

    @classmethod
    def of(
        cls,
        rows: Rows,
        encoding: Encoding,
        by_group: bool,
        before: "Moments | None" = None,
        feature_names: AnyArray | None = None,
    ) -> "Moments":
        """Sum over rows, and add what was summed before.

        One pass is enough: products about the mean of some rows become those about the mean of all, which is not so
        far from it that digits are lost.

        Parameters
        ----------
        rows : Rows
            Raw rows, with their masses, attributes and labels attached.
        encoding : Encoding
            How these become numbers.
        by_group : bool
            Whether products are wanted for each group.
        before : Moments, default=None
            Of other rows.
        feature_names : ndarray of shape (p,), default=None
            Names of the columns, for messages.
        """
        check_columns(rows.n_columns)
        if before is not None:
            mean, units, encoding = before.mean, before.units, _shifted_as(encoding, before.encoding)
            return before._with(
                cls(encoding, mean, units, _summed(rows, encoding, mean, units, by_group, feature_names))
            )
        mean = _mean_of_some(rows)
        units = np.ones_like(mean)
        block = _summed(rows, encoding, mean, units, by_group, feature_names)
        ranges = block.ranges(mean, units)
        ranges.check_size()
        if not _SAFE[0] < ranges.units.min() <= ranges.units.max() < _SAFE[1]:
            mean, units = ranges.mean, ranges.units
            block = _summed(rows, encoding, mean, units, by_group, feature_names)
        return cls(encoding, mean, units, block)

    def _with(self, other: "Moments") -> "Moments":
        pairs = zip(self.encoding.columns, other.encoding.columns, strict=True)
        columns = [
            replace(mine, groups=mine.groups + tuple(group for group in theirs.groups if group not in mine.groups))
            for mine, theirs in pairs
        ]
        united = Encoding(tuple(columns))
        blocks = [each.block.spread(_places(each.encoding, united), united.width) for each in (self, other)]
        return replace(self, encoding=united, block=blocks[0] + blocks[1])

    def scaled(self, standardize: bool) -> "ScaledMoments":
        """Return covariances of the centred, scaled columns.

        Parameters
        ----------
        standardize : bool
            Scale the columns to unit variance.
        """
        block, ranges = self.block, self.block.ranges(self.mean, self.units)
        left, means = block.cross[:, 0] / block.mass, block.linear / block.mass
        covariance = block.gram / block.mass - np.outer(left, left)
        scaling = ColumnScaling.of(ranges, self.units * np.sqrt(np.maximum(np.diag(covariance), 0.0)), standardize)
        factors = np.where(scaling.constant, 0.0, self.units / scaling.scale)
        both = np.outer(factors, factors)
        cross = (block.cross / block.mass - np.outer(left, means)) * factors[:, None]
        deviations = np.sqrt(np.maximum(block.squares / block.mass - means**2, 0.0))
        shares = means[1 : 1 + len(block.grams)]
        masses = block.mass * np.maximum(shares, 1e-300)
        own = block.cross.T[1 : 1 + len(block.grams)] / masses[:, None]
        within = block.grams / masses[:, None, None] - own[:, :, None] * own[:, None]
        axes = PrincipalAxes.of_covariance(covariance * both, len(left), scaling.noise)
        numbers = self.encoding, scaling, block.mass, axes
        return ScaledMoments(*numbers, cross[:, 1:], deviations[1:], shares, within * both)


def _mean_of_some(rows: Rows, most: int = 1000) -> FloatArray:
    """Return the mean of rows spread over the table, near enough to that of all for products about it."""
    some, _ = rows.sample(np.unique(np.linspace(0, rows.n_rows - 1, most).astype(np.int64)))
    with np.errstate(invalid="ignore"):
        mean: FloatArray = np.sum(some.astype(np.float64) / len(some), axis=0)
    return mean


def _summed(
    rows: Rows, encoding: Encoding, mean: FloatArray, units: FloatArray, by_group: bool, feature_names: AnyArray | None
) -> BlockMoments:
    """Return moments about a mean, in units; numbers that are not finite are refused."""
    block = rows.total(moments_of_block, encoding, mean, units, by_group)
    if not np.isfinite(np.diag(block.gram)).all():
        rows.check_finite(feature_names)
    return block


@dataclass(frozen=True, eq=False)
class ScaledMoments:
    """Covariances (divisor n) of centred, scaled columns with each other and with attributes and labels.

    Attributes
    ----------
    encoding : Encoding
        Attributes and labels, of c numbers.
    scaling : ColumnScaling
        Means and scales.
    mass : float
        n, the sum of the masses of the rows.
    axes : PrincipalAxes
        Principal axes of the columns, with all null axes.
    cross : ndarray of shape (p, c)
        Cov(x, z) for each number z.
    deviations : ndarray of shape (c,)
        Standard deviation of each number.
    shares : ndarray of shape (c,) or (0,)
        Share of each group, where groups were asked for.
    within : ndarray of shape (c, p, p) or (0, p, p)
        Covariance of each group about its own mean.
    """

    encoding: Encoding
    scaling: ColumnScaling
    mass: float
    axes: PrincipalAxes
    cross: FloatArray
    deviations: FloatArray
    shares: FloatArray
    within: FloatArray

    def correlations(self, of_label: bool = False) -> FloatArray:
        """Return W Cov(x, z) for attributes or labels, each z of unit variance, on the live axes; W = S^(-1/2).

        Their singular values are at most 1 for a single number.
        """
        axes = self.axes
        wanted = np.concatenate(
            [np.zeros(0, bool), *(np.full(each.width, each.is_label == of_label) for each in self.encoding.columns)]
        ) & (self.deviations > 0)
        cross = axes.axes[:, : axes.rank].T @ (self.cross[:, wanted] / self.deviations[wanted])
        whitened: FloatArray = cross / np.sqrt(axes.variances[: axes.rank, None])
        return whitened


def orthonormal(matrix: FloatArray, least: float = 1e-8) -> FloatArray:
    """Return an orthonormal basis, as columns, of what a matrix spans by singular values above a bound."""
    left, singular, _ = np.linalg.svd(matrix, full_matrices=False)
    basis: FloatArray = left[:, singular > least]
    return basis


def leading(matrix: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues of a symmetric matrix, decreasing, and their eigenvectors as columns."""
    if not (count := min(count, len(matrix))):
        return np.zeros(0), np.zeros((len(matrix), 0))
    values, vectors = eigh(matrix, subset_by_index=(len(matrix) - count, len(matrix) - 1))
    return values[::-1], vectors[:, ::-1]


def _places(encoding: Encoding, united: Encoding) -> IntArray:
    """Return where the numbers of an encoding are in one with more groups."""
    places, start = [], 0
    for mine, theirs in zip(encoding.columns, united.columns, strict=True):
        places += [start + (theirs.groups.index(group) if mine.groups else 0) for group in mine.groups or (None,)]
        start += theirs.width
    return np.array(places, dtype=np.int64)


def _shifted_as(encoding: Encoding, before: Encoding) -> Encoding:
    """Return an encoding with the shifts of an earlier one, which must be of the same columns."""

    def kinds(columns: tuple[EncodedColumn, ...]) -> list[tuple[str, bool]]:
        return [(column.name, bool(column.groups)) for column in columns]

    if kinds(encoding.columns) != kinds(before.columns):
        words = [
            ", ".join(
                f"{name or 'one'} ({'groups' if grouped else 'numbers'})" for name, grouped in kinds(each.columns)
            )
            for each in (encoding, before)
        ]
        raise ValueError(
            f"sensitive_features has the columns {words[0] or 'of none'}, but earlier blocks had {words[1] or 'none'}; "
            'pass the same with every block, and say sensitive_kind="continuous" or "groups" of numbers.'
        )
    columns = [replace(own, shift=first.shift) for own, first in zip(encoding.columns, before.columns, strict=True)]
    return Encoding(tuple(columns))
