"""The passes over the rows of a Hermite discrepancy: moments, residuals, forces.

What is here runs on one block of rows, maybe in another process, and returns something small that can be added.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator

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


def moments_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, basis: HermiteBasis
) -> FloatArray:
    """Return sum_i w_ib Phi(y_i), of shape (k, D)."""
    total = np.zeros((weights.n_columns, basis.n_features))
    for rows, piece_weights in pieces(X, weights.of(attached), frame, basis.n_features):
        total += basis.moments(frame.matrix.T @ rows.T, piece_weights)
    return total


def residuals_of_block(
    X: AnyArray, attached: AnyArray, columns: RowWeights, frame: Coordinates, basis: HermiteBasis
) -> Residuals:
    """Return moments and residuals of a block."""
    total = Residuals.none(columns.n_columns, basis.n_features, frame.matrix.shape[1])
    workspace = workspace_for(basis.n_features)
    start = 0
    for rows, piece_weights in pieces(X, columns.of(attached), frame, basis.n_features):
        strata = strata_of(attached[start : start + len(rows)])
        start += len(rows)
        Y = frame.matrix.T @ rows.T
        total += Residuals.of(Y, piece_weights, strata, basis.values(Y, workspace))
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
    for rows, piece_weights in pieces(X, weights.of(attached), frame, basis.n_features):
        Y, velocities = frame.matrix.T @ rows.T, direction.T @ rows.T
        damping = -np.einsum("a,ai,ai->i", basis.decay, Y, velocities)
        factors = np.concatenate([np.ones((1, len(rows))), damping[None], velocities])
        columns = (factors[:, None] * piece_weights).reshape(len(total), -1)
        total += basis.moments(Y, columns)
    return total


def forces_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis,
    field: FloatArray,
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
    field : ndarray of shape ((1 + d) * k, D)
        Coefficients c of the potential of each weight, then c^(a) for each coordinate a.
    forms : ndarray of shape (n_forms, k, k)
        How much each weight of a row feels of each potential.

    Returns
    -------
    total : ndarray of shape (p, n_forms * d)
        The sums for each form, side by side.
    """
    n_weights, d = weights.n_columns, frame.matrix.shape[1]
    total, workspace = np.zeros((X.shape[1], len(forms) * d)), workspace_for(basis.n_features)
    factors = Factors.of(forms)
    for rows, piece_weights in pieces(X, weights.of(attached), frame, basis.n_features):
        Y = frame.matrix.T @ rows.T
        felt = (field @ basis.values(Y, workspace)).reshape(1 + d, n_weights, -1)
        by_form = factors.forces(felt, piece_weights)
        forces = by_form[:, 1:] - basis.decay[:, None] * Y * by_form[:, :1]
        total += rows.T @ forces.reshape(len(forms) * d, -1).T
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
    both, factors = np.concatenate([field, rate_field]), Factors.of(form[None])
    for rows, piece_weights in pieces(X, weights.of(attached), frame, basis.n_features):
        Y, velocities = frame.matrix.T @ rows.T, direction.T @ rows.T
        felt = (both @ basis.values(Y, workspace)).reshape(2 + 2 * d + d * d, n_weights, -1)
        numbers = factors.forces(felt, piece_weights)[0]
        here, slopes, curvatures, rate, slope_rates = np.split(numbers, np.cumsum([1, d, d * d, 1]))
        pull = basis.decay[:, None] * Y
        moved = np.einsum("bi,bi->i", velocities, slopes - pull * here)
        forces = slope_rates - pull * (rate + moved) - basis.decay[:, None] * velocities * here
        forces -= np.einsum("bi,bi->i", velocities, pull) * slopes
        forces += np.einsum("bi,abi->ai", velocities, curvatures.reshape(d, d, -1))
        total += rows.T @ forces.T
    return total


def pieces(
    X: AnyArray, weights: FloatArray, frame: Coordinates, n_features: int
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield few centred rows at a time, and their weights as columns, so that their features stay in the cache.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Raw rows.
    weights : ndarray of shape (n_block, k)
        Their weights.
    frame : Coordinates
        Has the mean.
    n_features : int
        Features of each row.
    """
    height = _height(n_features)
    for start in range(0, len(X), height):
        piece = slice(start, start + height)
        yield frame.centred(X[piece]), np.ascontiguousarray(weights[piece].T)


def _height(n_features: int) -> int:
    return max(32, min(4096, PIECE_NUMBERS // n_features))


def workspace_for(n_features: int) -> FloatArray:
    """Return memory for the features of a piece: new memory for every piece would be in no cache.

    Parameters
    ----------
    n_features : int
        Features of each row.
    """
    return np.empty(n_features * _height(n_features))
