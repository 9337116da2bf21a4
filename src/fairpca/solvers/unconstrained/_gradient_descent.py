"""Riemannian gradient descent."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.checks import check_integer
from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers._line_search import Trial
from fairpca.solvers._two_loop import CurvedPair
from fairpca.solvers.unconstrained._unconstrained import Arrival, DescentState, LineSearchMethod, Pairs, first_step


@dataclass(frozen=True)
class GradientDescent(LineSearchMethod):
    """Steepest descent with a Wolfe search that starts at the step length of Barzilai and Borwein.

    Parameters
    ----------
    max_iter : int, default=2000
        Largest number of iterations; first-order steps are many.
    """

    max_iter: int = 2000

    def __post_init__(self) -> None:
        check_integer("max_iter", self.max_iter, 1)

    def _direction(self, pairs: Pairs, manifold: Frames, state: DescentState) -> tuple[FloatArray, float]:
        if not pairs:
            return -state.gradient, first_step(state)
        (pair,) = pairs
        return -state.gradient, pair.curvature / float(np.vdot(pair.change, pair.change))

    def _learn(
        self, pairs: Pairs, manifold: Frames, before: DescentState, after: DescentState, trial: Trial[Arrival]
    ) -> Pairs:
        here = after.sample.point
        s = manifold.project(here, trial.step * trial.at.velocity)
        pair = CurvedPair.of(s, after.gradient - manifold.transport(here, before.gradient))
        return [pair] if pair.curvature > 0 else []
