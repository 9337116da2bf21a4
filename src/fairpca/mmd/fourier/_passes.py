"""The two passes over the rows of a Fourier discrepancy: moments, then forces.

What is here runs on one block of rows, maybe in another process, and returns something small that can be added.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.comparison import RowWeights
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._forms import Factors
from fairpca.mmd.fourier._features import FourierFeatures
from fairpca.mmd.fourier._grid import FourierGrid
from fairpca.mmd.fourier._outliers import Outliers, crossing


@dataclass(frozen=True)
class BoxMoments:
    """Result of the first pass.

    Attributes
    ----------
    tensors : ndarray of shape (k, D_last, D_others)
        Sums of the features of the rows in the box with each of k weights.
    outliers : Outliers
        The rows outside.
    """

    tensors: FloatArray
    outliers: Outliers

    def __add__(self, other: "BoxMoments") -> "BoxMoments":
        return BoxMoments(self.tensors + other.tensors, self.outliers + other.outliers)


@dataclass(frozen=True)
class Forces:
    """Result of the second pass.

    Attributes
    ----------
    total : ndarray of shape (p, n_forms * d)
        sum_i (x_i - mean) f_i' with the force f_i, the gradient with respect to the position of row i, for each form.
    cross_products : ndarray of shape (k, k)
        sum_io w_ia k(y_i, y_o) w_ob over the rows i in the box and o outside.
    """

    total: FloatArray
    cross_products: FloatArray

    def __add__(self, other: "Forces") -> "Forces":
        return Forces(self.total + other.total, self.cross_products + other.cross_products)


@dataclass(frozen=True)
class ForceField:
    """What a row feels: tensors for rows in the box, and the rows outside one by one.

    Attributes
    ----------
    tensors : ndarray of shape (n_tensors, D_last, D_others)
        For each weight the coefficients of the potential.
    outliers : Outliers
        The rows outside.
    forms : ndarray of shape (n_forms, k, k)
        How much each weight of a row feels of what each weight makes.
    """

    tensors: FloatArray
    outliers: Outliers
    forms: FloatArray


@dataclass(frozen=True)
class _Piece:
    """A few rows: raw, and in the axes of the box, there at its centre and without weight where they are outside."""

    rows: AnyArray
    Y: FloatArray
    weights: FloatArray
    outside: BoolArray
    outside_weights: FloatArray

    def outliers(self, frame: Coordinates) -> Outliers:
        return Outliers(frame.centred(self.rows[self.outside]), self.outside_weights, len(self.outside_weights))


def absolute_weights(X: AnyArray, attached: AnyArray, columns: RowWeights) -> FloatArray:
    """Return sum_i |w_ic| of a block."""
    return np.abs(columns.of(attached)).sum(axis=0)


def moments_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, grid: FourierGrid
) -> BoxMoments:
    """Return the moments of the rows in the box, and the rows outside."""
    features = FourierFeatures(grid)
    tensors = np.zeros((weights.n_columns, *features.shape))
    outliers = Outliers.none(X.shape[1], weights.n_columns)
    for piece in _pieces(X, weights.of(attached), frame, grid):
        tensors += features.moments(piece.Y, piece.weights)
        outliers += piece.outliers(frame)
    return BoxMoments(tensors, outliers)


def cross_products_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, grid: FourierGrid, outliers: Outliers
) -> FloatArray:
    """Return the `Forces.cross_products` of a block."""
    Y_out = outliers.positions(frame, grid)
    pieces = _pieces(X, weights.of(attached), frame, grid)
    return np.sum(
        [
            piece.weights @ crossing(piece.Y, piece.weights, Y_out, outliers.weights, grid.mixture).potential.T
            for piece in pieces
        ],
        axis=0,
    )


def forces_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, grid: FourierGrid, field: ForceField
) -> Forces:
    """Return the forces on the rows of a block and on the outliers, summed as the gradients need them."""
    features, outliers = FourierFeatures(grid), field.outliers
    d, n_weights = frame.matrix.shape[1], weights.n_columns
    total, products = np.zeros((X.shape[1], len(field.forms) * d)), np.zeros((n_weights, n_weights))
    Y_out, factors = outliers.positions(frame, grid), Factors.of(field.forms)
    for piece in _pieces(X, weights.of(attached), frame, grid):
        felt = features.gradients(piece.Y, field.tensors)
        if outliers.count:
            crossed = crossing(piece.Y, piece.weights, Y_out, outliers.weights, grid.mixture)
            products += piece.weights @ crossed.potential.T
            felt += 2 * crossed.slopes
            outside = 2 * factors.forces(crossed.pulls, outliers.weights.T)
            total += outliers.rows.T @ outside.reshape(total.shape[1], -1).T
        forces = factors.forces(felt, piece.weights)
        total += frame.pulled_back(piece.rows, forces.reshape(total.shape[1], -1).T)
    return Forces(total, products)


def _pieces(X: AnyArray, weights: FloatArray, frame: Coordinates, grid: FourierGrid) -> Iterator[_Piece]:
    # The height is the same in both passes: products of other shapes may round differently, and a row on the edge of
    # the box must not be inside in one pass and outside in the other.
    height = FourierFeatures(grid).height
    for start in range(0, len(X), height):
        piece = slice(start, start + height)
        Y = np.subtract(frame.project(X[piece]).T, grid.centre[:, None])
        outside = np.any(np.abs(Y) > grid.half_width[:, None], axis=0)
        inside_weights = np.ascontiguousarray(weights[piece].T)
        if outside.any():
            Y[:, outside], inside_weights = 0.0, np.where(outside, 0.0, inside_weights)
        yield _Piece(X[piece], Y, inside_weights, outside, weights[piece][outside])
