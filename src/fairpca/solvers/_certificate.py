"""How good an answer is, as far as can be told where it stands."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca.problem import Evaluation
from fairpca.solvers._curvature import View
from fairpca.solvers._multiplier import closest_multiplier


@dataclass(frozen=True)
class Certificate:
    """Optimality conditions at the answer.

    Attributes
    ----------
    multiplier : float
        mu, the variance share gained for each unit of tolerance.
    kkt_residual : float
        |grad variance - mu grad h| / |grad variance| on the manifold; 0 at a stationary point.
    smallest_curvature : float
        Smallest eigenvalue of the Hessian of -variance + mu h on the directions that keep h; positive at a strict
        local maximum of variance. The Hessian is the last one of the run, in single precision, built at the answer or
        at a frame within 0.1 of it.
    variance_bound : float
        No projection to n_components dimensions keeps more: the share that plain PCA keeps.
    budget_used : float
        h / tau.
    hessian_rows : int or None
        Where rows are many the Hessian is that of a sample of so many rows, and `smallest_curvature` is as accurate as
        the sample; None where it is that of all rows.
    """

    multiplier: float
    kkt_residual: float
    smallest_curvature: float
    variance_bound: float
    budget_used: float
    hessian_rows: int | None = None

    @property
    def local_maximum(self) -> bool:
        """Whether the second-order conditions of a local maximum hold, to the accuracy of the Hessian."""
        return self.kkt_residual < 1e-2 and self.smallest_curvature > -1e-6


def certify(view: View, variance_bound: float, tolerance: float) -> Certificate:
    """Compute the certificate of an answer.

    Parameters
    ----------
    view : View
        The answer in a chart, with the model around a centre that is near it.
    variance_bound : float
        The share that no projection to as many components can exceed.
    tolerance : float
        tau.
    """
    model, point = view
    multiplier = closest_multiplier(point)
    length = float(np.linalg.norm(point.variance_gradient))
    residual = float(np.linalg.norm(point.variance_gradient - multiplier * point.discrepancy_gradient))
    return Certificate(
        multiplier=multiplier,
        kkt_residual=residual / length if length > 0 else 0.0,
        smallest_curvature=model.smallest_curvature(point, multiplier),
        variance_bound=variance_bound,
        budget_used=point.evaluation.worst / tolerance,
    )


def gains_by_dropping(answer: Evaluation | None, mu: float) -> bool:
    """Tell whether turning a live component into a null direction improves the Lagrangian to first order.

    Shrinking the component Vu changes -variance + mu h at the rate -u'V'(grad)u, so it helps where the symmetric part
    of V'grad has a positive eigenvalue.

    Parameters
    ----------
    answer : Evaluation or None
        The answer; None counts as one that should be searched further.
    mu : float
        Its multiplier.
    """
    if answer is None:
        return True
    inside = answer.point.T @ (mu * answer.discrepancy_gradient - answer.variance_gradient)
    return bool(np.linalg.eigvalsh((inside + inside.T) / 2)[-1] > 0)
