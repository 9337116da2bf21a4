"""A discrepancy of frames in a span."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd.exact import ExactMMD
from fairpca.problem import Discrepancy


class DiscrepancyAlong:
    """Any discrepancy for frames in the span of some axes: at V it is what it is at axes @ V.

    Parameters
    ----------
    discrepancy : Discrepancy
        That of frames in all coordinates.
    axes : ndarray of shape (p, k)
        Orthonormal axes of the span.
    """

    def __init__(self, discrepancy: Discrepancy, axes: FloatArray) -> None:
        self._whole = discrepancy
        self._axes = axes
        self.n_measures = discrepancy.n_measures
        self.n_rows = discrepancy.n_rows
        self.is_exact = discrepancy.is_exact
        self.has_exact_hessian = discrepancy.has_exact_hessian
        self.hessian_rows = discrepancy.hessian_rows

    def along(self, axes: FloatArray) -> Discrepancy:
        """Return the same for frames in a span within this one."""
        return DiscrepancyAlong(self._whole, self._axes @ axes)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""
        return self._whole.value(self._axes @ V)

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, k, d)."""
        values, gradients = self._whole.evaluate(self._axes @ V)
        return values, self._axes.T @ gradients

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB."""
        axes, whole = self._axes, self._whole
        hessian = whole.hessian(axes @ V, axes @ Q, axes @ gradient, multipliers, single_precision)
        self.has_exact_hessian, self.hessian_rows = whole.has_exact_hessian, whole.hessian_rows
        return hessian

    def isolated_directions(self, V: FloatArray, smallest: FloatArray) -> FloatArray:
        """Return unit vectors towards rows that stand alone, as far as they lie in the span."""
        directions = self._axes.T @ self._whole.isolated_directions(self._axes @ V, smallest)
        return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)


class RawRowsMMD(DiscrepancyAlong):
    """Exact discrepancies of raw rows x, for frames V of their coordinates y = M'x: at V they are what they are at MV.

    Coordinates along all axes take n p r multiply-adds, more than a whole search that looks at few of them. Here those
    of a span are made when it is asked for, and frames in all axes go by way of the raw rows.

    Parameters
    ----------
    exact : ExactMMD
        That of frames in the raw columns.
    matrix : ndarray of shape (p, r)
        M, with any columns.
    """

    def __init__(self, exact: ExactMMD, matrix: FloatArray) -> None:
        super().__init__(exact, matrix)
        self._exact = exact

    def along(self, axes: FloatArray) -> ExactMMD:
        """Return the same for frames in a span, with its coordinates made."""
        return self._exact.along(self._axes @ axes)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, in the span of V and Q."""
        d, basis = V.shape[1], np.hstack([V, Q])
        inside = np.eye(basis.shape[1])
        span = self.along(basis)
        return span.hessian(inside[:, :d], inside[:, d:], basis.T @ gradient, multipliers, single_precision)
