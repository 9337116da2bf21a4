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
from fairpca.mmd.hermite._residuals import Residuals
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


def values_of_block(
    X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates, basis: HermiteBasis, forms: FloatArray
) -> FloatArray:
    """Return the moments, then sum_i c_ij (1 - |Phi(y_i)|^2) of each form, where c_ij = w_i'P_j w_i, as one vector."""
    moments, rests, factors = np.zeros((weights.n_columns, basis.n_features)), np.zeros(len(forms)), Factors.of(forms)
    for piece in pieces(X, weights.of(attached), frame):
        squares = np.empty(len(piece.rows))
        moments += basis.moments(piece.Y, piece.weights, squares)
        rests += factors.diagonals(piece.weights) @ (1.0 - squares)
    return np.concatenate([moments.ravel(), rests])


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

    That is the gradient of w_i'P_j Phi and of the rest -c_ij |Phi(y_i)|^2 that makes the diagonal exact.

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
        felt = basis.gradients(piece.Y, potentials)
        forces = factors.forces(felt[:, :-1], piece.weights)
        forces -= factors.diagonals(piece.weights)[:, None] * felt[:, -1]
        total += frame.pulled_back(piece.rows, forces.reshape(total.shape[1], -1).T)
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
