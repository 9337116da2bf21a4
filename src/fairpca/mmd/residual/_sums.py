"""Features of the kernel, and sums over rows of what they leave of it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.mmd.residual._heavy import HeavyRows


class Features(Protocol):
    r"""Features Phi of the kernel exp(-\|y - y'\|^2 / 2) = Phi(y)'Phi(y') + R(y, y'), with a rest R >= 0."""

    @property
    def n_features(self) -> int:
        """The number D of features."""

    @property
    def rotation(self) -> FloatArray:
        """From projections to the axes of the points y, of shape (d, d)."""

    def values(self, Y: FloatArray) -> FloatArray:
        """Return the features, of shape (D, n), at points, of shape (d, n)."""

    def moments(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the features over points with weights of shape (n_columns, n), of shape (n_columns, D)."""


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


def squares_of(features: FloatArray) -> FloatArray:
    """Return |Phi|^2 of each point, for features of shape (D, n)."""
    return np.einsum("fi,fi->i", features, features)


def residuals_of_squares(squares: FloatArray) -> FloatArray:
    """Return r = 1 - |Phi|^2, at least 0: rounding can bring the sum of squares above 1."""
    return np.maximum(0.0, 1 - squares)
