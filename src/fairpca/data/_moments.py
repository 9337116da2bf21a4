"""First and second moments of rows with their attributes and labels: sums over blocks, which more blocks add to."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import MASS, EncodedColumn, Encoding
from fairpca.data._axes import PrincipalAxes
from fairpca.data._columns import (
    CentredProducts,
    ColumnScaling,
    ColumnSums,
    check_columns,
    checked_sums,
    products_with,
    scaled_covariance,
)
from fairpca.rows import FieldSums, Rows

_SAFE = 1e-100, 1e100
"""Columns in such units have squares that are numbers, and need not be divided."""


@dataclass(frozen=True, eq=False)
class BlockMoments(FieldSums):
    """Sums of products of columns, in units and about means that blocks have in common.

    Attributes
    ----------
    products : CentredProducts
        Of the features, and of these with the numbers z of attributes and labels.
    linear, squares : ndarray of shape (c,)
        sum_i m_i z_i and sum_i m_i z_i^2 with masses m.
    grams : ndarray of shape (c, p, p) or (0, p, p)
        Products of the features in each group, where they are asked for.
    """

    products: CentredProducts
    linear: FloatArray
    squares: FloatArray
    grams: FloatArray

    def spread(self, places: IntArray, width: int) -> "BlockMoments":
        """Return the same with the numbers z at other places among more of them, where the others are zero."""

        def moved(array: FloatArray) -> FloatArray:
            wide = np.zeros((*array.shape[:-1], width))
            wide[..., places] = array
            return wide

        products = replace(self.products, weighted=moved(self.products.weighted))
        grams = np.moveaxis(moved(np.moveaxis(self.grams, 0, -1)), -1, 0) if len(self.grams) else self.grams
        return BlockMoments(products, moved(self.linear), moved(self.squares), grams)


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
    z, p, masses = encoding.of(attached), X.shape[1], attached[:, MASS]
    weights = None if (masses == 1.0).all() else masses
    squares = np.einsum("ij,ij->j", z, z / np.maximum(masses[:, None], np.finfo(float).tiny))
    if not by_group:
        products = products_with(X, weights, z, mean, units)
        return BlockMoments(products, z.sum(axis=0), squares, np.zeros((0, p, p)))
    members = [column > 0 for column in z.T]
    groups = [products_with(X[own], None if weights is None else weights[own], z[own], mean, units) for own in members]
    # Everyone is in one group of the first attribute.
    products = reduce(add, groups[: encoding.columns[0].width])
    return BlockMoments(products, z.sum(axis=0), squares, np.stack([each.gram for each in groups]))


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of all rows seen so far.

    Attributes
    ----------
    encoding : Encoding
        Attributes and labels.
    sums : ColumnSums
        Sums and ranges of the features.
    mean, units : ndarray of shape (p,)
        What was subtracted and what divided: those of the rows that came first.
    block : BlockMoments
        The products.
    """

    encoding: Encoding
    sums: ColumnSums
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
        sums = checked_sums(rows, feature_names)
        sums.ranges.check_size()
        mean, units = (sums.ranges.mean, sums.ranges.units) if before is None else (before.mean, before.units)
        if _SAFE[0] < units.min() and units.max() < _SAFE[1]:
            units = np.ones_like(units)
        if before is not None:
            encoding = _shifted_as(encoding, before.encoding)
        own = cls(encoding, sums, mean, units, rows.total(moments_of_block, encoding, mean, units, by_group))
        return own if before is None else before._with(own)

    def _with(self, other: "Moments") -> "Moments":
        pairs = zip(self.encoding.columns, other.encoding.columns, strict=True)
        columns = [
            replace(mine, groups=mine.groups + tuple(group for group in theirs.groups if group not in mine.groups))
            for mine, theirs in pairs
        ]
        united = Encoding(tuple(columns))
        blocks = [each.block.spread(_places(each.encoding, united), united.width) for each in (self, other)]
        return replace(self, encoding=united, sums=self.sums + other.sums, block=blocks[0] + blocks[1])

    def scaled(self, standardize: bool) -> "ScaledMoments":
        """Return covariances of the centred, scaled columns.

        Parameters
        ----------
        standardize : bool
            Scale the columns to unit variance.
        """
        mass, block = self.sums.mass, self.block
        scaling, covariance, factors = scaled_covariance(block.products, self.sums, self.mean, self.units, standardize)
        left, both = block.products.total / mass, np.outer(factors, factors)
        cross = (block.products.weighted / mass - np.outer(left, block.linear / mass)) * factors[:, None]
        deviations = np.sqrt(np.maximum(block.squares / mass - (block.linear / mass) ** 2, 0.0))
        shares = block.linear[: len(block.grams)] / mass
        means = block.products.weighted.T[: len(block.grams)] / (mass * np.maximum(shares, 1e-300)[:, None])
        within = block.grams / (mass * np.maximum(shares, 1e-300)[:, None, None]) - means[:, :, None] * means[:, None]
        axes = PrincipalAxes.of_covariance(covariance, len(left), scaling.noise)
        return ScaledMoments(self.encoding, scaling, mass, axes, cross, deviations, shares, within * both)


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
