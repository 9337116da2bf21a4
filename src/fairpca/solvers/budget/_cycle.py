"""What a cycle of a run did."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.solvers.budget._chart import ChartPoint
from fairpca.solvers.budget._curvature import Model


@dataclass(frozen=True)
class Cycle:
    """What a cycle of the run did, for records, callbacks and the next cycle."""

    multipliers: FloatArray
    model: Model
    point: ChartPoint
    expected_gain: float
    n_steps: int
    collected: bool

    @property
    def residual(self) -> float:
        """Norm of the gradient of the Lagrangian, relative to that of the variance."""
        point = self.point
        left = point.variance_gradient - self.multipliers @ point.discrepancy_gradients
        return float(np.linalg.norm(left)) / max(float(np.linalg.norm(point.variance_gradient)), 1e-300)

    @property
    def moved(self) -> float:
        """Distance from the centre of the chart."""
        return float(np.linalg.norm(self.point.b))
