"""The passes over the rows of a Hermite discrepancy: moments, residuals, forces.

What is here runs on one block of rows, maybe in another process, and returns something small that can be added.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import RowWeights
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._forms import Factors
from fairpca.mmd.hermite._basis import HermiteBasis
from fairpca.mmd.residual import Residuals
from fairpca.rows import strata_of

PIECE_NUMBERS = 2**20
"""Features at a time, 8 MB, a share of the cache of all cores. Fewer would fit the cache of one core, but then threads
wait for each other's interpreter lock, which every short operation takes."""


@dataclass(frozen=True)
class Piece:
    """A few rows of a block.

    Attributes
    ----------
    place : slice
        Where in the block they are.
    rows : ndarray of shape (n, p)
        Raw rows.
    Y : ndarray of shape (d, n)
        The same in the axes of the basis.
    weights : ndarray of shape (k, n)
        Their weights.
    """

    place: slice
    rows: AnyArray
    Y: FloatArray
    weights: FloatArray


def moments_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, basis: HermiteBasis
) -> FloatArray:
    """Return sum_i w_ib Phi(y_i), of shape (k, D)."""
    total = np.zeros((weights.n_columns, basis.n_features))
    for piece in pieces(X, weights.of(attached), frame):
        total += basis.moments(piece.Y, piece.weights)
    return total


def residuals_of_block(
    X: AnyArray, attached: AnyArray, columns: RowWeights, frame: Coordinates, basis: HermiteBasis
) -> Residuals:
    """Return moments and residuals of a block."""
    total = Residuals.none(columns.n_columns, basis.n_features, frame.matrix.shape[1])
    strata = strata_of(attached)
    for piece in pieces(X, columns.of(attached), frame):
        squares = np.empty(len(piece.rows))
        moments = basis.moments(piece.Y, piece.weights, squares)
        total += Residuals.of(piece.Y, piece.weights, strata[piece.place], moments, squares)
    return total


def moment_rates_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis,
    direction: FloatArray,
) -> FloatArray:
    """Return moments for the weights w_c, then -w_c * sum_b (1 - t_b) y_b y'_b, then w_c * y'_b for each b.

    y' is the velocity direction'(x - mean) of a row; the result has the shape ((2 + d) * k, D).
    """
    n_weights, d = weights.n_columns, direction.shape[1]
    total = np.zeros(((2 + d) * n_weights, basis.n_features))
    moving = frame.towards(direction)
    for piece in pieces(X, weights.of(attached), frame):
        velocities = moving.project(piece.rows).T
        damping = -np.einsum("a,ai,ai->i", basis.decay, piece.Y, velocities)
        factors = np.concatenate([np.ones((1, len(piece.rows))), damping[None], velocities])
        columns = (factors[:, None] * piece.weights).reshape(len(total), -1)
        total += basis.moments(piece.Y, columns)
    return total


def forces_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis,
    potentials: FloatArray,
    forms: FloatArray,
) -> FloatArray:
    """Return sum_i (x_i - mean) f_i' with the force f_i, the gradient with respect to the position of row i.

    Parameters
    ----------
    X, attached : ndarray
        The block.
    weights : RowWeights
        The weights of its rows.
    frame : Coordinates
        From rows to the axes of the basis.
    basis : HermiteBasis
        The features.
    potentials : ndarray of shape (k, D)
        Coefficients c of the potential of each weight.
    forms : ndarray of shape (n_forms, k, k)
        How much each weight of a row feels of each potential.

    Returns
    -------
    total : ndarray of shape (p, n_forms * d)
        The sums for each form, side by side.
    """
    total, factors = np.zeros((X.shape[1], len(forms) * frame.matrix.shape[1])), Factors.of(forms)
    for piece in pieces(X, weights.of(attached), frame):
        forces = factors.forces(basis.gradients(piece.Y, potentials), piece.weights)
        total += frame.pulled_back(piece.rows, forces.reshape(total.shape[1], -1).T)
    return total


def force_rates_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis,
    field: FloatArray,
    rate_field: FloatArray,
    form: FloatArray,
    direction: FloatArray,
) -> FloatArray:
    """Return the rate of change of the sum of `forces_of_block`.

    Parameters
    ----------
    X, attached, weights, frame, basis
        See `forces_of_block`.
    field : ndarray of shape ((1 + d + d * d) * k, D)
        Coefficients c, c^(a) and c^(a)(b).
    rate_field : ndarray of shape ((1 + d) * k, D)
        The rates of c and c^(a).
    form : ndarray of shape (k, k)
        How much each weight of a row feels of each potential.
    direction : ndarray of shape (p, d)
        The velocity of row x is direction'(x - mean).
    """
    n_weights, d = weights.n_columns, direction.shape[1]
    total, workspace = np.zeros((X.shape[1], d)), workspace_for(basis.n_features)
    both, factors, moving = np.concatenate([field, rate_field]), Factors.of(form[None]), frame.towards(direction)
    for piece in pieces(X, weights.of(attached), frame, basis.n_features):
        Y, velocities = piece.Y, moving.project(piece.rows).T
        felt = (both @ basis.values(Y, workspace)).reshape(2 + 2 * d + d * d, n_weights, -1)
        numbers = factors.forces(felt, piece.weights)[0]
        here, slopes, curvatures, rate, slope_rates = np.split(numbers, np.cumsum([1, d, d * d, 1]))
        pull = basis.decay[:, None] * Y
        moved = np.einsum("bi,bi->i", velocities, slopes - pull * here)
        forces = slope_rates - pull * (rate + moved) - basis.decay[:, None] * velocities * here
        forces -= np.einsum("bi,bi->i", velocities, pull) * slopes
        forces += np.einsum("bi,abi->ai", velocities, curvatures.reshape(d, d, -1))
        total += frame.pulled_back(piece.rows, forces.T)
    return total


def pieces(X: AnyArray, weights: FloatArray, frame: Coordinates, n_features: int = 0) -> Iterator[Piece]:
    """Yield few rows at a time, so that what is made of them stays in the cache.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Raw rows.
    weights : ndarray of shape (n_block, k)
        Their weights.
    frame : Coordinates
        From rows to the axes of the basis.
    n_features : int, default=0
        Features of each row that are made, all of them at once.
    """
    height = _height(n_features)
    for start in range(0, len(X), height):
        place = slice(start, start + height)
        Y = np.ascontiguousarray(frame.project(X[place]).T)
        yield Piece(place, X[place], Y, np.ascontiguousarray(weights[place].T))


def _height(n_features: int) -> int:
    return max(32, min(4096, PIECE_NUMBERS // max(1, n_features)))


def workspace_for(n_features: int) -> FloatArray:
    """Return memory for the features of a piece: new memory for every piece would be in no cache.

    Parameters
    ----------
    n_features : int
        Features of each row.
    """
    return np.empty(n_features * _height(n_features))
