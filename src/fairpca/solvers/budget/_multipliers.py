"""Choosing the multipliers mu_j of the constraints h_j <= tau_j."""
# SPDX-License-Identifier: MIT

import math
from itertools import pairwise

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._chart import ChartPoint
from fairpca.solvers.budget._closest import closest_at_frame
from fairpca.solvers.budget._curvature import Model
from fairpca.solvers.budget._dual import ACCURACY, DualNewton
from fairpca.solvers.budget._lagrangian import Lagrangian

LARGEST_FACTOR = 4.0
"""Most by which mu changes from one cycle to the next; larger steps leave the path of minimisers, and end lower."""

MOST_STAYS = 1
"""Cycles that multipliers are kept for while their minimiser has not been reached."""

FAR, FIRST_FAR = 2.0, 1.3
"""h / target above which multipliers are kept for another cycle where their minimiser has not been reached; the first
ones, whose effect nothing is known of, sooner."""

CLOSE = 0.7
"""|log(h / target)| below which the quadratic model of h is trusted."""

CLOSE_ENOUGH = 1.1
"""h / target up to which a cycle or two more will do, however slowly h answers."""

TINY = 1e-300


class MultiplierSearch:
    """A search for mu >= 0 such that at the minimiser of -variance + sum_j mu_j h_j each h_j is where it should be.

    That is at its target, or below it with mu_j = 0. Far from the targets each mu_j follows the measured slope of
    log h_j against log mu_j; close to them, mu is such that the quadratic models give the targets after a Newton step.
    Where h leaps across a target, no multipliers have their minimiser there, and the constraints get springs.

    Parameters
    ----------
    multipliers : ndarray of shape (n_measures,)
        The first mu.
    targets : ndarray of shape (n_measures,)
        The discrepancies aimed at.
    spring : bool, default=False
        Whether the constraints have springs from the beginning.
    """

    def __init__(self, multipliers: FloatArray, targets: FloatArray, spring: bool = False) -> None:
        self.multipliers = multipliers
        self.targets = targets
        self.stiffness = multipliers / targets if spring else np.zeros_like(targets)
        self._history: list[tuple[FloatArray, FloatArray]] = []
        self._excess = math.inf
        self._stays, self._most_stays = 0, MOST_STAYS
        self._minimised = True
        self._needs_model = False

    def record(self, discrepancies: FloatArray, weights: FloatArray, minimised: bool) -> None:
        """Note where the current multipliers have led to.

        Parameters
        ----------
        discrepancies : ndarray of shape (n_measures,)
            h there.
        weights : ndarray of shape (n_measures,)
            What the gradients of the h_j weigh there: what guards have come to is the multiplier of who has woken.
        minimised : bool
            Whether it is the minimiser.
        """
        if self._stays > 0:
            self._history.pop()
        self.multipliers = np.where(self.multipliers > 0, self.multipliers, weights)
        logs = np.log(np.maximum(self.multipliers, TINY)), np.log(np.maximum(discrepancies, TINY))
        self._history.append(logs)
        self._minimised = minimised

    def advance(self, here: Evaluation) -> None:
        """Choose the multipliers of the next cycle, as far as that takes no second-order model.

        Parameters
        ----------
        here : Evaluation
            Where the cycle begins.
        """
        self._needs_model = False
        if self._jumps:
            # No multipliers have their minimiser on the targets: from here on the constraints get springs.
            self.stiffness = np.maximum(4.0 * self.stiffness, self.multipliers / self.targets)
            self._history.clear()
        ratios = np.maximum(here.discrepancies, TINY) / self.targets
        far = FIRST_FAR if len(self._history) == 1 else FAR
        unfinished = not self._minimised and self._stays < self._most_stays and float(ratios.max()) > far
        if self.stiffness.any():
            self._stays = 0
            self._tighten_springs(here)
        elif unfinished:
            self._stays += 1
        else:
            self._stays = 0
            self._next(ratios)

    def lagrangian(self, model: Model, point: ChartPoint, radius: float) -> Lagrangian:
        """Return the Lagrangian of the next cycle, after the model has had its say on the multipliers.

        Parameters
        ----------
        model : Model
            Second-order model around the current point.
        point : ChartPoint
            The current point.
        radius : float
            Longest step that is trusted.
        """
        if self._needs_model:
            self._needs_model = False
            chosen = DualNewton(model, point, self.targets, radius).solve(self.multipliers)
            if chosen is not None:
                self.multipliers = chosen
            elif self._history:
                self._follow_slopes(np.maximum(point.evaluation.discrepancies, TINY) / self.targets)
        return Lagrangian(self.multipliers, self.targets, np.where(self.multipliers > 0, self.stiffness, self._guards))

    @property
    def _guards(self) -> FloatArray:
        """Springs that hold only who is above the target: for measures without a multiplier, which may wake."""
        return float(self.multipliers @ self.targets) / self.targets**2

    @property
    def stuck(self) -> bool:
        """Whether the largest h_j / target, above 1, hardly answers to growing multipliers any more."""
        above = [float(np.max(log_h - np.log(self.targets))) for _, log_h in self._history]
        if len(above) >= 6 and min(above[-6:]) > 2 * ACCURACY and above[-6] - above[-1] < 0.01:
            return True
        # Close to the targets mu grows by less from cycle to cycle, and it takes more of them to tell.
        span = 2 if above and above[-1] >= math.log(2) else 4
        if len(above) < span + 2 or above[-1] < math.log(CLOSE_ENOUGH):
            return False
        worst = int(np.argmax(self._history[-1][1] - np.log(self.targets)))
        growth = float(self._history[-1][0][worst] - self._history[-1 - span][0][worst])
        return growth > 2.5 and above[-1 - span] - above[-1] < 0.25 * growth

    def restart(self, multipliers: FloatArray) -> None:
        """Begin again at other multipliers."""
        self.multipliers = multipliers
        self.stiffness, self._excess = np.zeros_like(self.targets), math.inf
        self._stays, self._minimised = 0, True
        self._history.clear()

    def hurry(self) -> None:
        """Change the multipliers in every cycle from here on, whether or not their minimiser has been reached."""
        self._most_stays = 0

    def _tighten_springs(self, here: Evaluation) -> None:
        """Make springs stiffer while h does not approach the targets, and take the multipliers from the gradients."""
        h, mu = here.discrepancies, self.multipliers
        pressed = mu > 0
        # A spring that pulls nobody any more is at rest.
        at_rest = (h < self.targets) & (mu + self.stiffness * (h - self.targets) <= 0) & (len(h) > 1)
        excess = float(np.max(np.where(pressed & ~at_rest, np.abs(h - self.targets), 0.0)))
        excess = max(excess, float(np.max(h - self.targets)))
        if excess > 0.5 * self._excess:
            self.stiffness = 4.0 * self.stiffness
        self._excess = excess
        allowed = None if len(h) == 1 else h >= (1 - CLOSE) * self.targets
        closest = closest_at_frame(here, allowed)
        self.multipliers = np.where(pressed, np.clip(closest, 0.1 * mu, 10.0 * mu), 0.0)
        fresh = pressed & (self.stiffness == 0)
        self.stiffness = np.where(fresh, self.multipliers / self.targets, self.stiffness)

    def _next(self, ratios: FloatArray) -> None:
        """Choose the next multipliers, given h / target at the minimiser of these, or leave it to the model."""
        chosen = self._by_secant()
        if chosen is not None:
            self.multipliers = chosen
        elif self._is_close(ratios):
            self._needs_model = True
        elif self._history:
            self._follow_slopes(ratios)

    def _is_close(self, ratios: FloatArray) -> bool:
        logs = np.log(ratios)
        if len(ratios) == 1:
            return bool(abs(logs[0]) < CLOSE)
        # A measure far below its target is none that the model has to hit: its multiplier may go to 0.
        return bool(logs.max() < CLOSE and np.any(np.abs(logs[self.multipliers > 0]) < CLOSE))

    def _follow_slopes(self, ratios: FloatArray) -> None:
        mu = self.multipliers
        slopes = np.array([self._slope(j) for j in range(len(mu))])
        grown = mu * np.clip(ratios ** (1.0 / slopes), 1 / LARGEST_FACTOR, LARGEST_FACTOR)
        self.multipliers = np.where(mu > 0, grown, 0.0)

    @property
    def _jumps(self) -> bool:
        """Whether an h_j has leapt across its target of late, twice far from it or three times never close to it."""
        return any(
            self._leaps(j, 3, 0.2) >= 2 or self._leaps(j, 6, 0.03) >= 3 or self._leaps(j, 14, 0.03) >= 3
            for j in np.flatnonzero(self.multipliers > 0).tolist()
        )

    def _leaps(self, j: int, count: int, nearest: float) -> int:
        """Return how often the last cycles have led across a target; 0 if one has come nearer than `nearest`."""
        distances = self._distances(j, count)
        if min(map(abs, distances), default=0.0) < nearest:
            return 0
        return sum(before * after < 0 for before, after in pairwise(distances))

    def _distances(self, j: int, count: int) -> list[float]:
        """Return log(h_j / target) of the last cycles."""
        return [float(log_h[j]) - math.log(self.targets[j]) for _, log_h in self._history[-count:]]

    def _slope(self, j: int) -> float:
        """Return -d log h_j / d log mu_j from the last two cycles, kept within what is plausible."""
        if len(self._history) < 2 or self._history[-1][0][j] == self._history[-2][0][j]:
            return 1.0
        (mu_0, h_0), (mu_1, h_1) = self._history[-2:]
        return float(np.clip((h_0[j] - h_1[j]) / (mu_1[j] - mu_0[j]), 0.4, 4.0))

    def _by_secant(self) -> FloatArray | None:
        """Return the mu between the last two where the model has led to and fro across a close target in vain.

        The Hessian of a sample of the rows can be too far off for its model to bring h to the target.
        """
        active = self._active
        if int(active.sum()) != 1:
            return None
        j = int(np.argmax(active))
        distances = self._distances(j, 3)
        if len(distances) < 3 or max(map(abs, distances)) > 0.3 or not _alternate(distances):
            return None
        (mu_0, _), (mu_1, _) = self._history[-2:]
        _, before, after = distances
        if abs(after) < 0.5 * abs(before) or (mu_1[j] - mu_0[j]) * (after - before) >= 0:
            return None
        between = self.multipliers.copy()
        between[j] = math.exp(mu_0[j] + (mu_1[j] - mu_0[j]) * before / (before - after))
        return between

    @property
    def _active(self) -> BoolArray:
        return self.multipliers > 0


def _alternate(values: list[float]) -> bool:
    return all(before * after < 0 for before, after in pairwise(values))
