"""The search of the budget solver over starts and numbers of live components."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import MOST_DENSE, VISIBLE
from fairpca.solvers._result import Callback, Solution, Status
from fairpca.solvers._start import fairest_frame, mean_matched_frame
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._record import History, conclude, with_null_columns
from fairpca.solvers.budget._run import Run, RunResult, RunSettings, RunStart

RESTART_WORK = 4000
"""Restarts times the square of the manifold's dimension up to which they are cheap: a run costs about the square."""

MOST_RESTARTS, ALIKE = 40, 4
"""Restarts at most, and how many in a row that end at the best optimum known, or meet no tolerance, are enough."""

ONE_DIRECTION = 6
"""Restarts for a single live component, whose optima are many at any tolerance."""

HARD_SHARE, HARD_SHARE_OF_SEVERAL = 0.2, 0.05
"""Shares of the chance level below which one tolerance, or several that bind each other, have several optima."""

WORTH_A_RUN = 0.95
"""An answer that keeps less than this share of what plain PCA keeps with one component less is compared with fewer."""


@dataclass(frozen=True)
class SearchSettings:
    """The parameters of `fairpca.solvers.Budget`."""

    n_starts: int | None
    allow_null: bool
    max_cycles: int
    max_steps: int
    gain_tolerance: float
    slack: float
    max_seconds: float | None


class Search:
    """Search over starts and numbers of live components.

    One run from the first start; restarts where they are cheap and a tolerance has several optima; fewer live
    components where these promise more; and a last run with the augmented Lagrangian where the best is not stationary.
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
        self._history = History(problem.counts, settings.max_seconds, callback)
        self._limits = RunSettings(
            settings.max_cycles, settings.max_steps, settings.gain_tolerance, settings.slack, self._history.deadline
        )
        self._found: dict[int, RunResult] = {}
        d, n_null = problem.n_components, len(problem.variances) - problem.rank
        self._most = min(d, problem.rank)
        self._least = max(1, d - n_null) if settings.allow_null else self._most

    def solve(self, init: str | FloatArray | WarmStart) -> Solution:
        """Solve from a start.

        Parameters
        ----------
        init : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        """
        if isinstance(init, WarmStart):
            n_live = min(self._most, max(self._least, init.n_live))
            start = RunStart(self._live_part(init.frame, n_live), init.multipliers)
        else:
            pca = self._problem.evaluate(self._problem.pca())
            if pca.meets(self._tolerances):
                return self._pca_is_fair(pca)
            n_live, start = self._most, self._first_start(init, pca)
        first = self._try(n_live, start)
        if isinstance(init, WarmStart) and init.is_local:
            self._polish()
            return self._conclude()
        self._restart(first)
        largest = None
        if self._best.best is None:
            largest = self._find_feasible()
        if self._fewer_may_keep_more(self._best):
            self._try_neighbours()
        self._polish()
        solution = self._conclude()
        if solution.result.meets:
            return solution
        return replace(solution, result=replace(solution.result, largest_feasible_components=largest))

    @property
    def _best(self) -> RunResult:
        """The run that keeps most, or the fairest where none meets the tolerances, with a number that is allowed."""
        allowed = [found for found in self._found.values() if found.n_live >= self._least]
        return max(allowed, key=lambda found: (found.variance, -found.fairest.largest_ratio(self._tolerances)))

    def _first_start(self, init: str | FloatArray, pca: Evaluation) -> RunStart:
        """Return the start that was asked for, with the most live components."""
        if not isinstance(init, str):
            return RunStart(self._live_part(init, self._most), None)
        if init == "auxiliary":
            problem, weights = self._problem.with_components(self._most), self._tolerances.min() / self._tolerances
            return RunStart(fairest_frame(problem, weights, self._generator), None, augmented=True)
        if init == "pca":
            return self._start(self._problem.with_components(self._most).pca(), pca.discrepancies)
        return self._mean_matched(self._most, pca.discrepancies)

    def _mean_matched(self, n_live: int, of_pca: FloatArray | None = None) -> RunStart:
        """Return the start at the subspace of most variance in which the compared means agree."""
        problem = self._problem.with_components(n_live)
        of_pca = problem.discrepancies(problem.pca()) if of_pca is None else of_pca
        return self._start(mean_matched_frame(problem, problem.rank), of_pca)

    def _start(self, frame: FloatArray, discrepancies: FloatArray) -> RunStart:
        """Return a start with mu_j = 1 / h_j, shared among the violated measures."""
        violated = discrepancies > self._tolerances
        if not violated.any():
            violated = discrepancies == discrepancies.max()
        sizes = np.maximum(discrepancies, self._tolerances)
        return RunStart(frame, np.where(violated, 1.0 / (int(violated.sum()) * sizes), 0.0))

    def _live_part(self, frame: FloatArray, n_live: int) -> FloatArray:
        """Return the n_live dimensions of a subspace that lie closest to the live axes."""
        live, rank = np.zeros((len(frame), n_live)), self._problem.rank
        live[:rank] = np.linalg.svd(frame[:rank], full_matrices=False)[0][:, :n_live]
        return live

    def _try(self, n_live: int, start: RunStart | None = None) -> RunResult:
        """Run with a number of live components, and remember where it ends."""
        known = max((found.variance for found in self._found.values()), default=-np.inf)
        self._found[n_live] = self._run(n_live).run(start or self._mean_matched(n_live), known)
        return self._found[n_live]

    def _run(self, n_live: int) -> Run:
        return Run(self._problem.with_components(n_live), self._tolerances, self._limits, self._history.add)

    def _restart(self, first: RunResult) -> None:
        """Run again from plain PCA and from where the best has ended with one dimension replaced by a random one."""
        best, n_alike = first, 0
        # The same for any random state: two fits of one table agree.
        generator = np.random.default_rng(first.n_live)
        for number in range(self._n_restarts(first)):
            if self._history.is_out_of_time or n_alike == ALIKE:
                break
            problem, reached = first.problem, best.best or best.fairest
            frame = problem.pca() if number == 0 else _with_another_dimension(reached.point, problem, generator)
            start = self._start(frame, problem.discrepancies(frame))
            found = self._run(first.n_live).run(start, max(self._best.variance, best.variance))
            if self._is_alike(found, best):
                n_alike += 1
            elif self._is_better(found, best):
                n_alike = 0
            # The first of equals stays: which of them is higher by rounding must not matter.
            best = found if self._is_better(found, best) else best
        self._found[first.n_live] = best

    def _n_restarts(self, found: RunResult) -> int:
        """Return how many restarts are worth their cost."""
        if self._settings.n_starts is not None:
            return self._settings.n_starts - 1
        dimension = (self._problem.rank - found.n_live) * found.n_live
        affordable = min(MOST_RESTARTS, RESTART_WORK // max(1, dimension**2)) if dimension else 0
        several = np.count_nonzero(found.multipliers) > 1
        if self._problem.is_below_chance(self._tolerances, HARD_SHARE_OF_SEVERAL if several else HARD_SHARE):
            return affordable
        return min(ONE_DIRECTION, affordable) if found.n_live == 1 else 0

    @staticmethod
    def _is_alike(found: RunResult, other: RunResult) -> bool:
        """Tell whether two runs end in one optimum, or neither meets the tolerances."""
        if found.best is None or other.best is None:
            return found.best is other.best
        return found.is_stationary and abs(found.variance - other.variance) <= VISIBLE

    def _is_better(self, found: RunResult, other: RunResult) -> bool:
        if found.best is None and other.best is None:
            return found.fairest.largest_ratio(self._tolerances) < other.fairest.largest_ratio(self._tolerances)
        return found.variance > other.variance + VISIBLE

    def _find_feasible(self) -> int | None:
        """Return the largest number of live components found to meet the tolerances, by bisection."""
        feasible, infeasible = 0, min(self._found)
        while infeasible - feasible > 1 and not self._history.is_out_of_time:
            middle = (feasible + infeasible) // 2
            found = self._try(middle)
            if middle >= self._least:
                self._restart(found)
            if self._found[middle].best is None:
                infeasible = middle
            else:
                feasible = middle
        return feasible or None

    def _fewer_may_keep_more(self, found: RunResult) -> bool:
        """Tell whether fewer live components are worth a run.

        Shrinking the component Vu changes -variance + sum_j mu_j h_j at the rate -u'V'(grad)u, so it helps where the
        symmetric part of V'grad has a positive eigenvalue.
        """
        if found.best is None or self._least == self._most:
            return False
        if not found.is_stationary or found.is_hard:
            return True
        if (self._problem.rank - found.n_live) * found.n_live > MOST_DENSE:
            return False  # one component among many changes little, and a run takes long
        here = found.best
        inside = here.point.T @ (here.weighted_gradient(found.multipliers) - here.variance_gradient)
        by_pca = float(self._problem.shares[: found.n_live - 1].sum())
        return bool(np.linalg.eigvalsh(inside + inside.T)[-1] > 0) or found.variance < WORTH_A_RUN * by_pca

    def _try_neighbours(self) -> None:
        """Try fewer live components while these keep more, then more of them."""
        for step in (-1, 1):
            n_live = self._best.n_live + step
            while self._least <= n_live <= self._most and n_live not in self._found:
                if self._history.is_out_of_time:
                    return
                self._restart(self._try(n_live))
                if self._best.n_live != n_live:
                    break
                n_live += step

    def _polish(self) -> None:
        """Run on from a best point that is not stationary, with the augmented Lagrangian: it stays in its basin."""
        best = self._best
        if best.best is None or best.is_stationary or self._history.is_out_of_time:
            return
        polished = self._run(best.n_live).run(RunStart(best.best.point, None, augmented=True))
        gained = polished.variance > best.variance + VISIBLE
        if gained or (polished.is_stationary and polished.variance >= best.variance - VISIBLE):
            self._found[best.n_live] = polished

    def _conclude(self) -> Solution:
        best = self._best
        is_doubtful = self._fewer_may_keep_more(best) or self._n_restarts(best) > 0
        return conclude(self._problem, self._tolerances, self._history, best, is_doubtful)

    def _pca_is_fair(self, pca: Evaluation) -> Solution:
        live = replace(pca, point=pca.point[:, : self._most])
        result = self._history.result(live, live, Status.PCA_IS_FAIR, self._tolerances)
        frame = with_null_columns(live.point, self._problem.n_components)
        return Solution(frame, result, WarmStart(frame, self._most, np.zeros_like(self._tolerances)))


def _with_another_dimension(
    frame: FloatArray, problem: FairSubspaceProblem, generator: np.random.Generator
) -> FloatArray:
    """Return a frame that has all but one random dimension in common with another.

    The new direction leans to axes of much variance, by the standard deviation of each.
    """
    d = frame.shape[1]
    kept = frame @ np.linalg.qr(generator.normal(size=(d, d)))[0][:, 1:]
    direction = generator.normal(size=(len(frame), 1)) * np.sqrt(problem.shares[:, None])
    direction[problem.rank :] = 0.0
    return np.linalg.qr(np.hstack([kept, direction]))[0]
