"""The search of the budget solver over starts and numbers of live components."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import STRICT, FairSubspaceProblem
from fairpca.solvers._result import Callback, Solution
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._branches import LOOSEST
from fairpca.solvers.budget._branching import Branching
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._climb import Climb
from fairpca.solvers.budget._conclusion import Conclusion
from fairpca.solvers.budget._effort import (
    ONE_DIRECTION,
    ONE_MEASURE,
    SEVERAL_MEASURES,
    TURNED,
    affordable_starts,
    n_coordinates,
)
from fairpca.solvers.budget._explorer import Explorer
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run_terms import RunSettings, RunStart
from fairpca.solvers.budget._starts import Starts
from fairpca.solvers.budget._strict import UNHURRIED, StrictSearch
from fairpca.solvers.budget._warm import BudgetWarmStart

OUT_OF_REACH = 2.0
"""Multiple of the tolerance: where a run ends above it, fewer live components promise more than other starts."""

SECOND_LOOKS = 2
"""Other starts beside plain PCA where rows are more, for one component and on manifolds of few dimensions."""


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
        self._starts = Starts(problem, tolerances)
        self._generator = generator
        self._journal = Journal(problem.counts, settings.max_seconds, callback)
        self._pool = Pool(tolerances)
        limits = RunSettings(settings.max_cycles, settings.max_steps, settings.gain_tolerance, self._journal.deadline)
        self._branching = Branching(problem, tolerances, limits, self._journal, self._pool)
        self._explorer = Explorer(problem, tolerances, limits, self._starts, self._journal, self._pool)
        self._effort = ONE_MEASURE
        self._pca = np.zeros_like(tolerances)

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
        start = self._starts.first(init, first_live, self._generator)
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
        may_thin = self._is_strict and first_live == most > least and self._is_automatic
        if may_thin and not self._cheap_starts(most):
            StrictSearch(self._tolerances, self._starts, self._explorer, self._pool, self._journal).search(
                start, most, least
            )
            return
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
        return 0 < n_coordinates(self._problem.rank, candidate.n_live) <= self._effort.few_coordinates

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
        """Look elsewhere, if that is cheap, unless fewer live components promise more."""
        if not self._is_doubtful(first) or not self._is_automatic:
            return first
        return self._elsewhere(first, fewer_are_left)

    def _is_doubtful(self, candidate: Candidate) -> bool:
        """Tell whether other starts or fewer live components promise more."""
        share = STRICT if self._starts.made_fair(candidate) else LOOSEST
        is_cheap = affordable_starts(self._problem.rank, candidate.n_live) > 0
        return (is_cheap and self._problem.is_strict(self._tolerances, share)) or candidate.fewer_promise_more

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
        """Look for more from other starts, where they are cheap, and with other numbers of live components."""
        first = self._search_elsewhere(first, most > least)
        climb = Climb(self._pool, self._journal, self._improves_with)
        if first.outcome.best is None:
            climb.from_guess(first.guess_of_fewer(self._tolerances, least), most, least)
            self._take_a_slower_way()
            return
        if first.fewer_promise_more:
            climb.from_best(most, least)
        if self._pool.best.n_live == most:
            # Fewer live components do not help: it is the way that ended low.
            self._try_other_basins()

    def _take_a_slower_way(self) -> None:
        """Go the way to the best with more patience where it was rugged, which ends elsewhere."""
        best = self._pool.best
        if best.outcome.rugged and self._is_automatic and not self._cheap_starts(best.n_live):
            start = self._starts.mean_matched(best.n_live, UNHURRIED)
            self._explorer.explore_from(best.n_live, start, best)

    def _improves_with(self, n_live: int) -> bool:
        """Try a number of live components from several starts, and tell whether it is the best so far."""
        before = self._pool.most_variance()
        return self._elsewhere(self._try(n_live, self._starts.mean_matched(n_live))).variance > before

    def _may_branch(self, first: Candidate) -> bool:
        """Tell whether optima of looser tolerances are worth following: they begin at random frames as they are."""
        return self._is_automatic and self._branching.pays(first.n_live) and not self._starts.made_fair(first)

    def _elsewhere(self, first: Candidate, fewer_are_left: bool = False) -> Candidate:
        """Return the best of the first and of where branches lead to, or other starts, as many as are cheap."""
        if self._may_branch(first):
            first = self._branching.better(first)
            if self._pool.is_feasible:
                return first
        if fewer_are_left and first.strain(self._tolerances) > OUT_OF_REACH:
            return first
        return self._explore(first.n_live, [], self._cheap_starts(first.n_live), first)

    def _try_other_basins(self) -> None:
        """Start from plain PCA, and go to looser tolerances and back, where the way to the best was rugged.

        Where other starts are cheap they have found more than that.
        """
        best = self._pool.best
        if not best.outcome.rugged or not self._is_automatic or self._cheap_starts(best.n_live):
            return
        self._explorer.explore_from(best.n_live, self._starts.pca(best.n_live), best)
        self._explorer.bounce()

    def _cheap_starts(self, n_live: int) -> int:
        """Return how many other starts are tried where that is hard; where it is less so, a third of them will do."""
        if not self._is_automatic:
            return (self._settings.n_starts or 1) - 1
        affordable = affordable_starts(self._problem.rank, n_live)
        return affordable if self._is_strict else math.ceil(affordable / 3)

    def _try(self, n_live: int, start: RunStart, n_others: int = 0) -> Candidate:
        return self._explore(n_live, [start], n_others, None)

    def _explore(self, n_live: int, starts: list[RunStart], n_others: int, best: Candidate | None) -> Candidate:
        effort = ONE_DIRECTION if n_live == 1 else TURNED
        return self._explorer.explore(
            n_live, starts, n_others, self._effort if self._starts.made_fair(best) else effort, best
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
