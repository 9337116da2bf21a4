"""The exact discrepancy of rows in more coordinates than it pays to make."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._along import DiscrepancyAlong
from fairpca.mmd.exact import ExactMMD


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
