"""The budget solver: all the variance that a tolerance allows."""
# SPDX-License-Identifier: MIT

import math
import time
from dataclasses import dataclass, field, replace

import numpy as np

from fairpca._checks import check_flag, check_integer, check_number
from fairpca._threads import single_threaded_blas
from fairpca._typing import FloatArray
from fairpca.geometry import Grassmann
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._budget_run import BudgetRun, Cycle, RunOutcome, RunSettings, RunStart
from fairpca.solvers._certificate import certify, gains_by_dropping
from fairpca.solvers._curvature import Model
from fairpca.solvers._rbfgs import RiemannianBFGS
from fairpca.solvers._result import Callback, FitResult, OuterStep, Solution, Status
from fairpca.solvers._start import WarmStart, fairest_frame, mean_matched_frame

OUT_OF_REACH = 2.0
"""Multiple of the tolerance: where a run ends above it, fewer live components promise more than other starts."""

RANDOM_CYCLES = 25
"""Hessians that a random start may cost; a good one needs fewer."""


@dataclass(frozen=True)
class Budget:
    r"""Maximise the variance kept subject to h <= tau by a second-order method on the Grassmann manifold.

    Each cycle builds the exact Hessian of h in local coordinates, chooses the multiplier mu of the constraint by a
    one-dimensional search, and takes quasi-Newton steps on -variance + mu h with the factored Hessian as metric. The
    answer satisfies h <= tau, and h >= 0.99 tau where the constraint is active.

    With a strict tolerance fewer than d components may carry variance: a null direction costs no fairness. The number
    of live components is searched as well.

    Parameters
    ----------
    n_starts : int, default=None
        Starts for each number of live components: the given one, PCA, then minimisers of h from random frames. None
        takes one, and up to 24 where the tolerance turns out to be hard to meet and a run is cheap.
    allow_null : bool, default=True
        Whether components without variance may be part of the answer. If not, all d must carry variance.
    max_cycles : int, default=60
        Largest number of Hessians in one run.
    max_steps : int, default=7
        Quasi-Newton steps before the Hessian is built anew.
    gain_tolerance : float, default=1e-8
        A run ends when the gain in variance share still expected is below this.
    max_seconds : float, default=None
        Return the best point so far, marked, when this much time has passed.

    Notes
    -----
    With several measures one multiplier serves the sum of their discrepancies, and the tolerance is held by the
    largest of them.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> model = FairPCA(10, tolerance=1e-6, solver=Budget(allow_null=False, max_seconds=5.0))
    """

    n_starts: int | None = None
    allow_null: bool = True
    max_cycles: int = 60
    max_steps: int = 7
    gain_tolerance: float = 1e-8
    max_seconds: float | None = None
    name: str = field(default="budget", init=False)

    def __post_init__(self) -> None:
        check_integer("n_starts", self.n_starts, 1, 1000, or_none=True)
        check_flag("allow_null", self.allow_null)
        check_integer("max_cycles", self.max_cycles, 1)
        check_integer("max_steps", self.max_steps, 1)
        check_number("gain_tolerance", self.gain_tolerance, 0)
        check_number("max_seconds", self.max_seconds, 0, or_none=True)

    def check_tolerance(self, tolerance: float) -> None:
        """Refuse a tolerance that this solver cannot meet."""
        if not tolerance > 0:
            raise ValueError(
                f"tolerance={tolerance!r} must be greater than 0 for the budget solver: MMD^2 is a squared norm, so "
                "its gradient vanishes where it is 0 and an exact 0 has no regular solution. 1e-8 is the smallest "
                'value that rounding leaves meaningful; solver="repms" accepts 0 and stops where its penalty ends.'
            )

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerance: float,
        init: str | FloatArray | WarmStart,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        problem : FairSubspaceProblem
            The problem.
        tolerance : float
            tau, greater than 0.
        init : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        generator : numpy.random.Generator
            Draws random frames.
        callback : callable, default=None
            Called with each `OuterStep`.

        Returns
        -------
        solution : Solution
            The best point found and the record of the search.
        """
        self.check_tolerance(tolerance)
        with single_threaded_blas():
            return _Search(self, problem, tolerance, generator, callback).solve(init)


@dataclass(frozen=True)
class _Candidate:
    """The best outcome for one number of live components."""

    n_live: int
    outcome: RunOutcome

    @property
    def variance(self) -> float:
        return -math.inf if self.outcome.best is None else self.outcome.best.variance


class _Search:
    """Search over starts and numbers of live components."""

    def __init__(
        self,
        settings: Budget,
        problem: FairSubspaceProblem,
        tolerance: float,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> None:
        self._settings = settings
        self._problem = problem
        self._tolerance = tolerance
        self._generator = generator
        self._callback = callback
        self._began = time.perf_counter()
        limit = math.inf if settings.max_seconds is None else settings.max_seconds
        self._run_settings = RunSettings(
            settings.max_cycles, settings.max_steps, settings.gain_tolerance, self._began + limit
        )
        self._steps: list[OuterStep] = []
        self._candidates: dict[int, _Candidate] = {}

    def solve(self, init: str | FloatArray | WarmStart) -> Solution:
        most, least = self._live_range()
        if isinstance(init, WarmStart):
            first_live = min(most, max(least, init.n_live))
            self._pca_mmd2 = init.pca_mmd2
        else:
            first_live = most
            pca = self._problem.evaluate(self._problem.pca())
            if pca.worst <= self._tolerance:
                return self._solution(pca, most, Status.PCA_IS_FAIR)
            self._pca_mmd2 = pca.worst
        settled = isinstance(init, WarmStart) and init.settled
        n_extra = 0 if settled else (self._settings.n_starts or 1) - 1
        first = self._try(first_live, self._start(init, first_live), n_extra)
        if settled:
            return self._conclude()
        smooth = first.outcome.stationary and not first.outcome.rugged
        if not smooth or gains_by_dropping(first.outcome.best, first.outcome.mu):
            self._search_harder(most, least, first)
        return self._conclude()

    def _live_range(self) -> tuple[int, int]:
        """Return the largest and the smallest number of live components to consider."""
        d, rank = self._problem.n_components, self._problem.rank
        n_null = len(self._problem.variances) - rank
        most = min(d, rank)
        return most, max(1, d - n_null) if self._settings.allow_null else most

    def _search_harder(self, most: int, least: int, first: _Candidate) -> None:
        """Climb along the number of live components from a good guess, with more starts where they are cheap."""
        if self._settings.n_starts is None:
            out_of_reach = first.outcome.fairest.worst > OUT_OF_REACH * self._tolerance
            elsewhere = first.outcome.rugged and not (out_of_reach and most > least)
            starts = self._other_basins(first.n_live) if elsewhere else []
            first = self._run_starts(first.n_live, starts, self._cheap_starts(first.n_live), first)
        if most == least:
            return
        here = most if first.variance > -math.inf else max(least, (most + 1) // 2)
        if here not in self._candidates:
            self._improves_with(here)
        for direction in (1, -1):
            k = self._best().n_live + direction
            while least <= k <= most and not self._out_of_time():
                if k in self._candidates or not self._improves_with(k):
                    break
                k += direction

    def _improves_with(self, n_live: int) -> bool:
        """Try a number of live components and tell whether it is the best so far."""
        before = self._best().variance
        start = RunStart(mean_matched_frame(self._problem.with_components(n_live)), 1.0 / self._pca_mmd2)
        return self._try(n_live, start, self._cheap_starts(n_live)).variance > before

    def _best(self) -> _Candidate:
        return max(self._candidates.values(), key=lambda candidate: candidate.variance)

    def _other_basins(self, n_live: int) -> list[RunStart]:
        """Return starts from PCA and from the end of a path of looser tolerances."""
        problem = self._problem.with_components(n_live)
        start = RunStart(mean_matched_frame(problem), 1.0 / self._pca_mmd2)
        for tolerance in (100 * self._tolerance, 10 * self._tolerance):
            if tolerance >= self._pca_mmd2:
                continue
            run = BudgetRun(problem, tolerance, self._run_settings, self._on_cycle)
            outcome = run.run(start)
            start = RunStart((outcome.best or outcome.fairest).point, outcome.mu)
        return [RunStart(problem.pca(), 1.0 / self._pca_mmd2), start]

    def _cheap_starts(self, n_live: int) -> int:
        """Return how many random starts are affordable: the work of a run grows with the number of coordinates."""
        if self._settings.n_starts is not None:
            return self._settings.n_starts - 1
        coordinates = max(1, (self._problem.rank - n_live) * n_live)
        return int(min(23, 1000 / coordinates**1.5))

    def _try(self, n_live: int, start: RunStart, n_extra: int) -> _Candidate:
        return self._run_starts(n_live, [start], n_extra, None)

    def _run_starts(self, n_live: int, starts: list[RunStart], n_extra: int, best: _Candidate | None) -> _Candidate:
        problem = self._problem.with_components(n_live)
        for index in range(len(starts) + n_extra):
            if best is not None and self._out_of_time():
                break
            given = index < len(starts)
            start = starts[index] if given else self._random_start(problem)
            settings = self._run_settings if given else replace(self._run_settings, max_cycles=RANDOM_CYCLES)
            others = [other.variance for other in self._candidates.values() if not given or other.n_live != n_live]
            floor = max(others, default=-math.inf)
            outcome = BudgetRun(problem, self._tolerance, settings, self._on_cycle).run(start, floor)
            candidate = _Candidate(n_live, outcome)
            if best is None or _better(candidate, best):
                best = candidate
        assert best is not None
        self._candidates[n_live] = best
        return best

    def _start(self, init: str | FloatArray | WarmStart, n_live: int) -> RunStart:
        problem = self._problem.with_components(n_live)
        if isinstance(init, WarmStart):
            view = init.view if n_live == init.n_live else None
            return RunStart(self._live_part(init.frame, n_live), init.multiplier, view)
        if not isinstance(init, str):
            return RunStart(self._live_part(init, n_live), None)
        if init == "auxiliary":
            return self._random_start(problem)
        return RunStart(problem.pca() if init == "pca" else mean_matched_frame(problem), 1.0 / self._pca_mmd2)

    def _live_part(self, frame: FloatArray, n_live: int) -> FloatArray:
        """Return the n_live dimensions of a subspace that lie closest to the live axes."""
        live = np.zeros((len(frame), n_live))
        rank = self._problem.rank
        live[:rank] = np.linalg.svd(frame[:rank], full_matrices=False)[0][:, :n_live]
        return live

    def _random_start(self, problem: FairSubspaceProblem) -> RunStart:
        fair = fairest_frame(problem, Grassmann(), RiemannianBFGS(max_iter=60), 1e-5, self._generator, problem.rank)
        return RunStart(fair.point, 0.01 / self._tolerance)

    def _on_cycle(self, cycle: Cycle) -> None:
        counts = self._problem.counts
        spent = counts.gradients - sum(step.n_gradients for step in self._steps)
        step = OuterStep(
            rho=cycle.mu,
            mmd2=cycle.point.evaluation.worst,
            variance_kept=cycle.point.evaluation.variance,
            gradient_norm=_gradient_norm(cycle),
            gradient_tolerance=self._settings.gain_tolerance,
            step_length=cycle.moved,
            n_iter=cycle.n_steps,
            n_gradients=spent,
            n_hessian_products=0,
            seconds=time.perf_counter() - self._began - sum(step.seconds for step in self._steps),
            message=f"{cycle.point.evaluation.point.shape[1]} live components",
        )
        self._steps.append(step)
        if self._callback is not None:
            self._callback(step)

    def _out_of_time(self) -> bool:
        return time.perf_counter() > self._run_settings.deadline

    def _conclude(self) -> Solution:
        """Pick the best feasible answer, or the fairest where none is feasible."""
        best = self._best()
        outcome = best.outcome
        if outcome.best is None:
            fairest = min(
                (candidate.outcome.fairest for candidate in self._candidates.values()),
                key=lambda evaluation: evaluation.worst,
            )
            status = Status.OUT_OF_TIME if self._out_of_time() else Status.TOLERANCE_NOT_MET
            solution = self._solution(fairest, fairest.point.shape[1], status)
            largest = self._largest_feasible(min(self._candidates))
            return Solution(solution.point, replace(solution.result, largest_feasible_components=largest))
        if outcome.stationary:
            status = Status.CONVERGED
        else:
            status = Status.OUT_OF_TIME if self._out_of_time() else Status.MAX_ITERATIONS
        solution = self._solution(outcome.best, best.n_live, status)
        problem = self._problem.with_components(best.n_live)
        view = outcome.view or Model.around(outcome.best, problem, single_precision=True)
        certificate = certify(view, float(problem.shares[: best.n_live].sum()), self._tolerance)
        result = replace(solution.result, certificate=certificate, n_hessians=self._problem.counts.hessians)
        warm = WarmStart(solution.point, certificate.multiplier, best.n_live, self._pca_mmd2, view)
        return Solution(solution.point, result, warm)

    def _largest_feasible(self, below: int) -> int | None:
        """Return the largest number of components below a number that meets the tolerance, by bisection."""
        feasible, infeasible = 0, below
        while infeasible - feasible > 1 and not self._out_of_time():
            middle = (feasible + infeasible) // 2
            problem = self._problem.with_components(middle)
            start = RunStart(mean_matched_frame(problem), 1.0 / self._pca_mmd2)
            outcome = BudgetRun(problem, self._tolerance, self._run_settings, self._on_cycle).run(start)
            if outcome.best is None:
                infeasible = middle
            else:
                feasible = middle
        return feasible or None

    def _solution(self, answer: Evaluation, n_live: int, status: Status) -> Solution:
        counts = self._problem.counts
        smallest = [candidate.outcome.fairest.worst for candidate in self._candidates.values()]
        result = FitResult(
            solver=self._settings.name,
            status=status,
            tolerance=self._tolerance,
            mmd2=answer.worst,
            smallest_mmd2=min([answer.worst, *smallest]),
            variance_kept=answer.variance,
            steps=tuple(self._steps),
            n_values=counts.values,
            n_gradients=counts.gradients,
            n_hessian_products=counts.hessian_products,
            n_hessians=counts.hessians,
            n_live_components=n_live,
            seconds=time.perf_counter() - self._began,
        )
        return Solution(self._with_null_columns(answer.point), result)

    def _with_null_columns(self, live: FloatArray) -> FloatArray:
        """Append null axes until the frame has d columns."""
        p, d = self._problem.shape
        n_missing = d - live.shape[1]
        null = np.zeros((p, n_missing))
        null[self._problem.rank + np.arange(n_missing), np.arange(n_missing)] = 1.0
        return np.hstack([live, null])


def _better(first: _Candidate, second: _Candidate) -> bool:
    if first.variance != second.variance:
        return first.variance > second.variance
    return first.outcome.fairest.worst < second.outcome.fairest.worst


def _gradient_norm(cycle: Cycle) -> float:
    point = cycle.point
    return float(np.linalg.norm(cycle.mu * point.discrepancy_gradient - point.variance_gradient))
