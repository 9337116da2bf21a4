"""What features leave of the kernel at each row, and the rows that they serve worst."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.utils import gen_batches

from fairpca._utils.threads import run_all, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.mmd.hermite._basis import HermiteBasis

MOST_HEAVY = 512
"""Rows at most whose residuals are treated exactly."""

ROUNDING = 1e-6
"""Share by which a weight must be above a level to count as above it, wherever it is computed."""

PIECE_ROWS = 512
"""Rows whose features a thread makes at a time, 4 MB of a thousand."""


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
        return (1 + ROUNDING) * float(self.heaviness.min()) if len(self.heaviness) > MOST_HEAVY else 0.0

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


@dataclass(frozen=True)
class Residuals:
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

    def __add__(self, other: "Residuals") -> "Residuals":
        return Residuals(
            self.moments + other.moments,
            self.diagonal + other.diagonal,
            self.spread + other.spread,
            self.heavy + other.heavy,
        )


def residuals_at(basis: HermiteBasis, Z: FloatArray) -> FloatArray:
    """Return r of points of shape (n, d), in threads."""
    residuals = np.empty(len(Z))

    def fill(piece: slice) -> None:
        residuals[piece] = residuals_of_squares(squares_of(basis.values(np.ascontiguousarray(Z[piece].T))))

    with single_threaded_blas():
        run_all([partial(fill, piece) for piece in gen_batches(len(Z), PIECE_ROWS)])
    return residuals


def squares_of(features: FloatArray) -> FloatArray:
    """Return |Phi|^2 of each point, for features of shape (D, n)."""
    return np.einsum("fi,fi->i", features, features)


def residuals_of_squares(squares: FloatArray) -> FloatArray:
    """Return r = 1 - |Phi|^2, at least 0: rounding can bring the sum of squares above 1."""
    return np.maximum(0.0, 1 - squares)
