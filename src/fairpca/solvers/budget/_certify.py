"""The certificate of an answer."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers._certificate import Certificate
from fairpca.solvers.budget._closest import closest_at_point
from fairpca.solvers.budget._curvature import View

LIMITING = 0.95
"""Share of its tolerance from which on an h_j can be what limits the answer."""


def certify(view: View, variance_bound: float, tolerances: FloatArray) -> Certificate:
    """Compute the certificate of an answer.

    Parameters
    ----------
    view : View
        The answer in a chart, with the model around a centre that is near it.
    variance_bound : float
        The share that no projection to as many components can exceed.
    tolerances : ndarray of shape (n_measures,)
        tau.
    """
    model, point = view
    used = point.evaluation.discrepancies / tolerances
    multipliers = closest_at_point(point, used >= min(LIMITING, float(used.max())))
    length = float(np.linalg.norm(point.variance_gradient))
    residual = float(np.linalg.norm(point.variance_gradient - multipliers @ point.discrepancy_gradients))
    return Certificate(
        multipliers=multipliers,
        kkt_residual=residual / length if length > 0 else 0.0,
        smallest_curvature=model.smallest_curvature(point, multipliers, multipliers > 0),
        variance_bound=variance_bound,
        budgets_used=used,
    )


def gains_by_dropping(answer: Evaluation | None, multipliers: FloatArray) -> bool:
    """Tell whether turning a live component into a null direction improves the Lagrangian to first order.

    Parameters
    ----------
    answer : Evaluation or None
        The answer; None counts as one that should be searched further.
    multipliers : ndarray of shape (n_measures,)
        mu.
    """
    return answer is None or dropping(answer, multipliers)[0] > 0


def dropping(here: Evaluation, multipliers: FloatArray) -> tuple[float, FloatArray]:
    """Return what the Lagrangian gains to first order by shrinking the component that costs it most, and the others.

    Shrinking the component Vu changes -variance + sum_j mu_j h_j at the rate -u'V'(grad)u, so it helps where the
    symmetric part of V'grad has a positive eigenvalue.

    Parameters
    ----------
    here : Evaluation
        The frame.
    multipliers : ndarray of shape (n_measures,)
        mu.

    Returns
    -------
    gain : float
        The largest eigenvalue.
    others : ndarray of shape (p, k - 1)
        The frame without its eigenvector.
    """
    inside = here.point.T @ (here.weighted_gradient(multipliers) - here.variance_gradient)
    gains, directions = np.linalg.eigh((inside + inside.T) / 2)
    return float(gains[-1]), here.point @ directions[:, :-1]
