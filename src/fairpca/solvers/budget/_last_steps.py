"""Steps at the end of a run, which use up what is left of the tolerances."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers._limits import TARGET, VISIBLE
from fairpca.solvers._metric import Metric
from fairpca.solvers.budget._closest import closest_at_point
from fairpca.solvers.budget._cycle import Cycle
from fairpca.solvers.budget._dual import ACCURACY
from fairpca.solvers.budget._lagrangian import Lagrangian

SHARES, ERROR = (1.0, 0.9, 0.5), 2e-5
"""Shares of what is left that steps try to use up, and the share of the tolerance that is left for their own error."""

STATIONARY = 1e-3
"""Residual of the optimality conditions, relative to the gradient of variance, that counts as none."""

FOREIGN = 0.1
"""The residual above which multipliers are not those of the point: a guard held it, or a spring."""

SPRINGS = 0.0, 4.0, 64.0, 1024.0
"""Stiffness of springs, in units of mu / tau, that is tried where the Lagrangian has a saddle."""


@dataclass(frozen=True, eq=False)
class LastSteps:
    """Spend what is left of the tolerances where that buys visible variance: a step or two, and no Hessian.

    Attributes
    ----------
    tolerances : ndarray of shape (n_measures,)
        tau.
    evaluate : callable
        Evaluates a frame.
    """

    tolerances: FloatArray
    evaluate: Callable[[FloatArray], Evaluation]

    def after(self, cycle: Cycle) -> Cycle:
        """Return the last cycle with its point moved, where that keeps more and meets the tolerances."""
        goals = (1 - ERROR) * self.tolerances
        cycle = self._with_closest_multipliers(cycle)
        for share in SHARES:
            here = cycle.point.evaluation
            slack = np.where(cycle.multipliers > 0, goals - here.discrepancies, 0.0)
            worth = float(cycle.multipliers @ slack)
            # Where constraints meet, what is left of the gradient can matter more than what is left of a tolerance.
            unsettled = len(slack) > 1 and cycle.residual > STATIONARY
            if not np.any(cycle.multipliers > 0) or not (worth > VISIBLE or unsettled):
                break
            place = cycle.model.chart.at(cycle.point.b + self._step(cycle, share * slack))
            there = place.read(self.evaluate(place.frame))
            if there.evaluation.meets(self.tolerances) and there.evaluation.variance > here.variance - VISIBLE / 10:
                cycle = replace(cycle, point=there)
        return cycle

    def _with_closest_multipliers(self, cycle: Cycle) -> Cycle:
        """Return the cycle with multipliers that fit its end, where its own are those of other measures."""
        if len(self.tolerances) == 1 or cycle.residual <= FOREIGN:
            return cycle
        active = cycle.point.evaluation.discrepancies >= (1 - ACCURACY) * TARGET * self.tolerances
        return replace(cycle, multipliers=closest_at_point(cycle.point, active))

    def _step(self, cycle: Cycle, slack: FloatArray) -> FloatArray:
        """Return the Newton step of the Lagrangian among those that add so much to the active h_j."""
        metric, gradient = self._metric_with_springs(cycle)
        normals = cycle.point.discrepancy_gradients[cycle.multipliers > 0]
        ways = np.stack([metric.solve(normal) for normal in normals])
        step = -metric.solve(gradient)
        missing = slack[cycle.multipliers > 0] - normals @ step
        return step + np.linalg.lstsq(normals @ ways.T, missing, rcond=1e-10)[0] @ ways

    def _metric_with_springs(self, cycle: Cycle) -> tuple[Metric, FloatArray]:
        """Return the Hessian of the Lagrangian, with springs as stiff as it takes to make it positive definite.

        Springs do not change the space that H^-1 grad h_j span. The gradient, at rest of the springs, comes with it.
        """
        for stiffness in SPRINGS:
            springs = stiffness * cycle.multipliers / self.tolerances
            lagrangian = Lagrangian(cycle.multipliers, cycle.point.evaluation.discrepancies, springs)
            metric, _ = cycle.model.newton_step(cycle.point, lagrangian, math.inf)
            if metric.shift == 0.0:
                break
        return metric, lagrangian.gradient(cycle.point)
