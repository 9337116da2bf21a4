"""Cautious Riemannian BFGS in limited-memory form."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import partial

import numpy as np

from fairpca._utils.checks import check_integer, check_number
from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers._line_search import Trial
from fairpca.solvers._two_loop import CurvedPair, quasi_newton_product
from fairpca.solvers.unconstrained._unconstrained import Arrival, DescentState, LineSearchMethod, Pairs, first_step


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

    def __post_init__(self) -> None:
        check_integer("max_iter", self.max_iter, 1)
        check_integer("memory", self.memory, 1)
        check_number("caution", self.caution, 0)

    def _direction(self, pairs: Pairs, manifold: Frames, state: DescentState) -> tuple[FloatArray, float]:
        if not pairs:
            return -state.gradient, first_step(state)
        return -quasi_newton_product(pairs, state.gradient, partial(_scaled, pairs)), 1.0

    def _learn(
        self, pairs: Pairs, manifold: Frames, before: DescentState, after: DescentState, trial: Trial[Arrival]
    ) -> Pairs:
        here = after.sample.point
        if pairs:
            moved = manifold.transport(here, np.array([(pair.step, pair.change) for pair in pairs]))
            # Transport bends angles a little: a pair whose curvature it made negative is dropped.
            pairs = [pair for s, y in moved if (pair := CurvedPair.of(s, y)).curvature > 0]
        s = manifold.project(here, trial.step * trial.at.velocity)
        pair = CurvedPair.of(s, after.gradient - manifold.transport(here, before.gradient))
        if pair.curvature >= self.caution * before.gradient_norm * np.vdot(s, s):
            pairs = [*pairs, pair][-self.memory :]
        return pairs


def _scaled(pairs: Pairs, vector: FloatArray) -> FloatArray:
    """Return the vector times <s, y> / <y, y> of the last pair, the usual guess of the inverse curvature."""
    _, y, curvature = pairs[-1]
    return curvature / float(np.vdot(y, y)) * vector
