"""The budget solver on many axes: a search on few of them, and on what the gradient shows of the others."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._certificate import Certificate
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers._result import Callback, FitResult, Solution, Status
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._certify import LIMITING
from fairpca.solvers.budget._closest import closest_at_frame
from fairpca.solvers.budget._curvature import MOST_DENSE
from fairpca.solvers.budget._search import BudgetSearch, SearchSettings
from fairpca.solvers.budget._span import Span
from fairpca.solvers.budget._warm import BudgetWarmStart

LEADING = 100
"""Coordinates on the first axes with which a search begins where axes are many."""

LEAST_AXES = 5
"""First axes for each component at least."""

MOST_ROUNDS = 12
"""Searches before what is left outside of the span is left there."""

WIDER = 4
"""Factor by which the first axes become more where these do not meet the tolerances."""

FLATTEST = 0.05
"""Curvature along an axis outside of the span, in units of the largest, that is assumed at least."""


def has_many_axes(problem: FairSubspaceProblem) -> bool:
    """Tell whether the Hessian would not be built in all coordinates."""
    return (problem.rank - problem.n_components) * problem.n_components > MOST_DENSE


@dataclass(frozen=True, eq=False)
class Left:
    """What a search on a span has left outside of it.

    Attributes
    ----------
    answer : Evaluation
        The live columns of its answer, in all axes.
    directions : ndarray of shape (p, c)
        Where the Lagrangian falls outside of the span: against its gradient, and along a Newton step.
    gain : float
        Variance share that the Newton step promises.
    """

    answer: Evaluation
    directions: FloatArray
    gain: float


class GrowingSearch:
    """Search on a span that grows by what the Lagrangian's gradient shows outside of it, until that is nothing.

    The span begins with the first axes, the differences of means and the start. Along axes of little variance rows
    hardly move: what they add to the answer is a small correction, which the gradient there points to. It takes a few
    rounds, each from the answer of the one before, and no step costs more than linear in the number of axes.

    Parameters
    ----------
    settings : SearchSettings
        The parameters of the solver.
    problem : FairSubspaceProblem
        The problem on all axes.
    tolerances : ndarray of shape (n_measures,)
        tau.
    generator : numpy.random.Generator
        Draws random frames.
    callback : callable or None
        Called with each `OuterStep`.
    """

    def __init__(
        self,
        settings: SearchSettings,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> None:
        self._settings = settings
        self._problem = problem
        self._tolerances = tolerances
        self._generator = generator
        self._callback = callback
        self._began = time.perf_counter()
        self._results: list[FitResult] = []

    def solve(self, init: str | FloatArray | WarmStart) -> Solution:
        """Solve on spans that grow.

        Parameters
        ----------
        init : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        """
        n_leading = self._first_axes()
        directions = np.hstack([self._problem.mean_differences, _frame_of(init, len(self._problem.variances))])
        best: Solution | None = None
        for _ in range(MOST_ROUNDS):
            span = Span.of(self._problem, n_leading, directions)
            solution = self._solve_on(span, init)
            may_be_wider = span.rank < self._problem.rank and self._remaining() != 0.0
            if not solution.result.meets and best is None and may_be_wider:
                n_leading = min(self._problem.rank, WIDER * n_leading)
                continue
            if best is not None and not _is_better(solution, best):
                break
            best = solution
            if not solution.result.meets or solution.result.certificate is None or self._remaining() == 0.0:
                break
            left = self._left_by(span, solution)
            best = self._certified(solution, left)
            if left.gain <= self._settings.gain_tolerance:
                break
            init = solution.warm.on_other_rows(None)
            directions = np.hstack([span.directions, left.directions])
        best = solution if best is None else best
        return replace(best, result=self._with_all_effort(best.result))

    def _first_axes(self) -> int:
        d = self._problem.n_components
        return min(self._problem.rank, max(LEADING // d, LEAST_AXES * d))

    def _solve_on(self, span: Span, init: str | FloatArray | WarmStart) -> Solution:
        """Return the answer on a span, in all axes."""
        problem = span.restricted(self._problem)
        settings = replace(self._settings, max_seconds=self._remaining())
        search = BudgetSearch(settings, problem, self._tolerances, self._generator, self._callback)
        solution = search.solve(_lowered(init, span))
        self._problem.counts.add(problem.counts)
        self._results.append(solution.result)
        warm = replace(solution.warm, frame=span.lift(solution.warm.frame))
        if isinstance(warm, BudgetWarmStart):
            warm = replace(warm, view=None)
        return Solution(span.lift(solution.point), solution.result, warm)

    def _left_by(self, span: Span, solution: Solution) -> Left:
        """Return what is left outside of the span at an answer."""
        shares, V = self._problem.shares, solution.point[:, : solution.warm.n_live]
        theta, rotation = np.linalg.eigh((V * shares[:, None]).T @ V)
        here = self._problem.evaluate(V @ rotation)
        certificate = solution.result.certificate
        assert certificate is not None
        force = span.outside(here.variance_gradient - here.weighted_gradient(certificate.multipliers))
        steepness = np.maximum(2.0 * (theta - shares[:, None]), FLATTEST * 2.0 * shares[0])
        step = force / steepness
        return Left(here, np.hstack([step, force]), 0.5 * float(np.vdot(step, force)))

    def _certified(self, solution: Solution, left: Left) -> Solution:
        """Return an answer whose optimality conditions are those in all axes."""
        certificate = solution.result.certificate
        assert certificate is not None
        certificate = in_all_axes(certificate, left.answer)
        result = replace(solution.result, certificate=certificate)
        if left.gain > VISIBLE and result.status is Status.CONVERGED:
            result = replace(result, status=Status.MAX_ITERATIONS)
        return replace(solution, result=result)

    def _remaining(self) -> float | None:
        limit = self._settings.max_seconds
        return None if limit is None else max(0.0, limit - (time.perf_counter() - self._began))

    def _with_all_effort(self, result: FitResult) -> FitResult:
        """Return the record with what all rounds have done."""
        counts = self._problem.counts
        return replace(
            result,
            steps=tuple(step for each in self._results for step in each.steps),
            n_values=counts.values,
            n_gradients=counts.gradients,
            n_hessian_products=counts.hessian_products,
            n_hessians=counts.hessians,
            seconds=time.perf_counter() - self._began,
        )


def in_all_axes(certificate: Certificate, answer: Evaluation) -> Certificate:
    """Return a certificate with multipliers and residual from the gradients in all axes.

    Parameters
    ----------
    certificate : Certificate
        That of a span.
    answer : Evaluation
        The answer in all axes.
    """
    used = certificate.budgets_used
    multipliers = closest_at_frame(answer, used >= min(LIMITING, float(used.max())))
    V, gradient = answer.point, answer.variance_gradient
    left = gradient - answer.weighted_gradient(multipliers)
    horizontal, residual = (each - V @ (V.T @ each) for each in (gradient, left))
    length = float(np.linalg.norm(horizontal))
    relative = float(np.linalg.norm(residual)) / length if length > 0 else 0.0
    return replace(certificate, multipliers=multipliers, kkt_residual=relative)


def _is_better(solution: Solution, best: Solution) -> bool:
    """Tell whether an answer meets the tolerances too, and keeps at least about as much."""
    return solution.result.meets and solution.result.variance_kept > best.result.variance_kept - VISIBLE


def _frame_of(init: str | FloatArray | WarmStart, n_axes: int) -> FloatArray:
    if isinstance(init, str):
        return np.zeros((n_axes, 0))
    return init.frame if isinstance(init, WarmStart) else init


def _lowered(init: str | FloatArray | WarmStart, span: Span) -> str | FloatArray | WarmStart:
    """Return a start in the axes of a span that holds it."""
    if isinstance(init, str):
        return init
    if not isinstance(init, WarmStart):
        return span.lower(init)
    lowered = replace(init, frame=span.lower(init.frame))
    return replace(lowered, view=None) if isinstance(lowered, BudgetWarmStart) else lowered
