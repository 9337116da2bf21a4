"""Positive definite approximations of a Hessian, factored."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from fairpca._utils.typing import FloatArray, IntArray

GROWTH = 8.0
"""Factor by which the shift nu grows until the shifted Hessian is positive definite."""


class Metric:
    """The Cholesky factor of H + nu I, with the least nu of a geometric sequence that makes it positive definite.

    Parameters
    ----------
    hessian : ndarray of shape (k, k)
        H on the leading coordinates.
    shift : float, default=0.0
        First nu.
    leading : ndarray of int of shape (k,), default=None
        Which coordinates these are, increasing; by default all.
    diagonal : ndarray of shape (n,), default=None
        Diagonal of H on all coordinates. Outside the leading ones H is taken to be diagonal.
    may_shift : bool, default=True
        Whether nu may grow. If not, and the first nu is not enough, `is_definite` is false and there is no factor.
    """

    def __init__(
        self,
        hessian: FloatArray,
        shift: float = 0.0,
        leading: IntArray | None = None,
        diagonal: FloatArray | None = None,
        may_shift: bool = True,
    ) -> None:
        self._whole = leading is None or diagonal is None or len(leading) == len(diagonal)
        # A positive definite matrix has a positive diagonal, which is told without a factor.
        smallest = float(hessian.diagonal().min(initial=np.inf))
        if leading is not None and diagonal is not None and not self._whole:
            self._leading, self._others = leading, np.delete(np.arange(len(diagonal)), leading)
            self._diagonal = diagonal[self._others]
            smallest = min(smallest, float(self._diagonal.min()))
        self.shift = shift
        self.is_definite = smallest + shift > 0.0 and self._is_factored(hessian)
        while may_shift and not self.is_definite:
            scale = max(float(np.abs(hessian.diagonal()).mean()), 1e-300)
            self.shift = max(GROWTH * self.shift, 1e-4 * scale)
            self.is_definite = smallest + self.shift > 0.0 and self._is_factored(hessian)

    def _is_factored(self, hessian: FloatArray) -> bool:
        """Factor H + nu I, and tell whether it is positive definite.

        By LAPACK's own routines: what scipy wraps around them takes longer than they do on a hundred coordinates.
        """
        shifted = hessian.copy(order="F")
        if self.shift != 0.0:
            np.einsum("ii->i", shifted)[...] += self.shift
        self._factor, failed = dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        return failed == 0

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""
        if self._whole:
            return self._on_leading(gradient)
        solution = np.empty_like(gradient)
        solution[self._others] = gradient[self._others] / (self._diagonal + self.shift)
        solution[self._leading] = self._on_leading(gradient[self._leading])
        return solution

    def _on_leading(self, gradient: FloatArray) -> FloatArray:
        return dpotrs(self._factor, gradient, lower=1)[0]
