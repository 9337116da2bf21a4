"""Landmarks: few projected rows whose kernel functions stand for those of all."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.mmd.residual import squares_of

RIDGE = 1e-9
"""Added to the diagonal of the landmarks' kernel matrix: they may coincide after projection."""

SQUARES_ERROR = 1e-5
"""How far off |Phi|^2 may be in float32, which is twice as fast; it is 1 at landmarks, which tell."""

TOLD_BY, BLOCK = 64, 128
"""Landmarks that tell, and rows of a triangular matrix that are multiplied at a time."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    r"""Points c_l with the features Phi(y) = L^-1 k(c, y) of the kernel k(y, y') = exp(-\|y - y'\|^2 / 2).

    LL' is the kernel matrix of the landmarks with a small ridge, so that Phi(y)'Phi(y') never exceeds the kernel in
    the sense of positive semidefinite functions, and nearly is the kernel where y or y' is a landmark. It depends on
    distances alone, and so does not change when all points are turned.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        c.
    """

    points: FloatArray

    def __reduce__(self) -> tuple[type["Landmarks"], tuple[FloatArray]]:
        """Travel to other processes without the matrices that follow from the points, which are much larger."""
        return Landmarks, (self.points,)

    @property
    def n_features(self) -> int:
        """The number m of landmarks."""
        return len(self.points)

    @property
    def rotation(self) -> FloatArray:
        """The identity: points are taken as they are."""
        return np.eye(self.points.shape[1])

    @cached_property
    def gram(self) -> FloatArray:
        """The kernel between landmarks, of shape (m, m), without the ridge."""
        return self.kernel(self.points.T)

    @cached_property
    def factor(self) -> FloatArray:
        """L."""
        return cholesky(self.gram + RIDGE * np.eye(len(self.points)), lower=True, check_finite=False)

    def kernel(self, Y: FloatArray) -> FloatArray:
        """Return k(c_l, y_i), of shape (m, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points y_i, which may be very far away.
        """
        with np.errstate(over="ignore"):
            halves = -0.5 * np.einsum("ai,ai->i", Y, Y)
            exponents = self._extended @ np.vstack([Y, np.ones(Y.shape[1]), halves])
        np.minimum(exponents, 0.0, out=exponents)
        return np.exp(exponents, out=exponents)

    @cached_property
    def _extended(self) -> FloatArray:
        """Landmarks with their squared norms, so that exponents are one matrix product."""
        halves = -0.5 * np.einsum("la,la->l", self.points, self.points)
        return np.column_stack([self.points, halves, np.ones(len(self.points))])

    def coefficients(self, sums: FloatArray) -> FloatArray:
        """Return (LL')^-1 u for vectors u of shape (n_vectors, m)."""
        return self.potential_of(self._solved(sums.T)).T

    def at(self, Y: FloatArray) -> "LandmarksAt":
        """Return the features at points of shape (d, n)."""
        return LandmarksAt(self, self.kernel(Y))

    def squares(self, kernel: FloatArray) -> FloatArray:
        """Return |Phi|^2 of points, in float32 where that has the digits.

        Parameters
        ----------
        kernel : ndarray of shape (m, n)
            Their kernel values.
        """
        if self._single_inverse is None:
            return squares_of(self._solved(kernel))
        return _squares_of_products(self._single_inverse, kernel)

    @cached_property
    def _single_inverse(self) -> AnyArray | None:
        """L^-1 in float32; None where landmarks are so near each other that differences of its products are lost."""
        inverse = self._solved(np.eye(self.n_features)).astype(np.float32)
        told = _squares_of_products(inverse, self.gram[:, :: max(1, self.n_features // TOLD_BY)])
        return inverse if np.abs(told - 1).max() <= SQUARES_ERROR else None

    def moments(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the features over points with weights of shape (n_columns, n), of shape (n_columns, m)."""
        return self.features_of(weights @ self.kernel(Y).T)

    def features_of(self, sums: FloatArray) -> FloatArray:
        """Return L^-1 u for vectors u of shape (n_vectors, m), such as sums of kernel values."""
        return self._solved(sums.T).T

    def potential_of(self, moments: FloatArray) -> FloatArray:
        """Return L'^-1 u for vectors u of shape (m, k): coefficients of kernel functions, given those of features."""
        return np.asarray(solve_triangular(self.factor, moments, lower=True, trans="T", check_finite=False))

    def _solved(self, columns: AnyArray) -> FloatArray:
        return np.asarray(solve_triangular(self.factor, columns, lower=True, check_finite=False))


@dataclass(frozen=True, eq=False)
class LandmarksAt:
    """Features at points, which are seldom made: m^2 multiply-adds for each. See `FeaturesAt`.

    Attributes
    ----------
    landmarks : Landmarks
        The landmarks.
    kernel : ndarray of shape (m, n)
        Kernel values between them and the points.
    """

    landmarks: Landmarks
    kernel: FloatArray

    @cached_property
    def squares(self) -> FloatArray:
        """|Phi|^2 of each point."""
        return self.landmarks.squares(self.kernel)

    def moments(self, places: slice, weights: FloatArray) -> FloatArray:
        """Return weighted sums of the features over some points."""
        return self.landmarks.features_of((self.kernel[:, places] @ weights).T).T

    def potentials(self, places: slice, moments: FloatArray) -> FloatArray:
        """Return products of the features of some points with vectors."""
        return self.kernel[:, places].T @ self.landmarks.potential_of(moments)


def _squares_of_products(triangular: AnyArray, columns: FloatArray) -> FloatArray:
    """Return the squared norms of the products of a lower triangular float32 matrix with columns."""
    operand, squares = columns.astype(np.float32), np.zeros(columns.shape[1])
    for start in range(0, len(triangular), BLOCK):
        stop = start + BLOCK
        squares += squares_of(triangular[start:stop, :stop] @ operand[:stop])
    return squares
