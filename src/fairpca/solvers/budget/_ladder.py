"""Going down to strict tolerances by way of looser ones."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers.budget._cycle import Cycle
from fairpca.solvers.budget._run import BudgetRun
from fairpca.solvers.budget._run_terms import RunOutcome, RunSettings, RunStart

ON_THE_WAY = 1e-4
"""Gain in variance share that counts as none at a tolerance that is only passed."""


class Ladder:
    """Runs at decreasing multiples of the tolerances, each from the answer to the one before.

    Where constraints are strict the landscape has many optima; those of a looser tolerance are fewer and lead to high
    ones.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    tolerances : ndarray of shape (n_measures,)
        tau, the last ones.
    settings : RunSettings
        Limits of each run.
    on_cycle : callable
        Called with each `Cycle`.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        settings: RunSettings,
        on_cycle: Callable[[Cycle], None],
    ) -> None:
        self._problem = problem
        self._tolerances = tolerances
        self._settings = settings
        self._on_cycle = on_cycle

    def descend(self, start: RunStart, multiples: Sequence[float], floor: float = -math.inf) -> RunOutcome:
        """Return the outcome at the tolerances, by way of multiples of them.

        Parameters
        ----------
        start : RunStart
            First point.
        multiples : sequence of float
            Decreasing, above 1.
        floor : float, default=-inf
            Give up when the way can hardly reach this variance: what a looser tolerance does not allow, a stricter
            does not either.
        """
        rough = replace(self._settings, gain_tolerance=max(ON_THE_WAY, self._settings.gain_tolerance))
        for multiple, after in pairwise([*multiples, 1.0]):
            outcome = self._run(multiple * self._tolerances, rough).run(start, floor)
            if outcome.best is None or outcome.best.variance < floor:
                return replace(outcome, best=None, stationary=False, view=None)
            start = outcome.start_at(after * self._tolerances)
        return self._run(self._tolerances, self._settings).run(start, floor)

    def bounce(self, outcome: RunOutcome, multiple: float) -> RunOutcome:
        """Return where the way leads from an answer to a multiple of the tolerances and back."""
        assert outcome.best is not None
        return self.descend(outcome.start_at(multiple * self._tolerances), (multiple,), outcome.best.variance)

    def _run(self, tolerances: FloatArray, settings: RunSettings) -> BudgetRun:
        return BudgetRun(self._problem, tolerances, settings, self._on_cycle)
