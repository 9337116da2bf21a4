"""Optima that are followed from looser to stricter tolerances, on rungs that all searches of a problem share."""
# SPDX-License-Identifier: MIT

import math

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._run_terms import ROUGH, RunOutcome, RunSettings
from fairpca.solvers.budget._rung import Rung

LOOSEST = 0.2
"""Share of what chance shows at which branches begin: with looser tolerances nearly all starts end in one optimum."""

STEP = 0.5
"""Ratio of one rung to the one before."""

AHEAD = 3
"""Rungs below a tolerance that are looked at: what meets a stricter tolerance meets this, and may keep more."""


class Branches:
    """The optima of one number of live components at tolerances from `LOOSEST` of what chance shows downwards.

    Optima of a strict tolerance are many, and few starts end in a high one. Those of a looser tolerance are fewer, and
    the high ones lead to high ones. So starts are random where the tolerance is loose, and what they find is followed
    from rung to rung, with a few new starts on each. A rung does not depend on the tolerance that is asked for: it is
    remembered with the problem, searches at several tolerances share it, and agree.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    tolerances : ndarray of shape (n_measures,)
        tau, of which one is below `LOOSEST` of what chance shows.
    settings : RunSettings
        Limits of each run.
    breadth : int
        How many optima are followed, and how many starts are tried on each rung.
    journal : Journal
        Is told of each cycle.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        settings: RunSettings,
        breadth: int,
        journal: Journal,
    ) -> None:
        assert problem.chance is not None
        strictest = int(np.argmin(tolerances / problem.chance))
        # Equal tolerances have the same proportions to the last bit, whatever they are.
        self._proportions = problem.chance[strictest] * (tolerances / tolerances[strictest])
        self._share = float(tolerances[strictest] / problem.chance[strictest])
        self._problem = problem
        self._tolerances = tolerances
        self._settings = settings
        self._breadth = breadth
        self._journal = journal
        limits = settings.max_cycles, settings.max_steps, settings.gain_tolerance
        key = "branches", problem.n_components, problem.rank, self._proportions.tobytes(), limits
        self._rungs: list[tuple[RunOutcome, ...]] = problem.memory.setdefault(key, [])

    def best(self, known: float = -math.inf, elsewhere: float = -math.inf) -> Candidate | None:
        """Return the best of where branches lead to at the tolerances, if any meets them.

        Parameters
        ----------
        known : float, default=-inf
            Variance that is known to be kept. Ways at the tolerances that promise less are not gone.
        elsewhere : float, default=-inf
            Variance that another number of live components keeps. Where branches keep less, they are left.
        """
        rung = self._rung(self._tolerances)
        n_looser = 1 + math.floor(math.log(self._share / LOOSEST) / math.log(STEP))
        for number in range(n_looser + AHEAD):
            outcomes = self._outcomes(number)
            is_beaten = number < n_looser and _most_variance(outcomes) < elsewhere
            if is_beaten or self._journal.out_of_time:
                break
            if number >= n_looser - 1:
                for outcome in outcomes:
                    rung.follow(outcome, max(known, elsewhere), ROUGH.hopeless)
        return rung.best

    def _outcomes(self, number: int) -> tuple[RunOutcome, ...]:
        """Return the branches on a rung, which is remembered unless time has cut it short."""
        if number < len(self._rungs):
            return self._rungs[number]
        made = self._made(number, self._rungs[-1] if self._rungs else None)
        if not self._journal.out_of_time:
            self._rungs.append(made)
        return made

    def _made(self, number: int, before: tuple[RunOutcome, ...] | None) -> tuple[RunOutcome, ...]:
        if before == ():
            return ()
        rung = self._rung(LOOSEST * STEP**number * self._proportions)
        generator = np.random.default_rng([self._problem.n_components, number])
        if before is None:
            rung.begin(self._breadth, generator)
        else:
            for outcome in before:
                rung.follow(outcome)
            rung.look_elsewhere(self._breadth, generator)
        return rung.highest(self._breadth)

    def _rung(self, tolerances: FloatArray) -> Rung:
        return Rung(self._problem, tolerances, self._settings, self._journal)


def _most_variance(outcomes: tuple[RunOutcome, ...]) -> float:
    return max((each.best.variance for each in outcomes if each.best is not None), default=-math.inf)
