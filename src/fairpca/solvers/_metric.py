"""Positive definite approximations of a Hessian, factored."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from fairpca import compiled
from fairpca._utils.typing import FloatArray, IntArray
from fairpca.solvers._two_loop import CurvedPair, quasi_newton_product

GROWTH = 8.0
"""Factor by which the shift nu grows until the shifted Hessian is positive definite."""

LEAST_SHIFT = 1e-4
"""The first nu above 0, in units of the mean size of the diagonal."""

SMALL, MOST_PAIRS = 400, 16
"""Coordinates up to which, and pairs up to which, compiled loops beat products by BLAS, around which much is done."""


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
    likely_level : int, default=0
        Which nu above the first is likely to be the least that is enough, as it was of a similar Hessian: it is tried
        first. The answer is the same.

    Attributes
    ----------
    level : int
        Which nu it is: 0 is the first one.
    """

    def __init__(
        self,
        hessian: FloatArray,
        shift: float = 0.0,
        leading: IntArray | None = None,
        diagonal: FloatArray | None = None,
        may_shift: bool = True,
        likely_level: int = 0,
    ) -> None:
        self._whole = leading is None or diagonal is None or len(leading) == len(diagonal)
        # A positive definite matrix has a positive diagonal, which is told without a factor.
        smallest = float(hessian.diagonal().min(initial=np.inf))
        if leading is not None and diagonal is not None and not self._whole:
            self._leading, self._others = leading, np.delete(np.arange(len(diagonal)), leading)
            self._diagonal = diagonal[self._others]
            smallest = min(smallest, float(self._diagonal.min()))
        self._hessian, self._smallest = hessian, smallest
        self._shifts = [shift]
        self.level = likely_level if may_shift else 0
        self.is_definite = self._is_factored(self.level)
        if self.is_definite and self.level > 0 and self._is_factored(self.level - 1):
            self.level = self._least_below(self.level - 1)
        while may_shift and not self.is_definite:
            self.level += 1
            self.is_definite = self._is_factored(self.level)
        self.shift = self._shift_of(self.level)

    def _least_below(self, level: int) -> int:
        """Return the least nu that is enough, given one that is; where less was enough than expected it is often 0."""
        if level > 0 and self._is_factored(0):
            return 0
        while level > 1 and self._is_factored(level - 1):
            level -= 1
        return level

    def _shift_of(self, level: int) -> float:
        while len(self._shifts) <= level:
            scale = max(float(np.abs(self._hessian.diagonal()).mean()), 1e-300)
            self._shifts.append(max(GROWTH * self._shifts[-1], LEAST_SHIFT * scale))
        return self._shifts[level]

    def _is_factored(self, level: int) -> bool:
        """Tell whether H + nu I is positive definite, and keep its factor where it is.

        By LAPACK's own routines: what scipy wraps around them takes longer than they do on a hundred coordinates.
        """
        shift = self._shift_of(level)
        if self._smallest + shift <= 0.0:
            return False
        shifted = self._hessian.copy(order="F")
        if shift != 0.0:
            np.einsum("ii->i", shifted)[...] += shift
        factor, failed = dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        if failed == 0:
            self._factor = factor
        return bool(failed == 0)

    def quasi_newton_product(self, pairs: list[CurvedPair], gradient: FloatArray) -> FloatArray:
        """Return the product of a gradient with the inverse Hessian that pairs make of this metric.

        Parameters
        ----------
        pairs : list of CurvedPair
            Oldest first.
        gradient : ndarray of shape (n,)
            What is multiplied.
        """
        is_small = self._whole and len(gradient) <= SMALL and len(pairs) <= MOST_PAIRS
        if not (is_small and compiled.is_compiled()):
            return quasi_newton_product(pairs, gradient, self.solve)
        product = gradient.copy()
        compiled.native.quasi_newton_product(self._factor.T, pairs, product)
        return product

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
