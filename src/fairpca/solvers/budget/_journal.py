"""What a search writes down."""
# SPDX-License-Identifier: MIT

import math
import time

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, EvaluationCounts
from fairpca.solvers._result import Callback, FitResult, OuterStep, Status
from fairpca.solvers.budget._cycle import Cycle


class Journal:
    """Steps, counts and time of a search.

    Parameters
    ----------
    counts : EvaluationCounts
        Counters of the problem.
    max_seconds : float or None
        Limit of time.
    callback : callable or None
        Called with each `OuterStep`.
    """

    def __init__(self, counts: EvaluationCounts, max_seconds: float | None, callback: Callback | None) -> None:
        self._counts = counts
        self._callback = callback
        self._began = time.perf_counter()
        self._steps: list[OuterStep] = []
        self._noted_gradients, self._noted_seconds = 0, 0.0
        self.deadline = self._began + (math.inf if max_seconds is None else max_seconds)

    @property
    def out_of_time(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    def note(self, cycle: Cycle) -> None:
        """Write a cycle down, and tell the caller."""
        gradients, seconds = self._counts.gradients, time.perf_counter() - self._began
        step = OuterStep(
            penalties=cycle.multipliers,
            mmd2s=cycle.point.evaluation.discrepancies,
            variance_kept=cycle.point.evaluation.variance,
            gradient_norm=_gradient_norm(cycle),
            expected_gain=cycle.expected_gain,
            step_length=cycle.moved,
            n_iter=cycle.n_steps,
            n_gradients=gradients - self._noted_gradients,
            n_hessian_products=0,
            seconds=seconds - self._noted_seconds,
            message=f"{cycle.point.evaluation.point.shape[1]} live components",
        )
        self._steps.append(step)
        self._noted_gradients, self._noted_seconds = gradients, seconds
        if self._callback is not None:
            self._callback(step)

    def result(
        self, answer: Evaluation, fairest: Evaluation, n_live: int, status: Status, tolerances: FloatArray
    ) -> FitResult:
        """Return the record of the search.

        Parameters
        ----------
        answer, fairest : Evaluation
            The answer, and the point that came closest to the tolerances.
        n_live : int
            Live components of the answer.
        status : Status
            Why the search stopped.
        tolerances : ndarray of shape (n_measures,)
            tau.
        """
        counts = self._counts
        return FitResult(
            solver="budget",
            status=status,
            tolerances=tolerances,
            mmd2s=answer.discrepancies,
            fairest_mmd2s=fairest.discrepancies,
            variance_kept=answer.variance,
            steps=tuple(self._steps),
            n_values=counts.values,
            n_gradients=counts.gradients,
            n_hessian_products=counts.hessian_products,
            n_hessians=counts.hessians,
            n_live_components=n_live,
            seconds=time.perf_counter() - self._began,
        )


def _gradient_norm(cycle: Cycle) -> float:
    point = cycle.point
    return float(np.linalg.norm(cycle.multipliers @ point.discrepancy_gradients - point.variance_gradient))
