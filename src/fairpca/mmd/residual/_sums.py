"""Features of the kernel, and sums over rows of what they leave of it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from sklearn.utils import gen_batches

from fairpca._utils.threads import run_all, single_threaded_blas
from fairpca._utils.typing import FloatArray, IntArray
from fairpca.mmd.residual._heavy import HeavyRows

PIECE_ROWS = 512
"""Rows whose features a thread makes at a time, 4 MB of a thousand."""


class FeaturesAt(Protocol):
    """Features Phi at points."""

    @property
    def squares(self) -> FloatArray:
        """|Phi|^2 of each point, of shape (n,)."""

    def moments(self, places: slice, weights: FloatArray) -> FloatArray:
        """Return the sums of the features over some points with weights of shape (n, n_columns), as (D, n_columns)."""

    def potentials(self, places: slice, moments: FloatArray) -> FloatArray:
        """Return the products of the features of some points with vectors of shape (D, k), of shape (n, k)."""


class Features(Protocol):
    r"""Features Phi of the kernel exp(-\|y - y'\|^2 / 2) = Phi(y)'Phi(y') + R(y, y'), with a rest R >= 0."""

    @property
    def n_features(self) -> int:
        """The number D of features."""

    @property
    def rotation(self) -> FloatArray:
        """From projections to the axes of the points y, of shape (d, d)."""

    def at(self, Y: FloatArray) -> FeaturesAt:
        """Return the features at points, of shape (d, n)."""

    def moments(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the features over points with weights of shape (n_columns, n), of shape (n_columns, D)."""


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """Features that were made, see `FeaturesAt`.

    Attributes
    ----------
    values : ndarray of shape (D, n)
        The features at each point.
    """

    values: FloatArray

    @cached_property
    def squares(self) -> FloatArray:
        """|Phi|^2 of each point."""
        return squares_of(self.values)

    def moments(self, places: slice, weights: FloatArray) -> FloatArray:
        """Return weighted sums of the features over some points."""
        return self.values[:, places] @ weights

    def potentials(self, places: slice, moments: FloatArray) -> FloatArray:
        """Return products of the features of some points with vectors."""
        return self.values[:, places].T @ moments


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


def residuals_at(features: Features, Z: FloatArray) -> FloatArray:
    """Return r of points of shape (n, d), in threads."""
    residuals = np.empty(len(Z))

    def fill(piece: slice) -> None:
        residuals[piece] = residuals_of_squares(features.at(np.ascontiguousarray(Z[piece].T)).squares)

    with single_threaded_blas():
        run_all([partial(fill, piece) for piece in gen_batches(len(Z), PIECE_ROWS)])
    return residuals


def squares_of(features: FloatArray) -> FloatArray:
    """Return |Phi|^2 of each point, for features of shape (D, n)."""
    return np.einsum("fi,fi->i", features, features)


def residuals_of_squares(squares: FloatArray) -> FloatArray:
    """Return r = 1 - |Phi|^2, at least 0: rounding can bring the sum of squares above 1."""
    return np.maximum(0.0, 1 - squares)
