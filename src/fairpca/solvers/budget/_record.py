"""The history of a search, its answer and the certificate of that."""
# SPDX-License-Identifier: MIT

import math
import time
from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, EvaluationCounts, FairSubspaceProblem
from fairpca.solvers._result import Callback, Certificate, FitResult, OuterStep, Solution, Status
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._chart import closest_multipliers, horizontal
from fairpca.solvers.budget._moments import model_around
from fairpca.solvers.budget._run import Cycle, RunResult

LIMITING = 0.95
"""Share of its tolerance from which on an h_j can be what limits the answer."""


class History:
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
        self._last_gradients, self._last_seconds = 0, 0.0
        self.deadline = self._began + (math.inf if max_seconds is None else max_seconds)

    @property
    def is_out_of_time(self) -> bool:
        """Whether the time is over."""
        return time.perf_counter() > self.deadline

    def add(self, cycle: Cycle) -> None:
        """Add a cycle, and tell the caller."""
        gradients, seconds = self._counts.gradients, time.perf_counter() - self._began
        point = cycle.point
        left = cycle.multipliers @ point.discrepancy_gradients - point.variance_gradient
        step = OuterStep(
            penalties=cycle.multipliers,
            mmd2s=point.evaluation.discrepancies,
            variance_kept=point.evaluation.variance,
            gradient_norm=float(np.linalg.norm(left)),
            expected_gain=cycle.expected_gain,
            step_length=cycle.length,
            n_iter=cycle.n_steps,
            n_gradients=gradients - self._last_gradients,
            n_hessian_products=0,
            seconds=seconds - self._last_seconds,
            message=f"{point.evaluation.point.shape[1]} live components",
        )
        self._steps.append(step)
        self._last_gradients, self._last_seconds = gradients, seconds
        if self._callback is not None:
            self._callback(step)

    def result(self, answer: Evaluation, fairest: Evaluation, status: Status, tolerances: FloatArray) -> FitResult:
        """Return the record of the search."""
        counts = self._counts
        return FitResult(
            solver="budget",
            status=status,
            tolerances=tolerances,
            mmd2s=answer.discrepancies,
            fairest_mmd2s=min(answer, fairest, key=lambda each: each.largest_ratio(tolerances)).discrepancies,
            variance_kept=answer.variance,
            steps=tuple(self._steps),
            n_values=counts.values,
            n_gradients=counts.gradients,
            n_hessian_products=0,
            n_hessians=counts.hessians,
            n_live_components=answer.point.shape[1],
            seconds=time.perf_counter() - self._began,
        )


def conclude(
    problem: FairSubspaceProblem, tolerances: FloatArray, history: History, found: RunResult, is_doubtful: bool = False
) -> Solution:
    """Return the answer of a search: the best point of a run, or the fairest where none meets the tolerances.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of all components.
    tolerances : ndarray of shape (n_measures,)
        tau.
    history : History
        What was done.
    found : RunResult
        The run.
    is_doubtful : bool, default=False
        Whether another search may keep more.
    """
    if found.is_stationary:
        status = Status.CONVERGED
    elif history.is_out_of_time:
        status = Status.OUT_OF_TIME
    else:
        status = Status.TOLERANCE_NOT_MET if found.best is None else Status.MAX_ITERATIONS
    answer, multipliers = found.best or found.fairest, found.multipliers
    result = history.result(answer, found.fairest, status, tolerances)
    if found.best is not None:
        bound = float(problem.shares[: problem.n_components].sum())
        certificate = certified(found, bound, tolerances)
        result, multipliers = replace(result, certificate=certificate), certificate.multipliers
    frame = with_null_columns(answer.point, problem.n_components)
    return Solution(frame, result, WarmStart(frame, found.n_live, multipliers, is_doubtful=is_doubtful))


def certified(found: RunResult, bound: float, tolerances: FloatArray) -> Certificate:
    """Return the optimality conditions at the best point of a run.

    Parameters
    ----------
    found : RunResult
        The run.
    bound : float
        The share that no projection to as many components can exceed.
    tolerances : ndarray of shape (n_measures,)
        tau.
    """
    assert found.best is not None
    model, point = found.view or model_around(found.best, found.problem, found.multipliers)
    used = found.best.discrepancies / tolerances
    multipliers, residual = stationarity(found.best, used)
    curvature = model.smallest_curvature(point, multipliers, multipliers > 0)
    return Certificate(multipliers, residual, curvature, bound, used)


def stationarity(answer: Evaluation, used: FloatArray) -> tuple[FloatArray, float]:
    """Return the multipliers at an answer that uses such shares of the tolerances, and the relative KKT residual."""
    multipliers = closest_multipliers(answer, used >= min(LIMITING, float(used.max())))
    (gradient,) = horizontal(answer, answer.variance_gradient[None])
    left = gradient - multipliers @ horizontal(answer, answer.discrepancy_gradients)
    length = float(np.linalg.norm(gradient))
    return multipliers, float(np.linalg.norm(left)) / length if length > 0 else 0.0


def with_null_columns(live: FloatArray, d: int) -> FloatArray:
    """Append the last null axes until a frame has d columns."""
    p, k = live.shape
    frame = np.zeros((p, d))
    frame[:, :k] = live
    frame[np.arange(p - d + k, p), np.arange(k, d)] = 1.0
    return frame
