"""Choosing the multiplier mu of the constraint h <= tau."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, field
from itertools import pairwise

from fairpca.solvers._chart import ChartPoint, Lagrangian
from fairpca.solvers._curvature import Model

LARGEST_FACTOR = 4.0
"""Most by which mu changes from one cycle to the next; larger steps leave the path of minimisers, and end lower."""

MOST_STAYS = 1
"""Cycles that a multiplier is kept for while its minimiser has not been reached."""

CLOSE = 0.7
"""|log(h / target)| below which the quadratic model of h is trusted."""

ACCURACY = 2e-3
"""Relative accuracy to which the model of h is brought to the target."""


@dataclass
class MultiplierSearch:
    """A one-dimensional search for the mu at whose minimiser of -variance + mu h the discrepancy is the target.

    Far from the target mu follows the measured slope of log h against log mu; close to it, mu is such that the
    quadratic model gives the target after a Newton step.

    Attributes
    ----------
    mu : float
        The current multiplier.
    target : float
        The discrepancy aimed at.
    stiffness : float
        Weight of the quadratic term; 0 until h is seen to jump across the target.
    history : list of (log mu, log h)
        One pair for each multiplier tried.
    """

    mu: float
    target: float
    stiffness: float = 0.0
    history: list[tuple[float, float]] = field(default_factory=list)
    _excess: float = math.inf
    _stays: int = 0
    _minimised: bool = True

    def record(self, discrepancy: float, minimised: bool) -> None:
        """Note the discrepancy reached with the current multiplier, and whether that is at its minimiser."""
        if self._stays > 0:
            self.history.pop()
        self.history.append((math.log(self.mu), math.log(max(discrepancy, 1e-300))))
        self._minimised = minimised

    def update(self, model: Model, point: ChartPoint, radius: float) -> Lagrangian:
        """Choose the multiplier of the next cycle and return its Lagrangian.

        Parameters
        ----------
        model : Model
            Second-order model around the current point.
        point : ChartPoint
            The current point.
        radius : float
            Longest step that is trusted.
        """
        if self._jumps:
            # No multiplier has its minimiser on the target: from here on the constraint gets a spring.
            self.stiffness = max(4.0 * self.stiffness, self.mu / self.target)
            self.history.clear()
        ratio = max(point.evaluation.worst, 1e-300) / self.target
        unfinished = not self._minimised and self._stays < MOST_STAYS and ratio > 2.0
        if self.stiffness > 0:
            self._stays = 0
            self._tighten_spring(point)
        elif unfinished:
            self._stays += 1
        else:
            self._stays = 0
            self.mu = self._next(model, point, radius, ratio)
        return Lagrangian(self.mu, self.target, self.stiffness)

    def _tighten_spring(self, point: ChartPoint) -> None:
        """Make the spring stiffer while h does not approach the target, and take the multiplier from the gradients."""
        excess = abs(point.evaluation.worst - self.target)
        if excess > 0.5 * self._excess:
            self.stiffness *= 4.0
        self._excess = excess
        self.mu = _clip(closest_multiplier(point), 0.1 * self.mu, 10.0 * self.mu)

    def _next(self, model: Model, point: ChartPoint, radius: float, ratio: float) -> float:
        """Return the next multiplier, given h / target at the minimiser of this one."""
        chosen = self._by_secant()
        if chosen is None and abs(math.log(ratio)) < CLOSE:
            chosen = self._by_model(model, point, radius)
        if chosen is None and self.history:
            chosen = self.mu * _clip(ratio ** (1.0 / self._slope()), 1 / LARGEST_FACTOR, LARGEST_FACTOR)
        return self.mu if chosen is None else chosen

    @property
    def _jumps(self) -> bool:
        """Whether h has leapt across the target of late, twice far from it or three times never close to it."""
        return self._leaps(3, 0.2) >= 2 or self._leaps(6, 0.03) >= 3 or self._leaps(14, 0.03) >= 3

    def _leaps(self, count: int, nearest: float) -> int:
        """Return how often the last cycles have led across the target; 0 if one has come nearer than `nearest`."""
        distances = self._distances(count)
        if min(map(abs, distances), default=0.0) < nearest:
            return 0
        return sum(before * after < 0 for before, after in pairwise(distances))

    def _distances(self, count: int) -> list[float]:
        """Return log(h / target) of the last cycles."""
        return [h - math.log(self.target) for _, h in self.history[-count:]]

    @property
    def stuck(self) -> bool:
        """Whether h, above the target, hardly answers to a growing multiplier any more."""
        above = [h - math.log(self.target) for _, h in self.history]
        if len(above) >= 6 and min(above[-6:]) > 2 * ACCURACY and above[-6] - above[-1] < 0.01:
            return True
        if len(above) < 4 or above[-1] < math.log(2):
            return False
        growth = self.history[-1][0] - self.history[-3][0]
        return growth > 2.5 and above[-3] - above[-1] < 0.25 * growth

    def restart(self, mu: float) -> None:
        """Begin again at another multiplier."""
        self.mu = mu
        self.stiffness, self._excess = 0.0, math.inf
        self._stays, self._minimised = 0, True
        self.history.clear()

    def _slope(self) -> float:
        """Return -d log h / d log mu from the last two cycles, kept within what is plausible."""
        if len(self.history) < 2 or self.history[-1][0] == self.history[-2][0]:
            return 1.0
        (mu_0, h_0), (mu_1, h_1) = self.history[-2:]
        return _clip((h_0 - h_1) / (mu_1 - mu_0), 0.4, 4.0)

    def _by_secant(self) -> float | None:
        """Return the mu between the last two where the model has led to and fro across a close target in vain.

        The Hessian of a sample of the rows can be too far off for its model to bring h to the target.
        """
        distances = self._distances(3)
        if len(distances) < 3 or max(map(abs, distances)) > 0.3 or not _alternate(distances):
            return None
        (mu_0, _), (mu_1, _) = self.history[-2:]
        _, before, after = distances
        if abs(after) < 0.5 * abs(before) or (mu_1 - mu_0) * (after - before) >= 0:
            return None
        return math.exp(mu_0 + (mu_1 - mu_0) * before / (before - after))

    def _by_model(self, model: Model, point: ChartPoint, radius: float) -> float | None:
        """Return the mu for which the model meets the target, by secant steps; None where the model is no use."""

        def predicted(mu: float) -> float | None:
            metric, step = model.newton_step(point, Lagrangian(mu, self.target), radius)
            value = model.predicted_discrepancy(point, step)
            # A shifted Hessian means a shortened step: its model says little about where the minimiser is.
            return value if metric.shift == 0.0 and value > 0.0 else None

        before, value_before = self.mu, predicted(self.mu)
        if value_before is None or abs(value_before / self.target - 1) <= ACCURACY:
            return None if value_before is None else before
        here = before * _clip((value_before / self.target) ** 1.3, 1 / 3, 3.0)
        for _ in range(8):
            value = predicted(here)
            if value is None or abs(value / self.target - 1) <= ACCURACY:
                return None if value is None else here
            slope = math.log(value_before / value) / math.log(here / before)
            before, value_before = here, value
            factor = (value / self.target) ** (1.0 / _clip(slope, 0.3, 3.0))
            here = _clip(here * factor, self.mu / 4, 4 * self.mu)
            if here == before:
                return None
        return here


def closest_multiplier(point: ChartPoint) -> float:
    """Return the mu >= 0 that comes closest to grad variance = mu grad h."""
    squared = float(point.discrepancy_gradient @ point.discrepancy_gradient)
    along = float(point.variance_gradient @ point.discrepancy_gradient)
    return max(0.0, along / squared) if squared > 0 else 0.0


def _alternate(values: list[float]) -> bool:
    return all(before * after < 0 for before, after in pairwise(values))


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
