"""Choosing the multipliers mu_j of the constraints h_j <= tau_j."""
# SPDX-License-Identifier: MIT

import math

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._chart import ChartPoint, Lagrangian, closest_multipliers
from fairpca.solvers.budget._model import Metric, Model

NEAR = 2.0
"""h / goal below which quadratic models of h are trusted to choose mu."""

LARGEST_FACTOR = 4.0
"""Most by which mu or a penalty changes from one cycle to the next: larger steps leave the path of minimisers."""

MOST_ROUNDS = 8
"""Newton steps on the dual, each of which factors a Hessian; they converge in two to four where they do at all."""

CROSSED = 0.03
"""|log(h / goal)| above which a change of sign counts as a leap across the goal."""


class Multipliers:
    """The search for mu >= 0 whose Lagrangian is least where each h_j is at its goal, or below it with mu_j = 0.

    Far from the goals mu_j grows or falls like h_j / goal_j. Near them mu is such that the quadratic models meet the
    goals after a Newton step. Where h keeps leaping across a goal, no multipliers have their minimiser there: from then
    on the Lagrangian is augmented.

    Parameters
    ----------
    first : ndarray of shape (n_measures,)
        The first mu.
    goals : ndarray of shape (n_measures,)
        The discrepancies aimed at.
    accuracy : float
        Relative accuracy to which they are to be met.
    augmented : bool, default=False
        Whether the Lagrangian is augmented from the beginning.
    """

    def __init__(self, first: FloatArray, goals: FloatArray, accuracy: float, augmented: bool = False) -> None:
        self.values = first
        self._goals = goals
        self._accuracy = accuracy
        self._strength = 1.0 if augmented else 0.0
        self._violation = math.inf
        self._kept = False
        self._history: list[tuple[FloatArray, FloatArray]] = []

    def update(self, here: Evaluation, minimised: bool) -> None:
        """Choose mu after a cycle, as far as that takes no second-order model.

        Parameters
        ----------
        here : Evaluation
            Where the cycle has ended.
        minimised : bool
            Whether that is the minimiser of its Lagrangian.
        """
        # What the penalty of a constraint without multiplier has come to is its multiplier from here on.
        weights = self._lagrangian.weights(here.discrepancies)
        self.values = np.where(self.values > 0, self.values, weights)
        ratios = np.maximum(here.discrepancies, 1e-300) / self._goals
        if self._kept:
            self._history.pop()
        self._history.append((np.log(np.maximum(self.values, 1e-300)), np.log(ratios)))
        if self._strength == 0.0 and self._oscillates:
            self._strength = 0.25
        if self._strength > 0.0:
            self._tighten(here)
        elif ratios.max() >= NEAR:
            # Until its minimiser has been reached mu is kept for a second cycle, not for a third.
            self._kept = not minimised and not self._kept
            if not self._kept:
                self._follow(ratios)
        else:
            self._kept = False

    def lagrangian(self, model: Model, point: ChartPoint, radius: float) -> tuple[Lagrangian, Metric]:
        """Return what the next cycle minimises, after the model has had its say on mu, and the metric for that.

        Parameters
        ----------
        model : Model
            Second-order model around the current point.
        point : ChartPoint
            The current point.
        radius : float
            Longest step that is trusted.
        """
        ratios = np.maximum(point.evaluation.discrepancies, 1e-300) / self._goals
        if self._strength == 0.0 and ratios.max() < NEAR:
            chosen = self._by_dual_newton(model, point, radius)
            if chosen is not None:
                self.values, metric = chosen
                return self._lagrangian, metric
            if self._history:
                self._follow(ratios)
        found = model.newton_step(point, self._lagrangian, radius)
        assert found is not None
        return self._lagrangian, found[0]

    @property
    def _lagrangian(self) -> Lagrangian:
        """The Lagrangian of the current mu; constraints without multiplier, which may become active, have penalties."""
        scale = float(self.values @ self._goals) / self._goals**2
        return Lagrangian(self.values, self._goals, np.where(self.values > 0, self._strength, 1.0) * scale)

    @property
    def is_stuck(self) -> bool:
        """Whether the largest h_j / goal_j, well above 1, hardly answers to growing multipliers any more."""
        largest = [float(logs.max()) for _, logs in self._history[-6:]]
        # Near a goal h may hover while mu finds its value: there it is stuck only if mu has grown in vain.
        near = CROSSED if self._growth(5) <= 2.5 else 2 * self._accuracy
        if len(largest) == 6 and min(largest) > near and largest[0] - largest[-1] < 0.01:
            return True
        span = 2 if largest and largest[-1] > math.log(NEAR) else 4
        if len(largest) < span + 2 or largest[-1] < 0.1:
            return False
        growth = self._growth(span)
        return growth > 2.5 and largest[-1 - span] - largest[-1] < 0.25 * growth

    def _growth(self, span: int) -> float:
        """Return by how much log mu of the worst measure has grown in so many cycles."""
        if len(self._history) <= span:
            return 0.0
        worst = int(self._history[-1][1].argmax())
        return float(self._history[-1][0][worst] - self._history[-1 - span][0][worst])

    @property
    def _oscillates(self) -> bool:
        """Whether the last four cycles have led across a goal twice without coming close to it."""
        recent = np.stack([logs for _, logs in self._history[-4:]])
        crossings = np.sum(recent[1:] * recent[:-1] < 0, axis=0)
        return bool(np.any((crossings >= 2) & (np.abs(recent).min(axis=0) > CROSSED) & (self.values > 0)))

    def _follow(self, ratios: FloatArray) -> None:
        """Let mu follow h / goal."""
        self.values = self.values * np.clip(ratios, 1 / LARGEST_FACTOR, LARGEST_FACTOR)

    def _tighten(self, here: Evaluation) -> None:
        """Take mu from the gradients, and raise the penalties while the violation does not halve."""
        h, mu = here.discrepancies, self.values
        inactive = (h < self._goals) & (self._lagrangian.weights(h) == 0.0)
        violation = float(np.where(inactive, 0.0, np.abs(h - self._goals) / self._goals).max())
        if violation > 0.5 * self._violation or self._strength < 1.0:
            self._strength *= LARGEST_FACTOR
        self._violation = violation
        closest = closest_multipliers(here, h >= self._goals / NEAR)
        self.values = np.where(mu > 0, np.clip(closest, 0.1 * mu, 10.0 * mu), 0.0)

    def _by_dual_newton(self, model: Model, point: ChartPoint, radius: float) -> tuple[FloatArray, Metric] | None:
        """Return the mu whose Newton step brings the models of the h_j to the goals, or below them with mu_j = 0.

        Newton's method on the dual, d h_j / d mu_k = -g_j' H^-1 g_k. h answers to mu like a power, so the steps are
        those of log h_j against log mu_k. None where the Hessian takes a shift: its model says little then.
        """
        first = mu = self.values
        vanished = np.zeros(len(mu), dtype=bool)
        gradients = point.discrepancy_gradients
        for _ in range(MOST_ROUNDS):
            found = model.newton_step(point, Lagrangian.plain(mu, self._goals), radius, may_shift=False)
            if found is None:
                return None
            metric, step = found
            predicted = np.maximum(model.predicted_discrepancies(point, step), 1e-3 * self._goals)
            gaps = predicted * np.log(predicted / self._goals)
            if np.max(np.where(mu > 0, np.abs(gaps), gaps) / self._goals) <= self._accuracy:
                break
            solved = [metric.solve(gradient) for gradient in gradients]
            # G'H^-1 G as a Gram matrix, which is semidefinite also where H^-1 g is known about.
            answers = np.stack(solved) @ np.stack([metric.product(each) for each in solved], axis=1)
            wanted = _nonnegative_newton(answers, gaps, mu)
            # mu exp((nu - mu) / mu): where h is a power of mu, that meets the goal.
            change = (wanted - mu) / np.where(mu > 0, mu, np.inf)
            moved = mu * np.exp(np.clip(change, -1.0, 1.0))
            active = np.minimum(wanted, float(first @ self._goals) / (LARGEST_FACTOR * self._goals))
            most = np.maximum(LARGEST_FACTOR * first, active)
            # One step says little of a multiplier that is far from 0; two say that it is not needed.
            gone, vanished = vanished & (wanted == 0), wanted == 0
            mu = np.where(mu > 0, np.clip(moved, first / LARGEST_FACTOR, most), active)
            mu = np.where(gone, 0.0, mu)
        return mu, metric


def _nonnegative_newton(answers: FloatArray, gaps: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return the nu >= 0 with M (nu - mu) >= gap, and equality where nu_j > 0, as nonnegative least squares."""
    scale = np.sqrt(np.maximum(np.diag(answers), 1e-300))
    scaled = answers / np.outer(scale, scale)
    # A ridge lets multipliers of measures that depend on each other share equally.
    scaled[np.diag_indices_from(scaled)] += 1e-9
    factor = cholesky(scaled)
    wanted = scaled @ (scale * multipliers) + gaps / scale
    return nnls(factor, solve_triangular(factor, wanted, trans="T"))[0] / scale
