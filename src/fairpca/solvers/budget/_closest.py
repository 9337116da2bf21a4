"""Multipliers from gradients alone."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.optimize import nnls

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._chart import ChartPoint


def closest_multipliers(
    of_variance: FloatArray, of_discrepancies: FloatArray, allowed: BoolArray | None = None
) -> FloatArray:
    """Return the mu >= 0 that come closest to grad variance = sum_j mu_j grad h_j.

    Parameters
    ----------
    of_variance : ndarray of shape (dimension,)
        Gradient of the variance.
    of_discrepancies : ndarray of shape (n_measures, dimension)
        Gradients of the h_j.
    allowed : ndarray of bool of shape (n_measures,), default=None
        Which mu_j may differ from 0; by default all.
    """
    multipliers = np.zeros(len(of_discrepancies))
    lengths = np.linalg.norm(of_discrepancies, axis=1)
    chosen = np.flatnonzero((lengths > 0) & (True if allowed is None else allowed))
    if len(chosen) == 1:
        normal = of_discrepancies[chosen[0]]
        multipliers[chosen] = max(0.0, float(of_variance @ normal) / float(normal @ normal))
    elif len(chosen):
        # Of unit length: one h_j may be a thousand times as steep as another.
        units = of_discrepancies[chosen] / lengths[chosen, None]
        multipliers[chosen] = nnls(units.T, of_variance)[0] / lengths[chosen]
    return multipliers


def closest_at_point(point: ChartPoint, allowed: BoolArray | None = None) -> FloatArray:
    """Return the closest multipliers at a point of a chart."""
    return closest_multipliers(point.variance_gradient, point.discrepancy_gradients, allowed)


def closest_at_frame(here: Evaluation, allowed: BoolArray | None = None) -> FloatArray:
    """Return the closest multipliers at an evaluated frame."""
    V = here.point
    gradients = np.concatenate([here.variance_gradient[None], here.discrepancy_gradients])
    horizontal = gradients - V @ (V.T @ gradients)
    of_variance, *of_discrepancies = horizontal.reshape(len(gradients), -1)
    return closest_multipliers(of_variance, np.stack(of_discrepancies), allowed)
