"""Runs with one number of live components: from several starts, by way of other tolerances, from where others ended."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._limits import TARGET, VISIBLE
from fairpca.solvers.budget._candidate import SETTLED, Candidate
from fairpca.solvers.budget._effort import Effort
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._ladder import Ladder
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run import BudgetRun
from fairpca.solvers.budget._run_terms import CAREFUL, RunOutcome, RunSettings, RunStart
from fairpca.solvers.budget._starts import Starts
from fairpca.solvers.budget._thinning import ThinningRun
from fairpca.solvers.budget._tilt import Tilt

FAR = 1.5
"""Multiple of the tolerance above which the fairest of several starts tells that others will not meet it either."""

BOUNCES = 10.0, 3.0
"""Multiples of the tolerances from which the way back may end higher."""


class Explorer:
    """Runs from given starts and from others, whose best goes to a pool.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    tolerances : ndarray of shape (n_measures,)
        tau.
    settings : RunSettings
        Limits of a run.
    starts : Starts
        Where runs start.
    journal : Journal
        Is told of each cycle.
    pool : Pool
        What is known.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        settings: RunSettings,
        starts: Starts,
        journal: Journal,
        pool: Pool,
    ) -> None:
        self._problem = problem
        self._tolerances = tolerances
        self._settings = settings
        self._starts = starts
        self._journal = journal
        self._pool = pool

    def thinned(self, start: RunStart, fewest: int) -> tuple[int, int]:
        """Run from a start while components may be dropped, and return how many stayed live, and how many might.

        Where all did, where the run has come to is a candidate.

        Parameters
        ----------
        start : RunStart
            First point.
        fewest : int
            Components that stay live in any case.
        """
        n_live = start.frame.shape[1]
        problem = self._problem.with_components(n_live)
        run = ThinningRun(problem, self._tolerances, self._first_look, self._journal.note, fewest)
        outcome = run.run(start)
        if run.n_live == n_live:
            self._pool.put(Candidate(n_live, outcome, problem))
        return run.n_live, run.most_live

    def explore(
        self, n_live: int, starts: Sequence[RunStart], n_others: int, effort: Effort, best: Candidate | None = None
    ) -> Candidate:
        """Return the best of what is known and what given and other starts lead to, and put it into the pool.

        A start that cannot reach the variance of another number of live components is given up, another one also that
        cannot reach the best of this number.

        Parameters
        ----------
        n_live : int
            Number of live components.
        starts : sequence of RunStart
            Given starts.
        n_others : int
            How many others are tried at most.
        effort : Effort
            When these are enough.
        best : Candidate, default=None
            What is known.
        """
        for start in starts:
            best = self.explore_from(n_live, start, best)
        assert best is not None
        best = self._explore_others(best, n_others, effort)
        self._pool.put(best)
        return best

    def explore_from(
        self, n_live: int, start: RunStart, best: Candidate | None, multiples: Sequence[float] = ()
    ) -> Candidate:
        """Return the better of what is known and what a start leads to, and put it into the pool.

        Parameters
        ----------
        n_live : int
            Number of live components.
        start : RunStart
            First point.
        best : Candidate or None
            What is known.
        multiples : sequence of float, default=()
            Multiples of the tolerances by way of which it goes.
        """
        return self._better(n_live, start, best, multiples, self._settings)

    def _better(
        self,
        n_live: int,
        start: RunStart,
        best: Candidate | None,
        multiples: Sequence[float],
        settings: RunSettings,
    ) -> Candidate:
        if best is None or not self._journal.out_of_time:
            problem, floor = self._problem.with_components(n_live), self._pool.most_variance(besides=n_live)
            outcome = self._ladder(problem, settings).descend(start, multiples, floor)
            candidate = Candidate(n_live, outcome, problem)
            if best is None or (not candidate.is_like(best, self._tolerances) and self._is_better(candidate, best)):
                best = candidate
        self._pool.put(best)
        return best

    def look(self, n_live: int, start: RunStart, best: Candidate | None = None) -> Candidate:
        """Return the better of what is known and what a first look from a start shows, and put it into the pool.

        Parameters
        ----------
        n_live : int
            Number of live components.
        start : RunStart
            First point.
        best : Candidate, default=None
            What is known.
        """
        return self._better(n_live, start, best, (), self._first_look)

    def go_on(self) -> None:
        """Go on with the best where it was left off."""
        best = self._pool.best
        if best.outcome.left_off is not None and not self._journal.out_of_time:
            self._pool.put(replace(best, outcome=best.outcome.left_off.go_on()))

    def _explore_others(self, best: Candidate, n_others: int, effort: Effort) -> Candidate:
        # Other starts are the same for any random state and any number of components: two fits of one table agree, and
        # one with more components finds what one with fewer has found.
        generator = np.random.default_rng(best.n_live)
        n_alike = 0
        for number in range(n_others):
            hopeless = number >= effort.enough_low and self._is_hopeless(best)
            if self._journal.out_of_time or n_alike >= effort.enough_alike or hopeless:
                break
            candidate = replace(best, outcome=self._from_another_start(best, generator, number))
            if candidate.is_like(best, self._tolerances):
                # The first of equals stays: which of them is higher by rounding must not matter.
                n_alike += 1
                continue
            n_alike = 0
            if self._is_better(candidate, best):
                best = candidate
        return best

    def _is_hopeless(self, best: Candidate) -> bool:
        """Tell whether starts with as many live components have come near neither the tolerances nor what is known."""
        far = best.strain(self._tolerances) > FAR
        return far or best.variance < CAREFUL.hopeless * self._pool.most_variance(besides=best.n_live)

    def _from_another_start(self, best: Candidate, generator: np.random.Generator, number: int) -> RunOutcome:
        start = self._starts.other(best, generator, number)
        floor = max(self._pool.most_variance(), best.variance)
        return self._run(best.problem, self._settings.roughly()).run(start, floor)

    def bounce(self) -> None:
        """Go from the best answer to looser tolerances and back, far, then near."""
        for multiple in BOUNCES:
            best = self._pool.best
            if best.outcome.best is None or self._journal.out_of_time:
                return
            again = replace(best, outcome=self._ladder(best.problem).bounce(best.outcome, multiple))
            if again.variance > best.variance + SETTLED and self._is_better(again, best):
                self._pool.put(again)

    def polish(self) -> None:
        """Go on from a best point that is not stationary with a spring, so that it is not left for another basin."""
        best = self._pool.best
        if best.outcome.best is None or best.outcome.stationary or self._journal.out_of_time:
            return
        outcome = self._run(best.problem).run(RunStart(best.outcome.best.point, None, spring=True))
        polished = replace(best, outcome=outcome)
        gained = polished.variance > best.variance + VISIBLE
        if gained or (outcome.stationary and polished.variance >= best.variance - VISIBLE):
            self._pool.put(polished)

    def shrink(self) -> None:
        """Tilt the fairest frame towards unused null axes, as far as it takes, and go on from there.

        A column s v + sqrt(1 - s^2) n with n null projects to s times what v projects to, which is less unfair at the
        same bandwidth. Whoever scales it up again sees what v shows, so s is not made small.
        """
        fairest = self._pool.fairest
        n_null = len(self._problem.variances) - self._problem.rank
        n_free = n_null - (self._problem.n_components - fairest.n_live)
        violated = fairest.outcome.fairest.discrepancies > self._tolerances
        unfair = np.where(violated, 1.0 / self._tolerances, 0.0)
        tilted = Tilt.of(fairest.outcome.fairest, unfair, self._problem.rank, n_free)
        targets = TARGET * self._tolerances
        frame = tilted.until(lambda V: bool(np.all(fairest.problem.discrepancies(V) <= targets)))
        if frame is None:
            return
        problem = replace(fairest.problem, rank=self._problem.rank + n_free)
        outcome = self._run(problem).run(RunStart(frame, None, spring=True))
        self._pool.put(replace(fairest, outcome=outcome, problem=problem))

    def largest_feasible(self, below: int) -> int | None:
        """Return the largest number of components below a number that meets the tolerances, by bisection.

        Parameters
        ----------
        below : int
            A number that does not.
        """
        feasible, infeasible = 0, below
        while infeasible - feasible > 1 and not self._journal.out_of_time:
            middle = (feasible + infeasible) // 2
            outcome = self._run(self._problem.with_components(middle)).run(self._starts.mean_matched(middle))
            if outcome.best is None:
                infeasible = middle
            else:
                feasible = middle
        return feasible or None

    @property
    def _first_look(self) -> RunSettings:
        return replace(self._settings, is_first_look=True)

    def _run(self, problem: FairSubspaceProblem, settings: RunSettings | None = None) -> BudgetRun:
        return BudgetRun(problem, self._tolerances, settings or self._settings, self._journal.note)

    def _ladder(self, problem: FairSubspaceProblem, settings: RunSettings | None = None) -> Ladder:
        return Ladder(problem, self._tolerances, settings or self._settings, self._journal.note)

    def _is_better(self, candidate: Candidate, other: Candidate) -> bool:
        return candidate.is_better(other, self._tolerances)
