"""Searching along the number of live components."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass

from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool


@dataclass(frozen=True, eq=False)
class Climb:
    """Try fewer or more live components than the best so far, as long as that keeps more.

    Attributes
    ----------
    pool : Pool
        What is known.
    journal : Journal
        Tells when time is up.
    improves_with : callable
        Tries a number of live components, which then is in the pool, and tells whether it is the best so far.
    """

    pool: Pool
    journal: Journal
    improves_with: Callable[[int], bool]

    def from_guess(self, guess: int, most: int, least: int) -> None:
        """Climb from a number that is likely to do, or from one that does.

        Parameters
        ----------
        guess : int
            The number.
        most, least : int
            Between which numbers.
        """
        if guess not in self.pool:
            self.improves_with(guess)
        if not self.pool.is_feasible:
            self._find_feasible(least, self.pool.fewest)
        self.from_best(most, least)

    def from_best(self, most: int, least: int) -> None:
        """Climb from the best so far.

        Parameters
        ----------
        most, least : int
            Between which numbers.
        """
        for direction in (-1, 1):
            n_live = self.pool.best.n_live + direction
            while least <= n_live <= most and not self.journal.out_of_time:
                if n_live in self.pool or not self.improves_with(n_live):
                    break
                n_live += direction

    def _find_feasible(self, least: int, infeasible: int) -> None:
        """Try fewer by bisection: the fewer there are, the easier the tolerance is met."""
        below = least - 1
        while infeasible - below > 1 and not self.journal.out_of_time:
            middle = (below + infeasible) // 2
            if self.improves_with(middle):
                below = middle
            else:
                infeasible = middle
