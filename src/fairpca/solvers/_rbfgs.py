"""Cautious Riemannian BFGS in limited-memory form."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers._line_search import Trial
from fairpca.solvers._unconstrained import DescentState, LineSearchMethod, Pairs, first_step


@dataclass(frozen=True)
class RiemannianBFGS(LineSearchMethod):
    """Limited-memory Riemannian BFGS with the cautious update of Huang, Absil and Gallivan (2018).

    Steps s_k and gradient changes y_k are carried from tangent space to tangent space by projection. A pair is
    kept only if <s, y> / <s, s> >= caution * |grad|, which keeps the metric positive definite where the function
    is not convex.

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of iterations.
    memory : int, default=100
        How many pairs are kept. With as many as the manifold has dimensions it is the full method; strict tolerances
        make the penalty function ill conditioned, and a short memory then costs many times the iterations.
    caution : float, default=1e-4
        Constant of the cautious update.

    References
    ----------
    W. Huang, P.-A. Absil, K. A. Gallivan, "A Riemannian BFGS method without differentiated retraction for
    nonconvex optimization problems", SIAM J. Optim. 28 (2018).
    """

    max_iter: int = 300
    memory: int = 100
    caution: float = 1e-4

    def _direction(self, pairs: Pairs, state: DescentState) -> tuple[FloatArray, float]:
        if not pairs:
            return -state.gradient, first_step(state)
        return -_inverse_hessian_product(pairs, state.gradient), 1.0

    def _learn(self, pairs: Pairs, manifold: Frames, before: DescentState, after: DescentState, trial: Trial) -> Pairs:
        here = after.sample.point
        if pairs:
            moved = manifold.transport(here, np.array(pairs))
            pairs = [(s, y) for s, y in moved]
        s = manifold.project(here, trial.step * trial.velocity)
        y = after.gradient - manifold.transport(here, before.gradient)
        if np.vdot(s, y) >= self.caution * before.gradient_norm * np.vdot(s, s):
            pairs = [*pairs, (s, y)][-self.memory :]
        return pairs


def _inverse_hessian_product(pairs: Pairs, gradient: FloatArray) -> FloatArray:
    """Two-loop recursion (Nocedal and Wright, "Numerical Optimization", algorithm 7.4)."""
    q = gradient.copy()
    coefficients = []
    # Transport bends angles a little: a pair whose curvature it made negative is passed over.
    usable = [(s, y, float(np.vdot(s, y))) for s, y in pairs]
    usable = [(s, y, curvature) for s, y, curvature in usable if curvature > 0]
    for s, y, curvature in reversed(usable):
        alpha = float(np.vdot(s, q)) / curvature
        q -= alpha * y
        coefficients.append(alpha)
    if usable:
        _, y, curvature = usable[-1]
        q *= curvature / float(np.vdot(y, y))
    for (s, y, curvature), alpha in zip(usable, reversed(coefficients), strict=True):
        q += (alpha - float(np.vdot(y, q)) / curvature) * s
    return q
