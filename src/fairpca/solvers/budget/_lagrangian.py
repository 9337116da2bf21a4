"""What a cycle minimises."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.solvers.budget._chart import ChartPoint


@dataclass(frozen=True, eq=False)
class Sight:
    """A point with the value and the gradient of a Lagrangian there."""

    point: ChartPoint
    value: float
    gradient: FloatArray


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""The (augmented) Lagrangian of the constraints h_j <= t_j.

    .. math:: L = -\text{variance} + \sum_j \phi_j(h_j - t_j), \qquad
              \phi_j(e) = \mu_j e + \tfrac{c_j}{2} e^2 \text{ while } \phi_j' \ge 0, \text{ then constant.}

    A single constraint is active wherever plain PCA does not meet it, and is held from both sides.

    Attributes
    ----------
    multipliers, targets : ndarray of shape (n_measures,)
        mu and t.
    stiffness : ndarray of shape (n_measures,)
        c; 0 is the plain Lagrangian. A maximum of variance on h = t need not be a minimum of the plain Lagrangian:
        across the constraint it can be a saddle, which c > 0 straightens.
    """

    multipliers: FloatArray
    targets: FloatArray
    stiffness: FloatArray

    def value(self, point: ChartPoint) -> float:
        """Return L."""
        pressed = self._pressed(point)
        return self._value(point, pressed, self._weights(pressed))

    def weights(self, point: ChartPoint) -> FloatArray:
        """Return the weights of the gradients of the h_j, mu_j + c_j (h_j - t_j) where that is positive."""
        return self._weights(self._pressed(point))

    def gradient(self, point: ChartPoint) -> FloatArray:
        """Return the gradient of L."""
        return self.weights(point) @ point.discrepancy_gradients - point.variance_gradient

    def seen_from(self, point: ChartPoint) -> Sight:
        """Return value and gradient, which several steps need, together with the point."""
        pressed = self._pressed(point)
        weights = self._weights(pressed)
        gradient = weights @ point.discrepancy_gradients
        gradient -= point.variance_gradient
        return Sight(point, self._value(point, pressed, weights), gradient)

    def _pressed(self, point: ChartPoint) -> FloatArray:
        """Return e_j = h_j - t_j, as far as phi_j depends on it."""
        pressed = point.evaluation.discrepancies - self.targets
        if len(pressed) > 1:
            free = np.full_like(self.multipliers, -np.inf)
            slack = np.divide(-self.multipliers, self.stiffness, out=free, where=self.stiffness > 0)
            pressed = np.maximum(pressed, slack)
        return pressed

    def _weights(self, pressed: FloatArray) -> FloatArray:
        """Return the phi_j'."""
        weights = self.multipliers + self.stiffness * pressed
        return np.maximum(weights, 0.0) if len(weights) > 1 else weights

    def _value(self, point: ChartPoint, pressed: FloatArray, weights: FloatArray) -> float:
        """Return L: phi_j is quadratic, so that it is e_j times the mean of its slopes at 0 and at e_j."""
        return 0.5 * float((self.multipliers + weights) @ pressed) - point.evaluation.variance
