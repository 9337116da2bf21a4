"""The passes over the rows of a Hermite discrepancy: moments, what features leave of the kernel, gradients."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils import gen_batches

from fairpca._utils.threads import run_all, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import RowWeights
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._kernel import Factors
from fairpca.mmd.hermite._basis import HermiteBasis, rows_of_a_piece, squares_of
from fairpca.mmd.hermite._quadratic import QuadraticBasis
from fairpca.rows import FieldSums, strata_of

MOST_HEAVY = 512
"""Rows at most whose residuals are treated exactly: all their pairs take a fraction of a millisecond."""


def heaviness(weights: FloatArray, residuals: FloatArray) -> FloatArray:
    r"""Return max_c \|w_ic\| sqrt(r_i) for each row: the most that it can add to what features leave out.

    Parameters
    ----------
    weights : ndarray of shape (n, n_columns)
        w.
    residuals : ndarray of shape (n,)
        r, what the features leave of the kernel at each row.
    """
    return np.abs(weights).max(axis=1) * np.sqrt(residuals)


@dataclass(frozen=True)
class HeavyRows:
    """Candidates for the heaviest rows of a table; a sum of two is what is left of both.

    Attributes
    ----------
    positions : ndarray of shape (k, d)
        In the axes of the basis.
    weights : ndarray of shape (k, n_columns)
        Their weights.
    strata : ndarray of int of shape (k,)
        Their strata.
    residuals, heaviness : ndarray of shape (k,)
        See `heaviness`; no more than one above `MOST_HEAVY` rows are kept.
    """

    positions: FloatArray
    weights: FloatArray
    strata: IntArray
    residuals: FloatArray
    heaviness: FloatArray

    @classmethod
    def of(cls, positions: FloatArray, weights: FloatArray, strata: IntArray, residuals: FloatArray) -> "HeavyRows":
        """Choose among rows."""
        return cls(positions, weights, strata, residuals, heaviness(weights, residuals))._heaviest()

    @classmethod
    def none(cls, d: int, n_columns: int) -> "HeavyRows":
        """Return no rows."""
        no_strata = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, d)), np.empty((0, n_columns)), no_strata, np.empty(0), np.empty(0))

    def __add__(self, other: "HeavyRows") -> "HeavyRows":
        pairs = zip(self._arrays, other._arrays, strict=True)
        return HeavyRows(*(np.concatenate(pair) for pair in pairs))._heaviest()

    @property
    def level(self) -> float:
        """Rows above it, `MOST_HEAVY` at most, are among the candidates, all of them."""
        # A row just above it must be so wherever its heaviness is computed again, which rounds otherwise.
        return (1 + 1e-6) * float(self.heaviness.min()) if len(self.heaviness) > MOST_HEAVY else 0.0

    def above_level(self) -> "HeavyRows":
        """Return the rows above the level."""
        return self._where(self.heaviness > self.level)

    def _heaviest(self) -> "HeavyRows":
        if len(self.heaviness) <= MOST_HEAVY + 1:
            return self
        return self._where(np.argpartition(-self.heaviness, MOST_HEAVY)[: MOST_HEAVY + 1])

    def _where(self, chosen: AnyArray) -> "HeavyRows":
        return HeavyRows(*(each[chosen] for each in self._arrays))

    @property
    def _arrays(self) -> tuple[AnyArray, ...]:
        return self.positions, self.weights, self.strata, self.residuals, self.heaviness


@dataclass(frozen=True, eq=False)
class Residuals(FieldSums):
    """Moments of the features, with what they leave of the kernel.

    Attributes
    ----------
    moments : ndarray of shape (n_columns, D)
        sum_i w_ic Phi(y_i).
    diagonal : ndarray of shape (n_columns,)
        sum_i w_ic^2 r_i with the residual r_i = 1 - |Phi(y_i)|^2 of the kernel at row i.
    spread : ndarray of shape (n_columns,)
        sum_i |w_ic| sqrt(r_i).
    heavy : HeavyRows
        The rows with the largest |w_i| sqrt(r_i).
    """

    moments: FloatArray
    diagonal: FloatArray
    spread: FloatArray
    heavy: HeavyRows

    @classmethod
    def none(cls, n_columns: int, n_features: int, d: int) -> "Residuals":
        """Return those of no rows."""
        nothing = np.zeros(n_columns)
        return cls(np.zeros((n_columns, n_features)), nothing, nothing, HeavyRows.none(d, n_columns))

    @classmethod
    def of(
        cls, Y: FloatArray, weights: FloatArray, strata: IntArray, moments: FloatArray, squares: FloatArray
    ) -> "Residuals":
        """Sum over points.

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            The points.
        weights : ndarray of shape (n_columns, n)
            Their weights.
        strata : ndarray of shape (n,)
            Their strata.
        moments : ndarray of shape (n_columns, D)
            The sums of their features.
        squares : ndarray of shape (n,)
            The sums of the squares of the features of each.
        """
        residual = residuals_of_squares(squares)
        spread = np.abs(weights) @ np.sqrt(residual)
        heavy = HeavyRows.of(Y.T, weights.T, strata, residual)
        return cls(moments, weights**2 @ residual, spread, heavy)


def residuals_at(basis: HermiteBasis, Z: FloatArray) -> FloatArray:
    """Return r of points of shape (n, d), in threads."""
    residuals = np.empty(len(Z))

    def fill(piece: slice) -> None:
        residuals[piece] = residuals_of_squares(squares_of(basis.values(np.ascontiguousarray(Z[piece].T))))

    with single_threaded_blas():
        run_all([partial(fill, piece) for piece in gen_batches(len(Z), rows_of_a_piece(basis.n_features))])
    return residuals


def residuals_of_squares(squares: FloatArray) -> FloatArray:
    """Return r = 1 - |Phi|^2, at least 0: rounding can bring the sum of squares above 1."""
    return np.maximum(0.0, 1 - squares)


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


def moments_of_rows_of_block(X: AnyArray, attached: AnyArray, weights: RowWeights, frame: Coordinates) -> FloatArray:
    """Return sum_i w_ib (x_i - mean) [1, z_i'], of shape (p, k * (1 + d)), for rows z of a frame."""
    total = np.zeros((X.shape[1], weights.n_columns * (1 + frame.matrix.shape[1])))
    for piece in pieces(X, weights.of(attached), frame, total.shape[1]):
        columns = np.vstack([np.ones(len(piece.rows)), piece.Y])
        weighted = piece.weights[:, None] * columns
        total += frame.pulled_back(piece.rows, weighted.reshape(total.shape[1], -1).T)
    return total


def values_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis | QuadraticBasis,
    forms: FloatArray,
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


def gradients_of_block(
    X: AnyArray,
    attached: AnyArray,
    weights: RowWeights,
    frame: Coordinates,
    basis: HermiteBasis | QuadraticBasis,
    potentials: FloatArray,
    forms: FloatArray,
) -> FloatArray:
    """Return sum_i (x_i - mean) f_i' with the gradient f_i with respect to the position of row i.

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
        By which the weights of a row meet the potentials.

    Returns
    -------
    total : ndarray of shape (p, n_forms * d)
        The sums for each form, side by side.
    """
    total, factors = np.zeros((X.shape[1], len(forms) * frame.matrix.shape[1])), Factors.of(forms)
    for piece in pieces(X, weights.of(attached), frame):
        slopes = basis.gradients(piece.Y, potentials)
        gradients = factors.row_gradients(slopes[:, :-1], piece.weights)
        gradients -= factors.diagonals(piece.weights)[:, None] * slopes[:, -1]
        total += frame.pulled_back(piece.rows, gradients.reshape(total.shape[1], -1).T)
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
    height = rows_of_a_piece(n_features)
    for start in range(0, len(X), height):
        place = slice(start, start + height)
        Y = np.ascontiguousarray(frame.project(X[place]).T)
        yield Piece(place, X[place], Y, np.ascontiguousarray(weights[place].T))


def workspace_for(n_features: int) -> FloatArray:
    """Return memory for the features of a piece: new memory for every piece would be in no cache.

    Parameters
    ----------
    n_features : int
        Features of each row.
    """
    return np.empty(n_features * rows_of_a_piece(n_features))
