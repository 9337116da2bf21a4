"""The optima at one tolerance."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._run import BudgetRun
from fairpca.solvers.budget._run_terms import ROUGH, RunOutcome, RunSettings, RunStart
from fairpca.solvers.budget._starts import MORE_PRESSURE, Starts

WORTH_KEEPING = 0.9
"""Share of the variance of the best from which on an optimum may lead to the best at a stricter tolerance."""

ENOUGH_ALIKE, ENOUGH_FAILED = 3, 3
"""Starts in a row that end at the best optimum known, and such that meet the tolerances no more than any before them,
after which no others are tried."""


class Rung:
    """Different optima at the same tolerances, the best first.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    tolerances : ndarray of shape (n_measures,)
        tau.
    settings : RunSettings
        Limits of each run.
    journal : Journal
        Is told of each cycle.
    """

    def __init__(
        self, problem: FairSubspaceProblem, tolerances: FloatArray, settings: RunSettings, journal: Journal
    ) -> None:
        self._problem = problem
        self._tolerances = tolerances
        self._settings = settings
        self._journal = journal
        self._starts = Starts(problem, tolerances)
        self._optima: list[Candidate] = []

    @property
    def best(self) -> Candidate | None:
        """The best of the optima; None where no run has met the tolerances."""
        return self._optima[0] if self._optima else None

    def highest(self, most: int) -> tuple[RunOutcome, ...]:
        """Return the optima that may lead to the best at a stricter tolerance.

        Parameters
        ----------
        most : int
            How many at most.
        """
        least = WORTH_KEEPING * self._most_variance
        return tuple(each.outcome for each in self._optima[:most] if each.variance >= least)

    def begin(self, n_starts: int, generator: np.random.Generator) -> None:
        """Run with care from where the compared means agree, then from random frames.

        Parameters
        ----------
        n_starts : int
            How many random frames at most.
        generator : numpy.random.Generator
            Draws them.
        """
        self._put(self._run(self._settings).run(self._starts.mean_matched(self._problem.n_components)))
        drawn = (self._starts.varied(self._problem, generator) for _ in range(n_starts))
        self._try_in_turn(drawn, WORTH_KEEPING)

    def look_elsewhere(self, n_starts: int, generator: np.random.Generator) -> None:
        """Run from random frames, then from the best of the optima with one dimension turned.

        Parameters
        ----------
        n_starts : int
            How many of both at most.
        generator : numpy.random.Generator
            Draws them.
        """
        self._try_in_turn((self._elsewhere(2 * n >= n_starts, generator) for n in range(n_starts)), ROUGH.hopeless)

    def follow(self, outcome: RunOutcome, floor: float = -math.inf, hopeless: float = WORTH_KEEPING) -> None:
        """Run from an optimum at other tolerances.

        Parameters
        ----------
        outcome : RunOutcome
            The optimum, which meets those.
        floor : float, default=-inf
            Variance that is known to be kept elsewhere.
        hopeless : float, default=WORTH_KEEPING
            Share of that, or of the best here, below which the run is given up.
        """
        floor = max(floor, self._most_variance)
        if not self._journal.out_of_time and self._bound(outcome) >= hopeless * floor:
            self._put(self._run(self._settings.roughly(hopeless)).run(outcome.start_at(self._tolerances), floor))

    def _bound(self, outcome: RunOutcome) -> float:
        """Return what an optimum cannot exceed here: where it comes from looser tolerances, what it keeps there."""
        assert outcome.best is not None
        return math.inf if outcome.best.meets(self._tolerances) else outcome.best.variance

    def _elsewhere(self, is_turned: bool, generator: np.random.Generator) -> RunStart:
        if is_turned and self._optima:
            return self._starts.turned(self._problem, self._optima[0].reached.point, generator)
        return self._starts.varied(self._problem, generator, MORE_PRESSURE)

    def _try_in_turn(self, starts: Iterable[RunStart], hopeless: float) -> None:
        """Run from one start after the other until several in a row have ended at the best, or all have failed."""
        n_alike = 0
        for number, start in enumerate(starts, start=1):
            best = self.best
            found = self._put(self._run(self._settings.roughly(hopeless)).run(start, self._most_variance))
            n_alike = n_alike + 1 if best is not None and found.is_like(best, self._tolerances) else 0
            all_failed = number >= ENOUGH_FAILED and self.best is None
            if n_alike == ENOUGH_ALIKE or all_failed or self._journal.out_of_time:
                return

    def _put(self, outcome: RunOutcome) -> Candidate:
        """Put an outcome among the optima if it meets the tolerances and is another than those."""
        found = Candidate(self._problem.n_components, outcome, self._problem)
        if outcome.best is not None and not any(found.is_like(each, self._tolerances) for each in self._optima):
            self._optima.append(found)
            self._optima.sort(key=lambda each: -each.worth(self._tolerances))
        return found

    @property
    def _most_variance(self) -> float:
        return self._optima[0].variance if self._optima else -math.inf

    def _run(self, settings: RunSettings) -> BudgetRun:
        return BudgetRun(self._problem, self._tolerances, settings, self._journal.note)
