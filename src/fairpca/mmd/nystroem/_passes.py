"""The passes over the rows of a Nystroem discrepancy: sums at the landmarks, forces, residuals.

What is here runs on one block of rows, maybe in another process, and returns something small that can be added.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import RowWeights
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._forms import Factors
from fairpca.mmd.nystroem._landmarks import Landmarks
from fairpca.mmd.residual import Residuals
from fairpca.rows import strata_of

PIECE_NUMBERS = 2**19
"""Kernel values at a time, 4 MB."""


@dataclass(frozen=True)
class Piece:
    """A few rows of a block.

    Attributes
    ----------
    place : slice
        Where in the block they are.
    Y : ndarray of shape (d, n)
        Their projections.
    weights : ndarray of shape (k, n)
        Their weights.
    """

    place: slice
    Y: FloatArray
    weights: FloatArray


def sums_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, landmarks: Landmarks
) -> FloatArray:
    """Return sum_i w_ib k(c_l, y_i) for each weight b, of shape (k, m)."""
    total = np.zeros((weights.n_columns, landmarks.n_features))
    for piece in _pieces(X, weights.of(attached), frame, landmarks):
        total += piece.weights @ landmarks.kernel(piece.Y).T
    return total


def sums_and_slopes_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, landmarks: Landmarks
) -> FloatArray:
    """Return the same, and then sum_i w_ib y_ia k(c_l, y_i) for each coordinate a, of shape (1 + d, k, m)."""
    d = landmarks.points.shape[1]
    total = np.zeros(((1 + d) * weights.n_columns, landmarks.n_features))
    for piece in _pieces(X, weights.of(attached), frame, landmarks):
        factors = np.vstack([np.ones(piece.Y.shape[1]), piece.Y])
        total += (factors[:, None] * piece.weights).reshape(len(total), -1) @ landmarks.kernel(piece.Y).T
    return total.reshape(1 + d, weights.n_columns, -1)


def forces_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    landmarks: Landmarks,
    coefficients: FloatArray,
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
        From rows to the space of the landmarks.
    landmarks : Landmarks
        The landmarks.
    coefficients : ndarray of shape (k, m)
        The potential that each weight makes is the sum of the landmarks' kernel functions with these.
    forms : ndarray of shape (n_forms, k, k)
        How much each weight of a row feels of each potential.

    Returns
    -------
    total : ndarray of shape (p, n_forms * d)
        The sums for each form, side by side.
    """
    k, d = coefficients.shape[0], landmarks.points.shape[1]
    field = with_moments(coefficients, landmarks).reshape((1 + d) * k, -1)
    total, factors = np.zeros((X.shape[1], len(forms) * d)), Factors.of(forms)
    for piece in _pieces(X, weights.of(attached), frame, landmarks):
        felt = (field @ landmarks.kernel(piece.Y)).reshape(1 + d, k, -1)
        forces = factors.forces(felt[1:] - felt[0] * piece.Y[:, None], piece.weights)
        total += frame.pulled_back(X[piece.place], forces.reshape(len(forms) * d, -1).T)
    return total


def with_moments(coefficients: FloatArray, landmarks: Landmarks) -> FloatArray:
    """Return coefficients a of shape (k, m), then a_l c_la for each coordinate a, of shape (1 + d, k, m)."""
    factors = np.vstack([np.ones(landmarks.n_features), landmarks.points.T])
    return factors[:, None] * coefficients


def residuals_of_block(
    X: AnyArray, attached: AnyArray, columns: RowWeights, frame: Coordinates, landmarks: Landmarks
) -> Residuals:
    """Return moments and residuals of a block."""
    total = Residuals.none(columns.n_columns, landmarks.n_features, landmarks.points.shape[1])
    sums, strata = np.zeros_like(total.moments), strata_of(attached)
    for piece in _pieces(X, columns.of(attached), frame, landmarks):
        kernel = landmarks.kernel(piece.Y)
        sums += piece.weights @ kernel.T
        squares = landmarks.squares(kernel)
        total += Residuals.of(piece.Y, piece.weights, strata[piece.place], np.zeros_like(sums), squares)
    return replace(total, moments=landmarks.features_of(sums))


def _pieces(X: AnyArray, weights: FloatArray, frame: Coordinates, landmarks: Landmarks) -> Iterator[Piece]:
    """Yield few rows at a time, so that their kernel values stay in the cache."""
    height = max(64, PIECE_NUMBERS // landmarks.n_features)
    for start in range(0, len(X), height):
        place = slice(start, start + height)
        yield Piece(place, np.ascontiguousarray(frame.project(X[place]).T), np.ascontiguousarray(weights[place].T))
