"""The augmented Lagrangian, and multipliers from gradients alone."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._chart import ChartPoint


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""The (augmented) Lagrangian of the constraints h_j <= t_j.

    .. math:: L = -\text{variance} + \sum_j \phi_j(h_j - t_j), \qquad
              \phi_j(e) = \mu_j e + \tfrac{c_j}{2} e^2 \text{ while } \phi_j' \ge 0, \text{ then constant.}

    Attributes
    ----------
    multipliers, goals : ndarray of shape (n_measures,)
        mu and t.
    penalties : ndarray of shape (n_measures,)
        c; 0 is the plain Lagrangian. A maximum of variance on h = t need not be a minimum of the plain Lagrangian:
        across the constraint it can be a saddle, which c > 0 makes convex.
    """

    multipliers: FloatArray
    goals: FloatArray
    penalties: FloatArray

    def weights(self, discrepancies: FloatArray) -> FloatArray:
        """Return the phi_j', the weights of the gradients of the h_j: max(0, mu_j + c_j (h_j - t_j))."""
        return np.maximum(self.multipliers + self.penalties * (discrepancies - self.goals), 0.0)

    def at(self, point: ChartPoint) -> tuple[float, FloatArray]:
        """Return value and gradient of L at a point of a chart."""
        mu, c, h = self.multipliers, self.penalties, point.evaluation.discrepancies
        weights = self.weights(h)
        # With w = phi', phi = (w^2 - mu^2) / 2c where c > 0, on the constant part too.
        curved = np.divide((weights - mu) * (weights + mu), 2.0 * c, out=mu * (h - self.goals), where=c > 0.0)
        value = float(curved.sum()) - point.evaluation.variance
        return value, weights @ point.discrepancy_gradients - point.variance_gradient


def closest_multipliers(here: Evaluation, allowed: BoolArray | None = None) -> FloatArray:
    """Return the mu >= 0 that come closest to grad variance = sum_j mu_j grad h_j on the manifold.

    Parameters
    ----------
    here : Evaluation
        An evaluated frame.
    allowed : ndarray of bool of shape (n_measures,), default=None
        Which mu_j may differ from 0; by default all.
    """
    normals = horizontal(here, here.discrepancy_gradients)
    lengths = np.linalg.norm(normals, axis=1)
    chosen = np.flatnonzero((lengths > 0) & (True if allowed is None else allowed))
    multipliers = np.zeros(len(lengths))
    if len(chosen):
        # Of unit length: one h_j may be a thousand times as steep as another.
        units = normals[chosen] / lengths[chosen, None]
        (wanted,) = horizontal(here, here.variance_gradient[None])
        multipliers[chosen] = nnls(units.T, wanted)[0] / lengths[chosen]
    return multipliers


def horizontal(here: Evaluation, gradients: FloatArray) -> FloatArray:
    """Return the parts (I - VV')G of Euclidean gradients G, of shape (k, p, d), as rows."""
    V = here.point
    return (gradients - V @ (V.T @ gradients)).reshape(len(gradients), -1)
