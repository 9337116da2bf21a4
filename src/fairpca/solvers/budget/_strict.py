"""The search at tolerances far below chance, where a manifold has many dimensions."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, field

from fairpca._utils.typing import FloatArray
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._climb import Climb
from fairpca.solvers.budget._explorer import Explorer
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run_terms import RunStart
from fairpca.solvers.budget._starts import Starts

DETOURS = 100.0, 10.0
"""Multiples of the tolerances by way of which plain PCA leads to other optima than straight on. On some tables they are
better, on some worse."""

UNHURRIED = 0.25
"""Share of the first multipliers with which a start is tried again."""


@dataclass(frozen=True, eq=False)
class StrictSearch:
    """Search the number of live components by first looks, and go on with the best of them.

    What is tried with a number of live components does not depend on how many are asked for, so that who asks for more
    finds what who asks for fewer has found.

    Attributes
    ----------
    tolerances : ndarray of shape (n_measures,)
        tau.
    starts : Starts
        Where runs start.
    explorer : Explorer
        Runs.
    pool : Pool
        What is known.
    journal : Journal
        Tells when time is up.
    """

    tolerances: FloatArray
    starts: Starts
    explorer: Explorer
    pool: Pool
    journal: Journal
    _lost: set[int] = field(default_factory=set, init=False)

    def search(self, start: RunStart, most: int, least: int) -> None:
        """Search from a start with the most live components.

        Parameters
        ----------
        start : RunStart
            First point.
        most, least : int
            How many components may be live.
        """
        guess, top = self.explorer.thinned(start, least)
        if guess == most:
            first = self._or_from_pca(self.pool.best)
            if self.pool.is_feasible and not first.fewer_promise_more:
                return
            if not self.pool.is_feasible:
                guess = first.guess_of_fewer(self.tolerances, least)
        Climb(self.pool, self.journal, self._improves_with).from_guess(guess, top, least)
        if self.pool.is_feasible:
            self._look_again()

    def _improves_with(self, n_live: int) -> bool:
        """Take a first look at a number of live components, and tell whether it is the best so far."""
        before = self.pool.most_variance()
        first = self.explorer.look(n_live, self.starts.mean_matched(n_live))
        return self._or_from_pca(first).variance > before

    def _or_from_pca(self, first: Candidate) -> Candidate:
        """Return a first look, or the best of what plain PCA leads to where the look was lost."""
        if not first.outcome.is_lost:
            return first
        n_live = first.n_live
        self._lost.add(n_live)
        straight = self.explorer.explore_from(n_live, self.starts.pca(n_live), first)
        return self.explorer.explore_from(n_live, self.starts.pca(n_live), straight, DETOURS)

    def _look_again(self) -> None:
        """Try other ways to the best where the first was rugged, and go on with the best of them."""
        best = self.pool.best
        if best.n_live in self._lost:
            self.explorer.bounce()
        elif best.outcome.rugged:
            # The same way with more patience ends elsewhere.
            self.explorer.look(best.n_live, self.starts.mean_matched(best.n_live, UNHURRIED), best)
        self.explorer.go_on()
