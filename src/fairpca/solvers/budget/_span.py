"""The budget solver on many axes: a search on few of them, and on what the gradient shows of the others."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd import MANY_COLUMNS
from fairpca.problem import EvaluationCounts, FairSubspaceProblem
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers._result import Callback, FitResult, Solution, Status
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._record import stationarity
from fairpca.solvers.budget._search import Search, SearchSettings

LEADING, LEAST_AXES = 100, 5
"""Coordinates on the first axes with which a search begins, and first axes for each component at least."""

MOST_ROUNDS = 12
"""Searches before what is left outside of the span is left there; most take three."""

WIDER = 4
"""Factor by which the first axes become more where these do not meet the tolerances."""

FLATTEST = 0.05
"""Least curvature assumed along an axis outside of the span, in units of the largest: gaps of variance may vanish."""


def has_many_axes(problem: FairSubspaceProblem) -> bool:
    """Tell whether gradients in all axes take much longer than in few."""
    return problem.rank > MANY_COLUMNS


@dataclass(frozen=True, eq=False)
class Span:
    """The span of the first m axes, of a few directions in the live axes after them, and of some null axes.

    S is diagonal: with the directions rotated so that it is diagonal on them, the problem on the span is one in
    principal axes again.

    Attributes
    ----------
    n_leading : int
        m.
    tail : ndarray of shape (rank - m, c)
        Orthonormal directions in the live axes from m on, by decreasing variance.
    n_null : int
        Number of null axes, the last ones.
    n_axes : int
        Number of all axes.
    """

    n_leading: int
    tail: FloatArray
    n_null: int
    n_axes: int

    @classmethod
    def of(cls, problem: FairSubspaceProblem, n_leading: int, directions: FloatArray) -> "Span":
        """Return the span of the first axes and of directions, as far as these lie in the live axes."""
        p, rank = len(problem.variances), problem.rank
        tails = directions[n_leading:rank]
        lengths = np.linalg.norm(tails, axis=0)
        basis, sizes, _ = np.linalg.svd(tails[:, lengths > 0] / lengths[lengths > 0], full_matrices=False)
        basis = basis[:, sizes > 1e-10 * sizes.max(initial=0.0)]
        rotation = np.linalg.eigh((basis * problem.variances[n_leading:rank, None]).T @ basis)[1][:, ::-1]
        return cls(n_leading, basis @ rotation, min(p - rank, problem.n_components), p)

    @property
    def rank(self) -> int:
        """Number of its live axes."""
        return self.n_leading + self.tail.shape[1]

    @property
    def _end(self) -> int:
        return self.n_leading + len(self.tail)

    @property
    def directions(self) -> FloatArray:
        """Its directions beside the first axes and null ones, in all axes."""
        return self.lift(np.eye(self.rank + self.n_null)[:, self.n_leading : self.rank])

    def lift(self, inside: FloatArray) -> FloatArray:
        """Return vectors of the span, as columns, in all axes."""
        lifted = np.zeros((self.n_axes, inside.shape[1]))
        lifted[: self.n_leading] = inside[: self.n_leading]
        lifted[self.n_leading : self._end] = self.tail @ inside[self.n_leading : self.rank]
        lifted[self.n_axes - self.n_null :] = inside[self.rank :]
        return lifted

    def lower(self, vectors: FloatArray) -> FloatArray:
        """Return what of vectors in all axes, as columns, lies in the span."""
        tails, null = self.tail.T @ vectors[self.n_leading : self._end], vectors[self.n_axes - self.n_null :]
        return np.concatenate([vectors[: self.n_leading], tails, null])

    def outside(self, vectors: FloatArray) -> FloatArray:
        """Return what of vectors in all axes lies in the live axes, but not in the span."""
        left, tails = np.zeros_like(vectors), vectors[self.n_leading : self._end]
        left[self.n_leading : self._end] = tails - self.tail @ (self.tail.T @ tails)
        return left

    def restricted(self, problem: FairSubspaceProblem) -> FairSubspaceProblem:
        """Return a problem for frames in the span, with new counters."""
        of_tail = np.einsum("ij,i,ij->j", self.tail, problem.variances[self.n_leading : self._end], self.tail)
        return replace(
            problem,
            variances=np.concatenate([problem.variances[: self.n_leading], of_tail, np.zeros(self.n_null)]),
            discrepancy=problem.discrepancy.along(self.lift(np.eye(self.rank + self.n_null))),
            rank=self.rank,
            mean_differences=self.lower(problem.mean_differences),
            total=problem.total_variance,
            counts=EvaluationCounts(),
        )


class GrowingSearch:
    """Search on a span that grows by what the Lagrangian's gradient shows outside of it, until that is nothing.

    The span begins with the first axes, the differences of means and the start. Along axes of little variance rows
    hardly move: what they add to the answer is a small correction, which the gradient there points to. It takes a few
    rounds, each from the answer of the one before, and no step costs more than linear in the number of axes.
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
        """Solve on spans that grow, see `Search.solve`."""
        d = self._problem.n_components
        n_leading = min(self._problem.rank, max(LEADING // d, LEAST_AXES * d))
        directions = self._problem.mean_differences
        if not isinstance(init, str):
            directions = np.hstack([directions, init.frame if isinstance(init, WarmStart) else init])
        best: Solution | None = None
        for _ in range(MOST_ROUNDS):
            span = Span.of(self._problem, n_leading, directions)
            solution = self._solve_on(span, init)
            if not solution.result.meets and best is None and span.rank < self._problem.rank and self._has_time:
                n_leading = min(self._problem.rank, WIDER * n_leading)
                continue
            if best is not None and not _keeps_as_much(solution, best):
                break
            best = solution
            if not solution.result.meets or solution.result.certificate is None or not self._has_time:
                break
            best, left, gain = self._checked_outside(span, solution)
            if gain <= self._settings.gain_tolerance:
                break
            init, directions = solution.warm.on_other_rows(), np.hstack([span.directions, left])
        best = solution if best is None else best
        return replace(best, result=self._with_all_effort(best.result))

    def _solve_on(self, span: Span, init: str | FloatArray | WarmStart) -> Solution:
        """Return the answer on a span, in all axes."""
        problem = span.restricted(self._problem)
        if isinstance(init, WarmStart):
            init = replace(init, frame=span.lower(init.frame))
        elif not isinstance(init, str):
            init = span.lower(init)
        settings = replace(self._settings, max_seconds=self._remaining)
        solution = Search(settings, problem, self._tolerances, self._generator, self._callback).solve(init)
        self._problem.counts.add(problem.counts)
        self._results.append(solution.result)
        frame = span.lift(solution.point)
        return Solution(frame, solution.result, replace(solution.warm, frame=frame))

    def _checked_outside(self, span: Span, solution: Solution) -> tuple[Solution, FloatArray, float]:
        """Return an answer with its optimality conditions in all axes, directions outside of the span, and their gain.

        The directions are the gradient of the Lagrangian there and a Newton step, whose variance share is the gain.
        """
        shares, V, result = self._problem.shares, solution.warm.live, solution.result
        theta, rotation = np.linalg.eigh((V * shares[:, None]).T @ V)
        here = self._problem.evaluate(V @ rotation)
        assert result.certificate is not None
        multipliers, residual = stationarity(here, result.certificate.budgets_used)
        force = span.outside(here.variance_gradient - here.weighted_gradient(multipliers))
        step = force / np.maximum(2.0 * (theta - shares[:, None]), FLATTEST * 2.0 * shares[0])
        gain = 0.5 * float(np.vdot(step, force))
        certificate = replace(result.certificate, multipliers=multipliers, kkt_residual=residual)
        status = Status.MAX_ITERATIONS if gain > VISIBLE and result.success else result.status
        checked = replace(solution, result=replace(result, certificate=certificate, status=status))
        return checked, np.hstack([step, force]), gain

    @property
    def _remaining(self) -> float | None:
        limit = self._settings.max_seconds
        return None if limit is None else max(0.0, limit - (time.perf_counter() - self._began))

    @property
    def _has_time(self) -> bool:
        return self._remaining != 0.0

    def _with_all_effort(self, result: FitResult) -> FitResult:
        """Return the record with what all rounds have done."""
        counts = self._problem.counts
        return replace(
            result,
            steps=tuple(step for each in self._results for step in each.steps),
            n_values=counts.values,
            n_gradients=counts.gradients,
            n_hessian_products=0,
            n_hessians=counts.hessians,
            seconds=time.perf_counter() - self._began,
        )


def _keeps_as_much(solution: Solution, best: Solution) -> bool:
    """Tell whether an answer meets the tolerances too, and keeps at least about as much."""
    return solution.result.meets and solution.result.variance_kept > best.result.variance_kept - VISIBLE
