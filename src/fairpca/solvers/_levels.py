"""Solving on a sample first, then on all rows."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import replace
from typing import Protocol

import numpy as np

from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import FloatArray
from fairpca.mmd import Measurement
from fairpca.problem import FairSubspaceProblem, largest_ratio
from fairpca.solvers._limits import USED, VISIBLE
from fairpca.solvers._registry import Solver
from fairpca.solvers._result import Callback, FitResult, Level, OuterStep, Solution, Status
from fairpca.solvers._start import mean_matched_frame
from fairpca.solvers._warm import WarmStart

MAX_ROUNDS = 6
"""Fits on all rows before discrepancies that the measurement does not confirm are given up."""

STRICTER = 0.5, 0.1
"""Shares of the tolerance that a sample is asked for when its answer cannot be made to meet the tolerance on all rows:
with fewer live components it may."""

FAR_OFF = 1.5
"""Share of a tolerance from which on an answer is not a little above it, but may need fewer live components."""

WIDE = 0.5
"""Share of the tolerance up to which an error of h is held back from it; a wider error is only reported."""

CHEAP_ROWS = 60_000
"""Rows up to which a second start on all of them is cheap."""

Start = str | FloatArray | WarmStart
"""The name of a start, a frame of shape (p, d), or the answer to a similar problem."""


class Leveled(Protocol):
    """A problem, or one with a sample of its rows and ways to all of them."""

    @property
    def method(self) -> str:
        """How the discrepancy of all rows is computed."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def sample(self) -> FairSubspaceProblem:
        """The problem on the sample."""

    @property
    def confirms_exactly(self) -> bool:
        """Whether `measure` is exact."""

    @property
    def part(self) -> "Leveled | None":
        """The same on a part of the rows, where they are so many that it pays."""

    def around(self, frame: FloatArray, tolerances: FloatArray, known: FloatArray) -> FairSubspaceProblem:
        """Return the problem on all rows, for use around a frame where the vector h is known."""

    def estimate(self, frame: FloatArray, tolerances: FloatArray) -> Measurement:
        """Return h approximately, in time linear in the rows, with a bound on its error."""

    def measure(self, frame: FloatArray, tolerances: FloatArray) -> Measurement:
        """Return h, exact where that is affordable, otherwise the estimate."""


class LevelsTask:
    """A search on a sample of the rows first, then on all of them.

    Parameters
    ----------
    data : Leveled
        The problem.
    tolerances : ndarray of shape (n_measures,)
        tau.
    solver : Solver
        Solves on each level.
    generator : numpy.random.Generator
        Draws what the solver draws.
    callback : callable, default=None
        Called with each `OuterStep`.
    """

    def __init__(
        self,
        data: Leveled,
        tolerances: FloatArray,
        solver: Solver,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> None:
        self._data = data
        self._tolerances = tolerances
        self._solver = solver
        self._generator = generator
        self._callback = callback
        self._began = time.perf_counter()
        self._steps: list[OuterStep] = []
        self._levels: list[Level] = []
        self._hessian_rows: int | None = None

    def solve(self, start: Start, pilot: WarmStart | None = None) -> Solution:
        """Solve on the sample, then on all rows from there, until the measured h confirms the answer.

        Parameters
        ----------
        start : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point, on the sample; from a WarmStart, the answer to a similar problem, all rows are used at once.
        pilot : WarmStart, default=None
            An answer of `solve_pilot`, from which all rows are used.
        """
        if isinstance(start, WarmStart):
            return self._solve_on_all(start.on_other_rows())
        if pilot is None:
            tau, pca = self._tolerances, self._data.sample.pca()
            if largest_ratio(self._data.estimate(pca, tau).values, tau) <= 2:
                measured = self._data.measure(pca, tau)
                if np.all(measured.at_most <= tau):
                    return self._pca_is_fair(pca, measured)
        guess = (pilot or self._solve_pilot(start, 1.0).warm).on_other_rows()
        solution = self._solve_on_all(guess)
        if self._data.sample.n_components == 1 and self._data.n_rows <= CHEAP_ROWS:
            solution = self._with_second_opinion(solution)
        for share in STRICTER:
            ratio = largest_ratio(solution.result.mmd2s, self._tolerances)
            if ratio < FAR_OFF or self._remaining() == 0.0:
                break
            stricter = self._solve_pilot(start, share).warm.on_other_rows()
            if stricter.n_live < guess.n_live:
                guess = stricter
                solution = self._solve_on_all(guess)
        return solution

    def _with_second_opinion(self, solution: Solution) -> Solution:
        """Return the better of an answer and what all rows find by themselves.

        The optima of a single direction are many and near each other: which is the highest a sample may not know.
        """
        frame = mean_matched_frame(self._data.sample, self._data.sample.rank)
        other = self._solve_on_all(WarmStart(frame, 1))
        worth = [each.result.variance_kept if each.result.meets else 0.0 for each in (solution, other)]
        better = other if worth[1] > worth[0] + VISIBLE else solution
        return replace(better, result=self._with_effort(better.result))

    def solve_pilot(self, start: Start) -> Solution:
        """Solve on the sample alone, and on a part of the rows where that pays: about what all rows will answer.

        Parameters
        ----------
        start : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        """
        return self._solve_pilot(start, 1.0)

    def _solve_pilot(self, start: Start, share: float) -> Solution:
        """Return an answer for a share of the tolerances on the sample, refined on a part of the rows where it pays.

        MMD^2 of few rows is larger by chance, but an answer that was fitted to them shows little of that.
        """
        problem = self._data.sample.afresh()
        pilot = self._run(problem, share * self._tolerances, start, problem.discrepancy.n_rows, "exact")
        part, guess = self._data.part, pilot.warm
        if part is None:
            return pilot
        known = part.estimate(_live(guess), self._tolerances).values
        refined = part.around(_live(guess), self._tolerances, known)
        return self._run(refined, self._tolerances, guess.on_other_rows(), part.n_rows, part.method)

    def _solve_on_all(self, guess: WarmStart) -> Solution:
        known = self._data.estimate(_live(guess), self._tolerances)
        goals = self._tolerances if self._data.confirms_exactly else self._goals(known)
        answers: list[tuple[Solution, Measurement]] = []
        last = np.zeros_like(goals)
        for _ in range(MAX_ROUNDS):
            problem = self._data.around(_live(guess), self._tolerances, known.values)
            solution = self._run(problem, goals, guess, self._data.n_rows, self._data.method)
            guess = solution.warm.on_other_rows()
            known = self._data.measure(_live(guess), self._tolerances)
            answers.append((solution, known))
            if self._remaining() == 0.0 or (self._meets(known) and not self._wasted(solution, known, goals)):
                break
            missed = _log_ratios(known.values, solution.result.mmd2s)
            goals = self._goals(known)
            if len(answers) > 1:
                # The next problem is exact here. What it will miss where it ends, by the rate at which misses fall, is
                # taken off its goals.
                falling = np.divide(missed, last, out=np.ones_like(missed), where=np.abs(last) > np.abs(missed))
                goals = goals * np.exp(-np.maximum(0.0, np.abs(falling) * missed))
            last = missed
        return self._conclude(answers)

    def _goals(self, measured: Measurement) -> FloatArray:
        """Return what is left of the tolerances for h when the errors of its measurement are held back."""
        narrow = measured.errors <= WIDE * self._tolerances
        return self._tolerances - np.where(narrow, measured.errors, 0.0)

    def _wasted(self, solution: Solution, measured: Measurement, asked: FloatArray) -> bool:
        """Tell whether the measured h leaves budget that is worth another round."""
        if largest_ratio(solution.result.mmd2s, asked) < USED:
            return False  # the solver had no use for all of it
        goals = self._goals(measured)
        return largest_ratio(measured.values, goals) < USED

    def _meets(self, measured: Measurement) -> bool:
        return bool(np.all(measured.values <= self._goals(measured)))

    def _run(self, problem: FairSubspaceProblem, goals: FloatArray, start: Start, n_rows: int, method: str) -> Solution:
        began, remaining = time.perf_counter(), self._remaining()
        solver = self._solver if n_rows == self._data.n_rows else self._solver.roughly()
        solver = solver if remaining is None else solver.within(max(remaining, 1e-3))
        solution = solver.solve(problem, goals, start, self._generator, self._callback)
        counts, seconds = problem.counts, time.perf_counter() - began
        self._levels.append(Level(n_rows, method, counts.values, counts.gradients, counts.hessians, seconds))
        self._steps += solution.result.steps
        exact = problem.discrepancy.has_exact_hessian and n_rows == self._data.n_rows
        self._hessian_rows = None if exact else problem.discrepancy.hessian_rows
        return solution

    def _remaining(self) -> float | None:
        limit = self._solver.time_limit
        return None if limit is None else max(0.0, limit - (time.perf_counter() - self._began))

    def _conclude(self, answers: list[tuple[Solution, Measurement]]) -> Solution:
        """Return the answer of most variance that meets the tolerances, or the fairest."""
        feasible = [answer for answer in answers if self._meets(answer[1])]
        if feasible:
            solution, measured = max(feasible, key=lambda answer: answer[0].result.variance_kept)
            status = solution.result.status
        else:
            solution, measured = min(answers, key=lambda answer: largest_ratio(answer[1].values, self._tolerances))
            status = Status.OUT_OF_TIME if self._remaining() == 0.0 else Status.TOLERANCE_NOT_MET
        return replace(solution, result=self._record(solution.result, measured, status))

    def _record(self, result: FitResult, measured: Measurement, status: Status) -> FitResult:
        certificate = result.certificate
        if certificate is not None:
            used = measured.values / self._tolerances
            certificate = replace(certificate, hessian_rows=self._hessian_rows, budgets_used=used)
        fairest = min(measured.values, result.fairest_mmd2s, key=lambda mmd2s: largest_ratio(mmd2s, self._tolerances))
        return replace(
            self._with_effort(result),
            status=status,
            tolerances=self._tolerances,
            mmd2s=measured.values,
            mmd2_errors=measured.errors,
            fairest_mmd2s=fairest,
            certificate=certificate,
        )

    def _with_effort(self, result: FitResult) -> FitResult:
        """Return a record with all that was done so far."""
        return replace(
            result,
            steps=tuple(self._steps),
            n_values=sum(level.n_values for level in self._levels),
            n_gradients=sum(level.n_gradients for level in self._levels),
            n_hessians=sum(level.n_hessians for level in self._levels),
            seconds=time.perf_counter() - self._began,
            levels=tuple(self._levels),
        )

    def _pca_is_fair(self, pca: FloatArray, measured: Measurement) -> Solution:
        problem = self._data.sample
        n_live = min(problem.n_components, problem.rank)
        result = FitResult(
            solver="pca",
            status=Status.PCA_IS_FAIR,
            tolerances=self._tolerances,
            mmd2s=measured.values,
            fairest_mmd2s=measured.values,
            variance_kept=float(problem.shares[:n_live].sum()),
            steps=(),
            n_values=1,
            n_gradients=0,
            n_hessian_products=0,
            n_hessians=0,
            seconds=0.0,
            n_live_components=n_live,
        )
        return Solution(pca, self._record(result, measured, Status.PCA_IS_FAIR), WarmStart(pca, n_live))


def solve_at_once(
    problem: FairSubspaceProblem,
    tolerances: FloatArray,
    solver: Solver,
    start: Start,
    generator: np.random.Generator,
    callback: Callback | None = None,
) -> Solution:
    """Solve a problem that has one level, see `LevelsTask`."""
    with blas_threads_for(problem.discrepancy.n_rows * problem.shape[0]):
        return solver.solve(problem.afresh(), tolerances, start, generator, callback)


def _log_ratios(measured: FloatArray, modelled: FloatArray) -> FloatArray:
    """Return log(measured / modelled), 0 where either is 0."""
    known = (measured > 0.0) & (modelled > 0.0)
    return np.log(np.divide(measured, modelled, out=np.ones_like(measured), where=known))


def _live(guess: WarmStart) -> FloatArray:
    """Return the live columns: null ones, which come last, add nothing to h."""
    return guess.frame[:, : guess.n_live]
