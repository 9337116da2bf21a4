"""The search of the budget solver over starts and numbers of live components."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._result import Callback, Solution
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._conclusion import Conclusion
from fairpca.solvers.budget._effort import NEARBY, ONE_DIRECTION, ONE_MEASURE, SEVERAL_MEASURES, affordable_starts
from fairpca.solvers.budget._explorer import Explorer
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run import RunSettings, RunStart
from fairpca.solvers.budget._starts import Starts
from fairpca.solvers.budget._warm import BudgetWarmStart

OUT_OF_REACH = 2.0
"""Multiple of the tolerance: where a run ends above it, fewer live components promise more than other starts."""

WORTH_A_RUN = 0.95
"""An answer that keeps less than this share of what plain PCA keeps with one component less is compared with fewer."""

SECOND_LOOKS = 2
"""Other starts beside plain PCA where rows are more, for one component and on manifolds of few dimensions."""

UNHURRIED = 0.25
"""Share of the first multipliers with which a start is tried again."""

NEARLY = 1.5
"""h / tau up to which a tolerance that was not met is likely to be met by one component less."""


@dataclass(frozen=True)
class SearchSettings:
    """The parameters of `fairpca.solvers.Budget`."""

    n_starts: int | None
    allow_null: bool
    max_cycles: int
    max_steps: int
    gain_tolerance: float
    max_seconds: float | None


class BudgetSearch:
    """Search over starts and numbers of live components."""

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
        self._starts = Starts(problem, tolerances, generator)
        self._journal = Journal(problem.counts, settings.max_seconds, callback)
        self._pool = Pool(tolerances)
        limits = RunSettings(settings.max_cycles, settings.max_steps, settings.gain_tolerance, self._journal.deadline)
        self._explorer = Explorer(problem, tolerances, limits, self._starts, self._journal, self._pool)
        self._effort = ONE_MEASURE
        self._pca = np.zeros_like(tolerances)
        self._pca_was_tried = False

    def solve(self, init: str | FloatArray | WarmStart) -> Solution:
        most, least = self._live_range()
        first_live = most
        if isinstance(init, BudgetWarmStart):
            first_live = min(most, max(least, init.n_live))
            self._pca = init.pca
        else:
            pca = self._problem.evaluate(self._problem.pca())
            self._pca = pca.discrepancies
            if pca.meets(self._tolerances):
                return self._conclusion.pca_is_fair(pca, most)
            self._starts.know_pca(pca.discrepancies)
        start = self._starts.first(init, first_live)
        if isinstance(init, BudgetWarmStart) and init.settled:
            self._try(first_live, start)
            self._explorer.polish()
            return self._conclude()
        self._search(most, least, first_live, start)
        if not self._pool.is_feasible and self._settings.allow_null:
            self._explorer.shrink()
        self._explorer.polish()
        return self._conclude(advise=True)

    def _search(self, most: int, least: int, first_live: int, start: RunStart) -> None:
        """Search from the first start on, as far as it does not tell all by itself."""
        if self._starts.has_few_rows and self._is_automatic:
            self._scan(most, least, self._try(first_live, start))
            return
        if self._is_strict and first_live == most > least and self._is_automatic and not self._cheap_starts(most):
            n_live = self._explorer.thinned(start, least)
            if n_live < most:
                # It has dropped what was one more.
                self._search_below(n_live, least, n_live)
                return
            first = self._pool.best
            if first.outcome.rugged:
                first = self._from_pca(first)
        else:
            first = self._try(first_live, start, (self._settings.n_starts or 1) - 1)
        if self._is_doubtful(first):
            self._search_harder(most, least, first)
        elif (first.n_live == 1 or self._has_few_coordinates(first)) and self._is_automatic:
            self._explore(first.n_live, [self._starts.pca(first.n_live)], SECOND_LOOKS, first)

    @property
    def _is_automatic(self) -> bool:
        """Whether the number of starts is for the search to choose."""
        return self._settings.n_starts is None

    def _has_few_coordinates(self, candidate: Candidate) -> bool:
        return 0 < self._n_coordinates(candidate.n_live) <= self._effort.few_coordinates

    def _n_coordinates(self, n_live: int) -> int:
        return (self._problem.rank - n_live) * n_live

    def _fewer_may_keep_more(self, first: Candidate) -> bool:
        """Tell whether one component less could keep so much more that it is worth a run."""
        return first.variance < WORTH_A_RUN * float(self._problem.shares[: first.n_live - 1].sum())

    def _scan(self, most: int, least: int, first: Candidate) -> None:
        """Try every number of live components that may keep more, each as a fit that asks for no more would try it.

        So a fit with more components keeps what one with fewer keeps.
        """
        self._search_elsewhere(self._with_more_starts(first), most > least)
        for n_live in range(most, least - 1, -1):
            if self._journal.out_of_time or float(self._problem.shares[:n_live].sum()) <= self._pool.best.variance:
                break
            if n_live not in self._pool:
                tried = self._with_more_starts(self._try(n_live, self._starts.mean_matched(n_live)))
                self._search_elsewhere(tried, fewer_are_left=True)

    def _with_more_starts(self, first: Candidate) -> Candidate:
        """Return the best of several starts, however smooth the way of the first was, where they cost nothing."""
        self._effort = SEVERAL_MEASURES if np.count_nonzero(first.outcome.multipliers) > 1 else ONE_MEASURE
        if not self._has_few_coordinates(first):
            return first
        return self._explore(first.n_live, [], self._effort.n_starts, first)

    def _search_elsewhere(self, first: Candidate, fewer_are_left: bool) -> Candidate:
        """Try other starts, if they are cheap, unless fewer live components promise more."""
        if not self._is_doubtful(first) or not self._is_automatic:
            return first
        if fewer_are_left and first.strain(self._tolerances) > OUT_OF_REACH:
            return first
        return self._explore(first.n_live, [], self._cheap_starts(first.n_live), first)

    def _is_doubtful(self, candidate: Candidate) -> bool:
        """Tell whether other starts or fewer live components promise more."""
        may_hop = self._is_strict and affordable_starts(self._n_coordinates(candidate.n_live)) > 0
        return may_hop or self._fewer_promise_more(candidate)

    @property
    def _is_strict(self) -> bool:
        return self._problem.is_strict(self._tolerances)

    def _live_range(self) -> tuple[int, int]:
        """Return the largest and the smallest number of live components to consider."""
        d, rank = self._problem.n_components, self._problem.rank
        n_null = len(self._problem.variances) - rank
        most = min(d, rank)
        return most, max(1, d - n_null) if self._settings.allow_null else most

    def _search_harder(self, most: int, least: int, first: Candidate) -> None:
        """Climb along the number of live components from a good guess, with more starts where they are cheap."""
        first = self._search_elsewhere(first, most > least)
        if first.outcome.best is not None:
            if self._fewer_promise_more(first):
                self._climb(most, least)
            if self._pool.best.n_live == most:
                # Fewer live components do not help: it is the way that ended low.
                self._try_other_basins()
            return
        # One less will do where little is missing.
        nearly = first.strain(self._tolerances) <= NEARLY
        self._search_below(most, least, max(least, most - 1 if nearly else (most + 1) // 2))

    def _fewer_promise_more(self, first: Candidate) -> bool:
        """Tell whether fewer live components are worth a run."""
        return not first.is_smooth or self._fewer_may_keep_more(first)

    def _search_below(self, most: int, least: int, guess: int) -> None:
        """Climb along the number of live components from a guess."""
        if guess not in self._pool:
            self._improves_with(guess)
        if not self._pool.is_feasible:
            self._find_feasible(least, self._pool.fewest)
        self._climb(most, least)
        best = self._pool.best
        if best.outcome.rugged and self._is_automatic and not self._cheap_starts(best.n_live):
            # The same way with more patience ends elsewhere.
            self._explore(best.n_live, [self._starts.mean_matched(best.n_live, UNHURRIED)], 0, best)

    def _climb(self, most: int, least: int) -> None:
        """Try fewer live components than the best so far, or more, while that keeps more variance."""
        for direction in (-1, 1):
            n_live = self._pool.best.n_live + direction
            while least <= n_live <= most and not self._journal.out_of_time:
                if n_live in self._pool or not self._improves_with(n_live):
                    break
                n_live += direction

    def _find_feasible(self, least: int, infeasible: int) -> None:
        """Try fewer live components by bisection: the fewer there are, the easier the tolerance is met."""
        below = least - 1
        while infeasible - below > 1 and not self._journal.out_of_time:
            middle = (below + infeasible) // 2
            if self._improves_with(middle):
                below = middle
            else:
                infeasible = middle

    def _improves_with(self, n_live: int) -> bool:
        """Try a number of live components from several starts, and tell whether it is the best so far."""
        before = self._pool.most_variance()
        starts = [self._starts.mean_matched(n_live)]
        return self._explore(n_live, starts, self._cheap_starts(n_live), None).variance > before

    def _try_other_basins(self) -> None:
        """Start from plain PCA, and go to looser tolerances and back, where the way to the best was rugged.

        Where other starts are cheap they have found more than that.
        """
        best = self._pool.best
        if not best.outcome.rugged or not self._is_automatic or self._cheap_starts(best.n_live):
            return
        self._from_pca(best)
        self._explorer.bounce()

    def _from_pca(self, best: Candidate) -> Candidate:
        """Return the better of a candidate and what plain PCA leads to, which is tried once."""
        if self._pca_was_tried:
            return best
        self._pca_was_tried = True
        return self._explore(best.n_live, [self._starts.pca(best.n_live)], 0, best)

    def _cheap_starts(self, n_live: int) -> int:
        """Return how many other starts are tried where that is hard."""
        if not self._is_automatic:
            return (self._settings.n_starts or 1) - 1
        return affordable_starts(self._n_coordinates(n_live))

    def _try(self, n_live: int, start: RunStart, n_others: int = 0) -> Candidate:
        return self._explore(n_live, [start], n_others, None)

    def _explore(self, n_live: int, starts: list[RunStart], n_others: int, best: Candidate | None) -> Candidate:
        effort = ONE_DIRECTION if n_live == 1 else NEARBY
        return self._explorer.explore(
            n_live, starts, n_others, self._effort if self._starts.made_fair else effort, best
        )

    @property
    def _conclusion(self) -> Conclusion:
        return Conclusion(self._problem, self._tolerances, self._journal, self._pool, self._pca)

    def _conclude(self, advise: bool = False) -> Solution:
        """Pick the best feasible answer, or the fairest where none is feasible."""
        if self._pool.is_feasible:
            best = self._pool.best
            return self._conclusion.met(best, self._is_doubtful(best))
        return self._conclusion.unmet(self._explorer.largest_feasible(self._pool.fewest) if advise else None)
