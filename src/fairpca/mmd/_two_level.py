"""A discrepancy on all rows that takes its Hessian from a sample of them."""
# SPDX-License-Identifier: MIT

from typing import Protocol

from fairpca._utils.typing import FloatArray
from fairpca.mmd.exact import ExactMMD


class FirstOrderMMD(Protocol):
    """A discrepancy with first derivatives and products with its Hessian."""

    n_measures: int
    n_rows: int

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, r, d)."""

    def hessian_product(
        self, V: FloatArray, direction: FloatArray, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Return the derivative along `direction` of the gradient of sum_j lambda_j h_j."""


class SecondOrderMMD(FirstOrderMMD, Protocol):
    """A discrepancy with first derivatives and a Hessian of its own."""

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `ExactMMD.hessian`."""


class TwoLevelMMD:
    """Values and gradients of all rows; Hessians of a sample.

    A Hessian shapes the steps of a solver but not where they end: the one of a few thousand rows, which costs as much
    as a gradient of millions, serves as well.

    Parameters
    ----------
    fine : FirstOrderMMD
        The discrepancy of all rows.
    coarse : ExactMMD
        The discrepancy of a sample, in the same coordinates and with the same bandwidth.
    """

    def __init__(self, fine: FirstOrderMMD, coarse: ExactMMD) -> None:
        self.n_measures = fine.n_measures
        self.n_rows = fine.n_rows
        self.value = fine.value
        self.evaluate = fine.evaluate
        self.hessian_product = fine.hessian_product
        self._fine, self._coarse = fine, coarse
        self.isolated_directions = coarse.isolated_directions
        import os
        self._skip = int(os.environ.get("HH_SKIP", "1"))

    def hessian(self, V, Q, gradient, multipliers=None, single_precision=False):
        import time
        self._skip -= 1
        use = self._skip < 0 and hasattr(self._fine, "hessian")
        t = time.perf_counter()
        try:
            return (self._fine if use else self._coarse).hessian(V, Q, gradient, multipliers, single_precision)
        finally:
            TIMES.append((self.n_rows if use else self._coarse.n_rows, round(time.perf_counter() - t, 3)))


TIMES = []
