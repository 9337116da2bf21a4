"""What unconstrained solvers on the manifold share: their result, their contract, the line-search loop."""
# SPDX-License-Identifier: MIT

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers._line_search import Trial, wolfe_search
from fairpca.solvers._two_loop import CurvedPair
from fairpca.solvers.unconstrained._objectives import Objective, Sample

Pairs = list[CurvedPair]
"""Steps and the changes of the gradient along them."""


class InnerStatus(StrEnum):
    """Why an unconstrained solver stopped."""

    GRADIENT_SMALL = "the gradient is below the tolerance"
    MAX_ITERATIONS = "the iteration limit was reached"
    ROUNDING_LIMIT = "no step improves the value beyond rounding"


@dataclass(frozen=True)
class InnerResult:
    """Where an unconstrained solver stopped.

    Attributes
    ----------
    sample : Sample
        The last point with its value and gradient.
    gradient_norm : float
        Norm of the Riemannian gradient there.
    n_iter : int
        Iterations taken.
    status : InnerStatus
        Why it stopped.
    """

    sample: Sample
    gradient_norm: float
    n_iter: int
    status: InnerStatus


class Subsolver(Protocol):
    """Minimises a smooth function on the manifold until the gradient norm is at most `gradient_tolerance`."""

    def minimise(self, objective: Objective, manifold: Frames, start: Sample, gradient_tolerance: float) -> InnerResult:
        """Run from `start`."""


@dataclass
class DescentState:
    """A point on the way, with its Riemannian gradient."""

    sample: Sample
    gradient: FloatArray

    @property
    def gradient_norm(self) -> float:
        """Norm of the Riemannian gradient."""
        return float(np.linalg.norm(self.gradient))


@dataclass(frozen=True)
class Arrival:
    """Where a line search ended, and the velocity of its curve there."""

    sample: Sample
    velocity: FloatArray


class LineSearchMethod(ABC):
    """Direction, Wolfe search, update: the loop of descent methods on a manifold.

    Subclasses say how a direction is chosen and what is learned from an accepted step.
    """

    max_iter: int

    def minimise(self, objective: Objective, manifold: Frames, start: Sample, gradient_tolerance: float) -> InnerResult:
        """Minimise until the norm of the Riemannian gradient is at most `gradient_tolerance`.

        Parameters
        ----------
        objective : Objective
            The function to minimise.
        manifold : Frames
            Where its argument lives.
        start : Sample
            First point, already evaluated.
        gradient_tolerance : float
            Stop at this gradient norm.

        Returns
        -------
        result : InnerResult
            The last point and why the method stopped there.
        """
        state = DescentState(start, manifold.project(start.point, start.gradient))
        pairs: Pairs = []
        for n_iter in range(self.max_iter):
            if state.gradient_norm <= gradient_tolerance:
                return InnerResult(state.sample, state.gradient_norm, n_iter, InnerStatus.GRADIENT_SMALL)
            direction, initial_step = self._direction(pairs, manifold, state)
            trial = self._search(objective, manifold, state, direction, initial_step)
            if trial is None and pairs:
                pairs = []  # stale curvature can spoil a direction; steepest descent cannot
                direction, initial_step = self._direction(pairs, manifold, state)
                trial = self._search(objective, manifold, state, direction, initial_step)
            if trial is None:
                return InnerResult(state.sample, state.gradient_norm, n_iter, InnerStatus.ROUNDING_LIMIT)
            after = DescentState(trial.at.sample, manifold.project(trial.at.sample.point, trial.at.sample.gradient))
            pairs = self._learn(pairs, manifold, state, after, trial)
            state = after
        status = InnerStatus.GRADIENT_SMALL if state.gradient_norm <= gradient_tolerance else InnerStatus.MAX_ITERATIONS
        return InnerResult(state.sample, state.gradient_norm, self.max_iter, status)

    @staticmethod
    def _search(
        objective: Objective, manifold: Frames, state: DescentState, direction: FloatArray, initial_step: float
    ) -> Trial[Arrival] | None:
        slope = float(np.vdot(state.gradient, direction))
        curve = manifold.curve(state.sample.point, direction)

        def try_step(step: float) -> Trial[Arrival]:
            point, velocity = curve(step)
            sample = objective.sample(point)
            return Trial(step, sample.value, float(np.vdot(sample.gradient, velocity)), Arrival(sample, velocity))

        return wolfe_search(try_step, state.sample.value, slope, initial_step, state.sample.rounding)

    @abstractmethod
    def _direction(self, pairs: Pairs, manifold: Frames, state: DescentState) -> tuple[FloatArray, float]:
        """Return a descent direction and the first step to try along it."""

    @abstractmethod
    def _learn(
        self, pairs: Pairs, manifold: Frames, before: DescentState, after: DescentState, trial: Trial[Arrival]
    ) -> Pairs:
        """Return the pairs known after an accepted step, in the tangent space of the new point."""


def first_step(state: DescentState) -> float:
    """Return a step along the gradient of length at most 0.1, about six degrees, where nothing else is known."""
    return min(1.0, 0.1 / state.gradient_norm)
