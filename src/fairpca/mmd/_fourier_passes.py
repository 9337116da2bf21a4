"""The two passes over the rows of a Fourier discrepancy: moments, then forces.

What is here runs on one block of rows, maybe in another process, and returns something small that can be added.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairpca._typing import AnyArray, BoolArray, FloatArray
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._fourier_features import FourierFeatures
from fairpca.mmd._fourier_grid import FourierGrid
from fairpca.mmd._fourier_outliers import Outliers, cross_force_rates, cross_forces, cross_values


@dataclass(frozen=True)
class Moments:
    """Result of the first pass.

    Attributes
    ----------
    tensors : ndarray of shape (n_columns, D_last, D_others)
        Weighted sums of the features of the rows in the box.
    outliers : Outliers
        The rows outside.
    """

    tensors: FloatArray
    outliers: Outliers

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(self.tensors + other.tensors, self.outliers + other.outliers)


@dataclass(frozen=True)
class Forces:
    """Result of the second pass.

    Attributes
    ----------
    total : ndarray of shape (p, d)
        sum_i (x_i - mean) f_i' with the force f_i, the gradient with respect to the position of row i.
    cross_values : ndarray of shape (n_columns,)
        sum_io w_ic k(y_i, y_o) w_oc over the rows i in the box and o outside.
    """

    total: FloatArray
    cross_values: FloatArray

    def __add__(self, other: "Forces") -> "Forces":
        return Forces(self.total + other.total, self.cross_values + other.cross_values)


@dataclass(frozen=True)
class ForceField:
    """What a row feels: tensors for rows in the box, and the rows outside one by one.

    Attributes
    ----------
    tensors : ndarray of shape (n_tensors, D_last, D_others)
        For each coordinate a and column c the coefficients of the force on a unit of weight. For rates of change
        those at rest come first, then their derivatives in each coordinate b.
    outliers : Outliers
        The rows outside.
    scales : ndarray of shape (n_columns,)
        The multiplier of each column.
    """

    tensors: FloatArray
    outliers: Outliers
    scales: FloatArray


@dataclass(frozen=True)
class _Piece:
    """A few rows: centred, in the axes of the box, with weights that are 0 outside of it."""

    rows: FloatArray
    Y: FloatArray
    weights: FloatArray
    outside: BoolArray
    outside_weights: FloatArray

    def outliers(self) -> Outliers:
        return Outliers(self.rows[self.outside], self.outside_weights, len(self.outside_weights))


def absolute_weights(X: AnyArray, weights: AnyArray) -> FloatArray:
    """Return sum_i |w_ic| of a block."""
    return np.abs(weights).sum(axis=0)


def moments_of_block(X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid) -> Moments:
    """Return the moments of the rows in the box, and the rows outside."""
    features = FourierFeatures(grid)
    tensors = np.zeros((weights.shape[1], *features.shape))
    outliers = Outliers.none(X.shape[1], weights.shape[1])
    for piece in _pieces(X, weights, frame, grid):
        tensors += features.moments(piece.Y, piece.weights)
        outliers += piece.outliers()
    return Moments(tensors, outliers)


def moment_rates_of_block(
    X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid, direction: FloatArray
) -> Moments:
    """Return the same for the columns w_c and then, coordinate by coordinate, w_c * y'_b with the velocities y'."""
    features = FourierFeatures(grid)
    n_columns, d = weights.shape[1], direction.shape[1]
    tensors = np.zeros(((1 + d) * n_columns, *features.shape))
    outliers = Outliers.none(X.shape[1], n_columns)
    for piece in _pieces(X, weights, frame, grid):
        velocities = direction.T @ piece.rows.T
        moving = (piece.weights * velocities[:, None]).reshape(d * n_columns, -1)
        tensors += features.moments(piece.Y, np.concatenate([piece.weights, moving]))
        outliers += piece.outliers()
    return Moments(tensors, outliers)


def cross_values_of_block(
    X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid, outliers: Outliers
) -> FloatArray:
    """Return the `Forces.cross_values` of a block."""
    Y_out = outliers.positions(frame, grid)
    pieces = _pieces(X, weights, frame, grid)
    return np.sum([cross_values(piece.Y, piece.weights, Y_out, outliers.weights) for piece in pieces], axis=0)


def forces_of_block(X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid, field: ForceField) -> Forces:
    """Return the forces on the rows of a block and on the outliers, summed as the gradient needs them."""
    features, outliers = FourierFeatures(grid), field.outliers
    d, n_columns = frame.matrix.shape[1], weights.shape[1]
    total, values = np.zeros((X.shape[1], d)), np.zeros(n_columns)
    Y_out = outliers.positions(frame, grid)
    for piece in _pieces(X, weights, frame, grid):
        felt = features.contract(piece.Y, field.tensors).reshape(d, n_columns, -1)
        forces = (felt * piece.weights).sum(axis=1)
        if outliers.count:
            cross, inside, outside = cross_forces(piece.Y, piece.weights, Y_out, outliers.weights, field.scales)
            values += cross
            forces += inside
            total += outliers.rows.T @ outside.T
        total += piece.rows.T @ forces.T
    return Forces(total, values)


def force_rates_of_block(
    X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid, field: ForceField, direction: FloatArray
) -> FloatArray:
    """Return the rate of change of `Forces.total` when row x has the velocity direction'(x - mean)."""
    features, outliers = FourierFeatures(grid), field.outliers
    d, n_columns = direction.shape[1], weights.shape[1]
    total = np.zeros((X.shape[1], d))
    Y_out, rate_out = outliers.positions(frame, grid), direction.T @ outliers.rows.T
    for piece in _pieces(X, weights, frame, grid):
        velocities = direction.T @ piece.rows.T
        at_rest, *moved = features.contract(piece.Y, field.tensors).reshape(1 + d, d, n_columns, -1)
        felt = at_rest + np.einsum("bi,baci->aci", velocities, np.stack(moved))
        forces = (felt * piece.weights).sum(axis=1)
        if outliers.count:
            inside, outside = cross_force_rates(
                piece.Y, piece.weights, Y_out, outliers.weights, field.scales, velocities, rate_out
            )
            forces += inside
            total += outliers.rows.T @ outside.T
        total += piece.rows.T @ forces.T
    return total


def _pieces(X: AnyArray, weights: AnyArray, frame: Coordinates, grid: FourierGrid) -> Iterator[_Piece]:
    # The height is the same in both passes: products of other shapes may round differently, and a row on the edge of
    # the box must not be inside in one pass and outside in the other.
    height = FourierFeatures(grid).height
    for start in range(0, len(X), height):
        piece = slice(start, start + height)
        rows = frame.centred(X[piece])
        Y = frame.matrix.T @ rows.T - grid.centre[:, None]
        outside = np.any(np.abs(Y) > grid.half_width[:, None], axis=0)
        yield _Piece(rows, Y, np.where(outside, 0.0, weights[piece].T), outside, weights[piece][outside])
