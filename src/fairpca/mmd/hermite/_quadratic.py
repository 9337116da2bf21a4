"""The expansion of the Gaussian kernel up to all products of two coordinates, as sums of matrix products."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd.hermite._basis import principal_axes_and_ratios


@dataclass(frozen=True)
class QuadraticBasis:
    r"""All eigenfunctions of `HermiteBasis` whose orders sum to two at most.

    With Phi_0 = \prod_a psi_0(y_a) and u_a = sqrt(1 - t_a^2) y_a these are Phi_0 times 1, u_a, u_a u_c and
    (u_a^2 - t_a) / sqrt(2). So with the sums s = sum_i w_i Phi_0(y_i), v = sum_i w_i Phi_0(y_i) u_i and
    S = sum_i w_i Phi_0(y_i) u_i u_i',

    .. math:: \sum_f \Big( \sum_i w_i \Phi_f(y_i) \Big)^2 = s^2 + |v|^2 + \tfrac12 |S - s\,\mathrm{diag}(t)|_F^2.

    In many dimensions no fewer features will do: a solver finds the products of two coordinates that are left out, and
    puts the differences of the groups there.

    Attributes
    ----------
    rotation : ndarray of shape (d, d)
        From projections to the axes.
    ratios : ndarray of shape (d,)
        t for each coordinate.
    """

    rotation: FloatArray
    ratios: FloatArray

    @classmethod
    def fit(cls, Z: FloatArray) -> "QuadraticBasis":
        """Fit axes and spread to rows, of shape (n, d), see `HermiteBasis.fit`."""
        return cls(*principal_axes_and_ratios(Z))

    @staticmethod
    def count(d: int) -> int:
        """Return how many features there are in d dimensions."""
        return 1 + d + d * (d + 1) // 2

    @property
    def n_features(self) -> int:
        """Entries of s, v and S: products of two different coordinates stand twice."""
        d = len(self.ratios)
        return 1 + d + d * d

    def moments(self, Y: FloatArray, weights: FloatArray, squares: FloatArray | None = None) -> FloatArray:
        """Return s, v and (S - s diag(t)) / sqrt(2) side by side, of shape (n_columns, n_features).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        weights : ndarray of shape (n_columns, n)
            Their weights.
        squares : ndarray of shape (n,), default=None
            If given, |Phi|^2 of each point is written to it.
        """
        U, ground = self._scaled(Y)
        if squares is not None:
            squares[:] = ground**2 * self._square(U)
        moments = np.empty((len(weights), self.n_features))
        for column, out in zip(weights * ground, moments, strict=True):
            s, v, S = self._parts(out)
            s[...] = column.sum()
            v[...] = U @ column
            S[...] = (U * column) @ U.T
            np.einsum("aa->a", S)[...] -= s * self.ratios
            S /= np.sqrt(2.0)
        return moments

    def gradients(self, Y: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Return the gradients of sum_f c_f Phi_f at each point, and of |Phi|^2 last, of shape (d, n_vectors + 1, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        coefficients : ndarray of shape (n_vectors, n_features)
            Vectors c, as `moments` has them.
        """
        U, ground = self._scaled(Y)
        t, slopes, pull = self.ratios[:, None], self._slopes, (1.0 - self.ratios)[:, None] * Y
        found = np.empty((len(Y), len(coefficients) + 1, Y.shape[1]))
        for b, vector in enumerate(coefficients):
            s, v, S = self._parts(vector)
            C = S / np.sqrt(2.0)
            bent = C @ U
            values = s - C.diagonal() @ self.ratios + v @ U + np.einsum("ai,ai->i", U, bent)
            found[:, b] = ground * (slopes * (v[:, None] + 2.0 * bent) - pull * values)
        sizes = np.square(U).sum(axis=0)
        found[:, -1] = 2.0 * ground**2 * (slopes * U * (1.0 + sizes - t) - pull * self._square(U))
        return found

    def _scaled(self, Y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return u and Phi_0 of points; 0 for those that no feature reaches, whose squares would overflow."""
        with np.errstate(over="ignore"):
            exponents = -0.5 * (1.0 - self.ratios) @ np.square(Y)
        ground = np.exp(exponents) * np.prod(self._slopes) ** 0.5
        return np.where(ground > 0.0, self._slopes * Y, 0.0), ground

    def _square(self, U: FloatArray) -> FloatArray:
        """Return |Phi|^2 / Phi_0^2 of points."""
        squares = np.square(U)
        sizes = squares.sum(axis=0)
        return 1.0 + sizes + 0.5 * (sizes**2 - 2.0 * self.ratios @ squares + self.ratios @ self.ratios)

    @property
    def _slopes(self) -> FloatArray:
        """sqrt(1 - t^2), of shape (d, 1)."""
        return np.sqrt(1.0 - self.ratios**2)[:, None]

    def _parts(self, vector: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return where s, v and S stand in a vector."""
        d = len(self.ratios)
        return vector[:1], vector[1 : 1 + d], vector[1 + d :].reshape(d, d)
