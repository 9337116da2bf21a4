"""Multipliers for which second-order models meet the targets."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from fairpca._utils.typing import FloatArray
from fairpca.solvers._metric import Metric
from fairpca.solvers.budget._chart import ChartPoint
from fairpca.solvers.budget._curvature import Model
from fairpca.solvers.budget._lagrangian import Lagrangian

ACCURACY = 2e-3
"""Relative accuracy to which the models of the h_j are brought to the targets."""

MOST_ROUNDS = 8

RIDGE = 1e-9
"""Makes multipliers of measures that depend on each other share equally."""


@dataclass(frozen=True, eq=False)
class DualNewton:
    """Solve for the mu whose Newton step brings the models of the h_j to the targets, or below them with mu_j = 0.

    Attributes
    ----------
    model : Model
        Second-order model around the current point.
    point : ChartPoint
        The current point.
    targets : ndarray of shape (n_measures,)
        The discrepancies aimed at.
    radius : float
        Longest step that is trusted.
    """

    model: Model
    point: ChartPoint
    targets: FloatArray
    radius: float

    def solve(self, multipliers: FloatArray) -> FloatArray | None:
        """Return the multipliers, starting from others; None where the model is of no use."""
        if len(multipliers) == 1:
            chosen = self._by_secants(float(multipliers[0]))
            return None if chosen is None else np.array([chosen])
        return self._by_active_sets(multipliers)

    def _predicted(self, multipliers: FloatArray) -> tuple[FloatArray, Metric] | None:
        """Return the models after the Newton step, and its metric."""
        lagrangian = Lagrangian(multipliers, self.targets, np.zeros_like(multipliers))
        # A shifted Hessian means a shortened step: its model says little about where the minimiser is.
        found = self.model.plain_newton_step(self.point, lagrangian, self.radius)
        if found is None:
            return None
        metric, step = found
        return self.model.predicted_discrepancies(self.point, step), metric

    def _by_active_sets(self, first: FloatArray) -> FloatArray | None:
        """Take Newton steps on the dual: d h_j / d mu_k = -g_j' H^-1 g_k, with mu >= 0.

        h answers to mu like a power, so the steps are those of log h_j against log mu_k.
        """
        here, vanished = first, np.zeros(len(first), dtype=bool)
        for _ in range(MOST_ROUNDS):
            found = self._predicted(here)
            if found is None:
                return None
            predicted, metric = found
            floored = np.maximum(predicted, 1e-3 * self.targets)
            gaps = floored * np.log(floored / self.targets)
            off = np.where(here > 0, np.abs(gaps), np.maximum(gaps, 0.0)) / self.targets
            if off.max() <= ACCURACY:
                return here
            gradients = self.point.discrepancy_gradients
            answers = gradients @ np.stack([metric.solve(gradient) for gradient in gradients], axis=1)
            wanted = _nonnegative_newton(answers, gaps, here)
            # One step says little of a multiplier that is far from 0; two say that it is not needed.
            gone = vanished & (wanted == 0)
            vanished = wanted == 0
            here = np.where(gone, 0.0, self._in_powers(here, wanted, first))
        return here

    def _in_powers(self, here: FloatArray, wanted: FloatArray, first: FloatArray) -> FloatArray:
        """Return mu exp((nu - mu) / mu), where h proportional to a power of mu would meet the target."""
        change = (wanted - here) / np.where(here > 0, here, np.inf)
        moved = here * np.exp(np.clip(change, -1.0, math.log(3.0)))
        woken = np.minimum(wanted, float(first @ self.targets) / (4.0 * self.targets))
        return np.where(here > 0, np.clip(moved, first / 4, np.maximum(4 * first, woken)), woken)

    def _by_secants(self, first: float) -> float | None:
        """Return the mu of a single constraint, by secants of log h against log mu."""
        target = float(self.targets[0])

        def predicted(mu: float) -> float | None:
            found = self._predicted(np.array([mu]))
            return float(found[0][0]) if found is not None and found[0][0] > 0.0 else None

        before, value_before = first, predicted(first)
        if value_before is None or abs(value_before / target - 1) <= ACCURACY:
            return None if value_before is None else before
        here = before * _clip((value_before / target) ** 1.3, 1 / 3, 3.0)
        for _ in range(MOST_ROUNDS):
            value = predicted(here)
            if value is None or abs(value / target - 1) <= ACCURACY:
                return None if value is None else here
            slope = math.log(value_before / value) / math.log(here / before)
            before, value_before = here, value
            factor = (value / target) ** (1.0 / _clip(slope, 0.3, 3.0))
            here = _clip(here * factor, first / 4, 4 * first)
            if here == before:
                return None
        return here


def _nonnegative_newton(answers: FloatArray, gaps: FloatArray, multipliers: FloatArray) -> FloatArray:
    """Return the nu >= 0 with M (nu - mu) >= gap, and equality where nu_j > 0, as nonnegative least squares."""
    scale = np.sqrt(np.maximum(np.diag(answers), 1e-300))
    scaled = answers / np.outer(scale, scale)
    scaled[np.diag_indices_from(scaled)] += RIDGE
    factor = cholesky(scaled)
    wanted = scaled @ (scale * multipliers) + gaps / scale
    return nnls(factor, solve_triangular(factor, wanted, trans="T"))[0] / scale


def _clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
