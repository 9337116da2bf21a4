"""Positive definite approximations of a Hessian, factored."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

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
        Which coordinates these are; by default all.
    diagonal : ndarray of shape (n,), default=None
        Diagonal of H on all coordinates. Outside the leading ones H is taken to be diagonal.
    """

    def __init__(
        self,
        hessian: FloatArray,
        shift: float = 0.0,
        leading: IntArray | None = None,
        diagonal: FloatArray | None = None,
    ) -> None:
        self._leading = np.arange(len(hessian)) if leading is None else leading
        self._diagonal = np.diag(hessian).copy() if diagonal is None else diagonal
        self._others = np.ones(len(self._diagonal), dtype=bool)
        self._others[self._leading] = False
        scale = max(float(np.abs(np.diag(hessian)).mean()), 1e-300)
        smallest = float(self._diagonal[self._others].min(initial=np.inf))
        self.shift = shift
        while True:
            try:
                if smallest + self.shift <= 0.0:
                    raise LinAlgError("a diagonal entry is not positive")
                shifted = hessian.copy()
                shifted[np.diag_indices_from(shifted)] += self.shift
                self._factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
                return
            except LinAlgError:
                self.shift = max(GROWTH * self.shift, 1e-4 * scale)

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""
        solution = gradient / np.where(self._others, self._diagonal + self.shift, 1.0)
        solution[self._leading] = cho_solve(self._factor, gradient[self._leading], check_finite=False)
        return solution
