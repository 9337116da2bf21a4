"""A run that finds out on its way how many components can stay live."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers.budget._certify import dropping
from fairpca.solvers.budget._cycle import Cycle
from fairpca.solvers.budget._multipliers import MultiplierSearch
from fairpca.solvers.budget._run import BudgetRun
from fairpca.solvers.budget._run_terms import RunSettings

ALONE = 0.5
"""Share of h that a row makes up by itself where fewer components would not help."""

FAR, IN_REACH, ROOM = 2.0, 1.5, 0.8
"""Multiples of the tolerance: above the first a run begins to drop components, below the second it has told how many
stay, below the last there may be room for one more."""


class ThinningRun(BudgetRun):
    """A run that drops a live component whenever the Lagrangian gains by that far above the tolerances.

    With all components a strict tolerance costs each of them nearly all of its variance before it is met, or is not met
    at all, which takes long to find out. Close to the tolerances the run ends: from other starts with as many
    components as are left, more is kept. Where none is dropped it is a run as any other.

    Parameters
    ----------
    problem, tolerances, settings, on_cycle
        See `BudgetRun`.
    fewest : int
        Components that stay live in any case.

    Attributes
    ----------
    most_live : int
        Components that may be live at the end; others were too many.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        settings: RunSettings,
        on_cycle: Callable[[Cycle], None],
        fewest: int,
    ) -> None:
        super().__init__(problem, tolerances, settings, on_cycle)
        self._most = self.most_live = problem.n_components
        self._fewest = fewest

    @property
    def n_live(self) -> int:
        """Components that are live at the end."""
        return self._problem.n_components

    def _rows_stand_alone(self, here: Evaluation) -> bool:
        """Tell whether it is single rows that are left: multipliers grow on them, and any component seems too much."""
        alone = self._problem.discrepancy.isolated_directions(here.point, ALONE * here.discrepancies)
        return alone.shape[1] > 0

    def _elsewhere(self, cycle: Cycle, search: MultiplierSearch) -> Evaluation | None:
        here = cycle.point.evaluation
        has_dropped, strain = self.n_live < self._most, here.strain(self._tolerances)
        self._given_up = has_dropped and strain <= IN_REACH
        if self._given_up:
            self.most_live = self.n_live + (1 if strain <= ROOM else 0)
            return None
        # Fewer components do not bring rows back that stand alone; multipliers that have grown on them tell nothing.
        turned_away = self._removed.shape[1] > 0
        if self.n_live == self._fewest or turned_away or not (has_dropped or strain > FAR):
            return super()._elsewhere(cycle, search)
        gain, others = dropping(here, cycle.multipliers)
        if gain <= 0.0:
            return super()._elsewhere(cycle, search)
        if self._rows_stand_alone(here):
            self._is_lost = self._given_up = True
            return None
        self._problem = self._problem.with_components(self.n_live - 1)
        self._radius = math.sqrt(self.n_live)
        search.restart(search.multipliers)
        search.hurry()
        return self._evaluate(np.ascontiguousarray(others))
