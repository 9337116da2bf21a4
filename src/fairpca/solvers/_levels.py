"""Solving on a sample first, then on all rows."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from fairpca._typing import FloatArray
from fairpca.problem import FairSubspaceProblem, Measurement
from fairpca.solvers._budget import Budget
from fairpca.solvers._budget_run import TARGET, USED, VISIBLE
from fairpca.solvers._registry import Solver
from fairpca.solvers._result import Callback, FitResult, Level, OuterStep, Solution, Status
from fairpca.solvers._start import WarmStart, mean_matched_frame

MAX_ROUNDS = 4
"""Fits on all rows before a discrepancy that the measurement does not confirm is given up."""

STRICTER = 0.5, 0.1
"""Shares of the tolerance that a sample is asked for when its answer cannot be made to meet the tolerance on all rows:
with fewer live components it may."""

WIDE = 0.5
"""Share of the tolerance up to which an error of h is held back from it; a wider error is only reported."""

CHEAP_ROWS = 60_000
"""Rows up to which a round for a hundredth of a point of variance is cheap."""


class Leveled(Protocol):
    """A problem with a sample of its rows."""

    @property
    def method(self) -> str:
        """How the discrepancy of all rows is computed."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def n_sample(self) -> int:
        """Number of rows of the sample."""

    @property
    def confirms_exactly(self) -> bool:
        """Whether `measure` is exact."""

    @property
    def coarse(self) -> FairSubspaceProblem:
        """The problem on the sample."""

    @property
    def thinned(self) -> "Leveled | None":
        """The same on a part of the rows, where they are so many that it pays."""

    def fine(self, frame: FloatArray, tolerance: float, known: FloatArray) -> FairSubspaceProblem:
        """Return the problem on all rows, for use around a frame where the vector h is known."""

    def estimate(self, frame: FloatArray, tolerance: float) -> Measurement:
        """Return h approximately, in time linear in the rows, with a bound on its error."""

    def measure(self, frame: FloatArray, tolerance: float) -> Measurement:
        """Return h, exact where that is affordable, otherwise the estimate."""


@dataclass(frozen=True)
class LevelsTask:
    """What is asked of a solver that works in levels.

    Attributes
    ----------
    data : Leveled
        The problem.
    tolerance : float
        tau.
    solver : Solver
        Solves on each level.
    generator : numpy.random.Generator
        Draws what the solver draws.
    callback : callable or None
        Called with each `OuterStep`.
    """

    data: Leveled
    tolerance: float
    solver: Solver
    generator: np.random.Generator
    callback: Callback | None = None

    def solve(self, start: str | FloatArray | WarmStart) -> Solution:
        """Solve on the sample, then on all rows from there, until the measured h confirms the answer.

        Parameters
        ----------
        start : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point, on the sample; from a WarmStart, the answer to a similar problem, all rows are used at once.
        """
        return _Levels(self).solve(start)


class _Levels:
    def __init__(self, task: LevelsTask) -> None:
        self._task = task
        self._data = task.data
        self._tolerance = task.tolerance
        self._began = time.perf_counter()
        self._steps: list[OuterStep] = []
        self._levels: list[Level] = []

    def solve(self, start: str | FloatArray | WarmStart) -> Solution:
        if isinstance(start, WarmStart):
            return self._solve_on_all(_Guess.of_warm_start(start), start.pca_mmd2)
        pca = self._data.coarse.pca()
        of_pca = self._data.estimate(pca, self._tolerance)
        if of_pca.worst <= 2 * self._tolerance:
            measured = self._data.measure(pca, self._tolerance)
            if measured.at_most <= self._tolerance:
                return self._pca_is_fair(pca, measured)
        guess = self._guess_from_sample(start, 1.0, of_pca.worst)
        solution = self._solve_on_all(guess, of_pca.worst)
        for share in STRICTER:
            if solution.result.mmd2 <= self._tolerance or self._remaining() == 0.0:
                break
            stricter = self._guess_from_sample(start, share, of_pca.worst)
            if stricter.live.shape[1] < guess.live.shape[1]:
                guess = stricter
                solution = self._solve_on_all(guess, of_pca.worst)
        return solution

    def _guess_from_sample(self, start: str | FloatArray, share: float, pca_mmd2: float) -> "_Guess":
        """Return an answer for a share of the tolerance on a sample, refined on a part of the rows where it pays."""
        guess = _Guess.of_solution(self._solve_on_sample(start, share), pca_mmd2)
        if self._data.thinned is None:
            return guess
        return self._solve_on_part(self._data.thinned, guess, pca_mmd2)

    def _solve_on_sample(self, start: str | FloatArray, share: float) -> Solution:
        problem = self._data.coarse.afresh()
        # The plug-in MMD^2 of few rows is larger; the sample is asked for what corresponds to tau on all rows.
        fair = mean_matched_frame(problem, problem.shape[0])
        excess = float(problem.discrepancies(fair).max()) - self._data.estimate(fair, self._tolerance).worst
        goal = share * self._tolerance + max(0.0, excess)
        return self._run(problem, goal, start, self._data.n_sample, "exact")

    def _solve_on_part(self, part: Leveled, guess: "_Guess", pca_mmd2: float) -> "_Guess":
        known = part.estimate(guess.live, self._tolerance)
        excess = known.worst - self._data.estimate(guess.live, self._tolerance).worst
        problem = part.fine(guess.live, self._tolerance, known.values)
        solution = self._run(problem, self._tolerance + max(0.0, excess), guess.start, part.n_rows, part.method)
        return _Guess.of_solution(solution, pca_mmd2)

    def _solve_on_all(self, guess: "_Guess", pca_mmd2: float) -> Solution:
        known = self._data.estimate(guess.live, self._tolerance)
        goal = self._tolerance if self._data.confirms_exactly else self._goal(known)
        answers: list[tuple[Solution, Measurement]] = []
        for _ in range(MAX_ROUNDS):
            problem = self._data.fine(guess.live, self._tolerance, known.values)
            solution = self._run(problem, goal, guess.start, self._data.n_rows, self._data.method)
            guess = _Guess.of_solution(solution, pca_mmd2)
            known = self._data.measure(guess.live, self._tolerance)
            answers.append((solution, known))
            wasted = self._wasted(solution, known) and solution.result.mmd2 >= USED * goal
            if (self._meets(known) and not wasted) or self._remaining() == 0.0:
                break
            goal = self._goal(known)
        return self._conclude(answers)

    def _goal(self, measured: Measurement) -> float:
        """Return what is left of the tolerance for h when the error of its measurement is held back."""
        return self._tolerance - (measured.error if measured.error <= WIDE * self._tolerance else 0.0)

    def _wasted(self, solution: Solution, measured: Measurement) -> bool:
        """Tell whether the measured h leaves budget that is worth another round."""
        goal = self._goal(measured)
        if measured.worst < USED * goal:
            return True
        if solution.warm is None or self._data.n_rows > CHEAP_ROWS:
            return False
        return solution.warm.multiplier * (TARGET * goal - measured.worst) > 5 * VISIBLE

    def _meets(self, measured: Measurement) -> bool:
        return measured.worst <= self._goal(measured)

    def _run(
        self, problem: FairSubspaceProblem, goal: float, start: str | FloatArray | WarmStart, n_rows: int, method: str
    ) -> Solution:
        began, task = time.perf_counter(), self._task
        solver = task.solver
        remaining = self._remaining()
        if isinstance(solver, Budget) and remaining is not None:
            solver = replace(solver, max_seconds=max(remaining, 1e-3))
        solution = solver.solve(problem, goal, start, task.generator, task.callback)
        counts, seconds = problem.counts, time.perf_counter() - began
        self._levels.append(Level(n_rows, method, counts.values, counts.gradients, counts.hessians, seconds))
        self._steps += solution.result.steps
        return solution

    def _remaining(self) -> float | None:
        limit = self._task.solver.max_seconds if isinstance(self._task.solver, Budget) else None
        return None if limit is None else max(0.0, limit - (time.perf_counter() - self._began))

    def _conclude(self, answers: list[tuple[Solution, Measurement]]) -> Solution:
        """Return the answer of most variance that meets the tolerance, or the fairest."""
        feasible = [answer for answer in answers if self._meets(answer[1])]
        if feasible:
            solution, measured = max(feasible, key=lambda answer: answer[0].result.variance_kept)
            status = solution.result.status
        else:
            solution, measured = min(answers, key=lambda answer: answer[1].worst)
            status = Status.OUT_OF_TIME if self._remaining() == 0.0 else Status.TOLERANCE_NOT_MET
        return replace(solution, result=self._record(solution.result, measured, status))

    def _record(self, result: FitResult, measured: Measurement, status: Status) -> FitResult:
        certificate = result.certificate
        if certificate is not None:
            certificate = replace(certificate, hessian_rows=self._data.n_sample)
        return replace(
            result,
            status=status,
            tolerance=self._tolerance,
            mmd2=measured.worst,
            mmd2_error=measured.error,
            smallest_mmd2=min(measured.worst, result.smallest_mmd2),
            steps=tuple(self._steps),
            n_values=sum(level.n_values for level in self._levels),
            n_gradients=sum(level.n_gradients for level in self._levels),
            n_hessians=sum(level.n_hessians for level in self._levels),
            seconds=time.perf_counter() - self._began,
            certificate=certificate,
            levels=tuple(self._levels),
        )

    def _pca_is_fair(self, pca: FloatArray, measured: Measurement) -> Solution:
        problem = self._data.coarse
        n_live = min(problem.n_components, problem.rank)
        result = FitResult(
            solver="pca",
            status=Status.PCA_IS_FAIR,
            tolerance=self._tolerance,
            mmd2=measured.worst,
            smallest_mmd2=measured.worst,
            variance_kept=float(problem.shares[:n_live].sum()),
            steps=(),
            n_values=1,
            n_gradients=0,
            n_hessian_products=0,
            n_hessians=0,
            seconds=0.0,
            n_live_components=n_live,
        )
        return Solution(pca, self._record(result, measured, Status.PCA_IS_FAIR))


@dataclass(frozen=True)
class _Guess:
    """The answer on another level: its live columns (null ones, which come last, add nothing to h), and a start."""

    live: FloatArray
    start: FloatArray | WarmStart

    @classmethod
    def of_solution(cls, solution: Solution, pca_mmd2: float) -> "_Guess":
        if solution.warm is None:
            return cls(solution.point, solution.point)
        return cls.of_warm_start(replace(solution.warm, pca_mmd2=pca_mmd2))

    @classmethod
    def of_warm_start(cls, start: WarmStart) -> "_Guess":
        return cls(start.frame[:, : start.n_live], replace(start, view=None, settled=True))
