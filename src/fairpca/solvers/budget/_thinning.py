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
from fairpca.solvers.budget._run import BudgetRun, RunSettings

IN_REACH = 1.5
"""Multiple of the tolerance below which a run that has dropped components has told how many are left."""


class ThinningRun(BudgetRun):
    """A run that drops a live component whenever the Lagrangian gains by that far above the tolerances.

    With all components a strict tolerance costs each of them nearly all of its variance before it is met, or is not met
    at all, which takes long to find out. Close to the tolerances the run ends: from other starts with as many
    components as are left, more is kept.

    Parameters
    ----------
    problem, tolerances, settings, on_cycle
        See `BudgetRun`.
    fewest : int
        Components that stay live in any case.
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
        self._most = problem.n_components
        self._fewest = fewest

    @property
    def n_live(self) -> int:
        """Components that are live at the end."""
        return self._problem.n_components

    def _elsewhere(self, cycle: Cycle, search: MultiplierSearch) -> Evaluation | None:
        here = cycle.point.evaluation
        if here.strain(self._tolerances) <= IN_REACH:
            self._given_up = self.n_live < self._most
            return None if self._given_up else super()._elsewhere(cycle, search)
        gain, others = dropping(here, cycle.multipliers)
        if gain <= 0.0 or self.n_live == self._fewest:
            return super()._elsewhere(cycle, search)
        self._problem = self._problem.with_components(self.n_live - 1)
        self._radius = math.sqrt(self.n_live)
        search.restart(search.multipliers)
        return self._evaluate(np.ascontiguousarray(others))
