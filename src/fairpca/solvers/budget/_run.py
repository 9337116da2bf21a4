"""One run of the budget solver: from one start, with one number of live components."""
# SPDX-License-Identifier: MIT

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers._line_search import CurvedPair, Trial, quasi_newton_product, wolfe_search
from fairpca.solvers.budget._chart import Chart, ChartPoint, Lagrangian, closest_multipliers
from fairpca.solvers.budget._model import Model
from fairpca.solvers.budget._moments import model_around
from fairpca.solvers.budget._multipliers import Multipliers

FORCING = 0.01
"""Share of the gain expected at first at which a cycle ends; nearer to the end of a run it must collect more."""

REUSED_WITHIN = 0.1
"""Distance from the centre of a chart up to which its Hessian serves another cycle."""

HOPELESS = 0.95
"""A run ends when its bound on the variance lies below this share of what is known: the bound assumes convexity."""

LONG = 20
"""Cycles after which a run counts as hard: others may end higher."""

ISOLATED = 0.05
"""Share of h that a single row must make up to count as isolated."""


@dataclass(frozen=True)
class RunSettings:
    """Limits of a run: cycles, steps in each, gain in variance share that is none, tolerance left unused, and time."""

    max_cycles: int
    max_steps: int
    gain_tolerance: float
    slack: float
    deadline: float


@dataclass(frozen=True)
class RunStart:
    """First frame of a run, on the live axes, and first multipliers; None takes those that fit the gradients there.

    An augmented Lagrangian keeps a run in the basin of its start.
    """

    frame: FloatArray
    multipliers: FloatArray | None
    augmented: bool = False


@dataclass(frozen=True)
class Cycle:
    """What a cycle did: weights of the h_j in its Lagrangian at the end, model, end, expected gain, steps."""

    multipliers: FloatArray
    model: Model
    point: ChartPoint
    expected_gain: float
    n_steps: int
    is_minimised: bool

    @property
    def length(self) -> float:
        """Distance from the centre of the chart."""
        return float(np.linalg.norm(self.point.b))


@dataclass(frozen=True)
class RunResult:
    """Where a run ended.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    best : Evaluation or None
        The point of most variance that meets the tolerances, if any was met.
    fairest : Evaluation
        The point that came closest to meeting them.
    is_stationary : bool
        Whether `best` uses the tolerances and no further gain is in sight.
    multipliers : ndarray of shape (n_measures,)
        Multipliers at the end.
    is_hard : bool
        Whether the run was long, or had to leave isolated rows.
    view : tuple of Model and ChartPoint, or None
        `best` in the chart of a model whose centre is near it, where that is known.
    """

    problem: FairSubspaceProblem
    best: Evaluation | None
    fairest: Evaluation
    is_stationary: bool
    multipliers: FloatArray
    is_hard: bool
    view: tuple[Model, ChartPoint] | None

    @property
    def n_live(self) -> int:
        """Number of live components."""
        return self.problem.n_components

    @property
    def variance(self) -> float:
        """The variance share of `best`; minus infinity where there is none."""
        return -math.inf if self.best is None else self.best.variance


class Run:
    """Maximise variance subject to h_j <= tau_j from one start.

    A cycle chooses the multipliers mu, builds the exact Hessian at the current frame, and minimises
    L = -variance + sum_j mu_j h_j by a few quasi-Newton steps whose initial metric is the factored Hessian of L.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    tolerances : ndarray of shape (n_measures,)
        tau.
    settings : RunSettings
        Limits.
    on_cycle : callable
        Called with each `Cycle`.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        settings: RunSettings,
        on_cycle: Callable[[Cycle], None],
    ) -> None:
        self._problem = problem
        self._tolerances = tolerances
        # Between the goals and the tolerances there is room for errors of half of the slack.
        self._goals = (1.0 - settings.slack) * tolerances
        self._accuracy = 0.5 * settings.slack
        self._settings = settings
        self._on_cycle = on_cycle
        # No two subspaces are farther apart than pi / 2 in each direction; beyond, quadratic models say little.
        self._radius = math.sqrt(problem.n_components)
        self._best: Evaluation | None = None
        self._fairest: Evaluation | None = None
        self._removed = np.zeros((len(problem.variances), 0))

    def run(self, start: RunStart, known: float = -math.inf) -> RunResult:
        """Run from a start.

        Parameters
        ----------
        start : RunStart
            The start.
        known : float, default=-inf
            Variance share that is known to be reached: the run ends when it can hardly reach as much.
        """
        here = self._evaluate(start.frame)
        multipliers = Multipliers(self._first_multipliers(start, here), self._goals, self._accuracy, start.augmented)
        reused: tuple[Model, ChartPoint] | None = None
        n_cycles = 0
        while n_cycles < self._settings.max_cycles:
            n_cycles += 1
            model, point = reused or model_around(here, self._problem, multipliers.values)
            cycle = self._cycle(model, point, multipliers)
            here = cycle.point.evaluation
            self._on_cycle(cycle)
            if self._has_converged(cycle):
                return self._result(cycle.multipliers, n_cycles, cycle)
            if self._is_out_of_time() or self._bound(cycle) < HOPELESS * known:
                break
            multipliers.update(here, cycle.is_minimised)
            # A second time an old Hessian would repeat the error that it has just made.
            is_reusable = reused is None and cycle.is_minimised and cycle.length <= REUSED_WITHIN
            reused = (model, cycle.point) if is_reusable else None
            if multipliers.is_stuck:
                turned = self._away_from_isolated_rows(here)
                if turned is None:
                    break
                here, reused = turned, None
                multipliers = Multipliers(closest_multipliers(here), self._goals, self._accuracy)
        return self._result(multipliers.values, n_cycles)

    def _first_multipliers(self, start: RunStart, here: Evaluation) -> FloatArray:
        """Return given multipliers, or those closest to stationarity, or small ones where neither says anything."""
        for guess in (start.multipliers, closest_multipliers(here)):
            if guess is not None and guess.max() > 0:
                return guess
        return VISIBLE / self._tolerances

    def _cycle(self, model: Model, point: ChartPoint, multipliers: Multipliers) -> Cycle:
        """Take quasi-Newton steps with the same multipliers in one chart."""
        if model.chart.dimension == 0:
            return Cycle(multipliers.values, model, point, 0.0, 0, is_minimised=True)
        lagrangian, metric = multipliers.lagrangian(model, point, self._radius)
        value, gradient = lagrangian.at(point)
        direction = -metric.solve(gradient)
        gain = first_gain = -float(gradient @ direction)
        enough = max(self._settings.gain_tolerance, min(FORCING, first_gain) * first_gain)
        pairs: list[CurvedPair] = []
        for n_steps in range(1, self._settings.max_steps + 1):
            after = self._step(model.chart, lagrangian, point, value, gradient, direction)
            if after is None:
                n_steps -= 1
                break
            before, slopes = point, gradient
            value, (point, gradient) = after.value, after.at
            pair = CurvedPair.of(point.b - before.b, gradient - slopes)
            if pair.curvature > 1e-12 * float(pair.step @ pair.step):
                pairs.append(pair)
            direction = -quasi_newton_product(pairs, gradient, metric.solve)
            gain = -float(gradient @ direction)
            if gain <= enough or self._is_out_of_time():
                break
        weights = lagrangian.weights(point.evaluation.discrepancies)
        return Cycle(weights, model, point, gain, n_steps, is_minimised=gain <= enough)

    def _step(
        self,
        chart: Chart,
        lagrangian: Lagrangian,
        point: ChartPoint,
        value: float,
        gradient: FloatArray,
        direction: FloatArray,
    ) -> Trial[tuple[ChartPoint, FloatArray]] | None:
        def try_step(t: float) -> Trial[tuple[ChartPoint, FloatArray]]:
            there = chart.at(point.b + t * direction, self._evaluate)
            reached, slopes = lagrangian.at(there)
            return Trial(t, reached, float(slopes @ direction), (there, slopes))

        return wolfe_search(try_step, value, float(gradient @ direction), 1.0)

    def _has_converged(self, cycle: Cycle) -> bool:
        """Tell whether the tolerances are met and used, and no further gain is in sight."""
        if cycle.point.b.size == 0:
            return True  # the subspace of all live axes is the only one
        h, mu, gain = cycle.point.evaluation.discrepancies, cycle.multipliers, self._settings.gain_tolerance
        if not np.all(h <= self._tolerances) or cycle.expected_gain > gain:
            return False
        worth = mu * (self._goals - h)
        return bool(np.all((h >= (1 - self._accuracy) * self._goals) | (worth <= max(gain, VISIBLE / len(h)))))

    def _bound(self, cycle: Cycle) -> float:
        """Return the variance that the run cannot exceed by weak duality, were its neighbourhood convex.

        No point with h <= tau has more variance than the maximum of variance - mu'(h - tau), whatever mu >= 0.
        """
        here = cycle.point.evaluation
        return here.variance - float(cycle.multipliers @ (here.discrepancies - self._tolerances)) + cycle.expected_gain

    def _away_from_isolated_rows(self, here: Evaluation) -> Evaluation | None:
        """Return the frame turned away from rows that stand alone, or None where there are no more of them.

        Such a row adds w_i^2 to h with a vanishing gradient, so that multipliers have no effect on it.
        """
        violated = here.discrepancies > self._goals
        smallest = np.where(violated, ISOLATED * here.discrepancies, np.inf)
        isolated = self._problem.discrepancy.isolated_directions(here.point, smallest)
        n_live, n_removed = here.point.shape[1], self._removed.shape[1]
        n_free = self._problem.rank - n_live - 2
        if isolated.shape[1] == 0 or n_removed >= min(n_free, 3 * n_live):
            return None
        directions, sizes, _ = np.linalg.svd(np.hstack([self._removed, isolated]), full_matrices=False)
        self._removed = directions[:, sizes > 0.3 * sizes[0]][:, :n_free]
        if self._removed.shape[1] <= n_removed:
            return None
        turned = here.point - self._removed @ (self._removed.T @ here.point)
        return self._evaluate(np.linalg.qr(turned)[0])

    def _evaluate(self, frame: FloatArray) -> Evaluation:
        """Evaluate a frame and remember it if it is the best or the fairest so far."""
        evaluation = self._problem.evaluate(frame)
        tau = self._tolerances
        if self._fairest is None or evaluation.largest_ratio(tau) < self._fairest.largest_ratio(tau):
            self._fairest = evaluation
        if evaluation.meets(tau) and (self._best is None or evaluation.variance > self._best.variance):
            self._best = evaluation
        return evaluation

    def _is_out_of_time(self) -> bool:
        return time.perf_counter() > self._settings.deadline

    def _result(self, multipliers: FloatArray, n_cycles: int, end: Cycle | None = None) -> RunResult:
        """Return the stationary end, unless a point on the way keeps visibly more."""
        assert self._fairest is not None
        best, view = self._best, None
        is_hard = n_cycles >= LONG or self._removed.shape[1] > 0
        is_stationary = False
        if end is not None and best is not None:
            here = end.point.evaluation
            unused = float(end.multipliers @ np.maximum(self._tolerances - here.discrepancies, 0.0))
            is_stationary = best.variance <= here.variance + unused + 2 * VISIBLE
            if is_stationary:
                best = here
                view = (end.model, end.point) if end.length <= REUSED_WITHIN else None
        return RunResult(self._problem, best, self._fairest, is_stationary, multipliers, is_hard, view)
