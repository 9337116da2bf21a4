"""Landmarks: few projected rows whose kernel functions stand for those of all."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from fairpca._utils.typing import AnyArray, FloatArray

RIDGE = 1e-9
"""Added to the diagonal of the landmarks' kernel matrix: they may coincide after projection."""


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
        return solve_triangular(self.factor, self._solved(sums.T), lower=True, trans="T", check_finite=False).T

    def values(self, Y: FloatArray) -> FloatArray:
        """Return the features, of shape (m, n), at points of shape (d, n)."""
        return self._solved(self.kernel(Y))

    def moments(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the sums of the features over points with weights of shape (n_columns, n), of shape (n_columns, m)."""
        return self._solved(self.kernel(Y) @ weights.T).T

    def _solved(self, columns: AnyArray) -> FloatArray:
        return np.asarray(solve_triangular(self.factor, columns, lower=True, check_finite=False))
