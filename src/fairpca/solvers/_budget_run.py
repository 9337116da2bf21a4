"""One run of the budget solver: from one start, with one number of live components."""
# SPDX-License-Identifier: MIT

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._chart import Chart, ChartPoint, Lagrangian
from fairpca.solvers._curvature import Model, View
from fairpca.solvers._line_search import Trial, wolfe_search
from fairpca.solvers._multiplier import ACCURACY, MultiplierSearch, closest_multiplier
from fairpca.solvers._two_loop import CurvedPair, quasi_newton_product

TARGET = 0.998
"""Share of the tolerance that is aimed at, so that the last correction cannot end above it."""

USED = 0.99
"""Share of the tolerance that counts as all of it."""

VISIBLE = 1e-5
"""Difference in variance share, a thousandth of a point, that does not matter."""

HOPELESS = 0.95
"""Share of the variance to beat below which the bound on what a run can reach ends it."""

LONG = 20
"""Cycles of a run above which its landscape counts as rugged."""

NEAR = 0.1
"""Distance from the centre of a chart up to which its Hessian serves the next cycle as well."""

NOTICED = 0.05
"""Share of h that a single row must make up to count as standing alone."""

MAX_RELEASES = 3


@dataclass(frozen=True)
class RunSettings:
    """Limits of a run: cycles, quasi-Newton steps in each, and the gain in variance share that counts as none."""

    max_cycles: int
    max_steps: int
    gain_tolerance: float
    deadline: float


@dataclass(frozen=True)
class RunStart:
    """Where a run starts.

    Attributes
    ----------
    frame : ndarray of shape (p, k)
        A frame on the live axes.
    mu : float or None
        First multiplier; None takes the one that fits the gradients there.
    view : View, default=None
        The view from there, where it is known.
    spring : bool, default=False
        Hold h at the target by a spring from the beginning, where no multiplier has its minimiser there.
    """

    frame: FloatArray
    mu: float | None
    view: View | None = None
    spring: bool = False


@dataclass(frozen=True)
class RunOutcome:
    """Where a run ended.

    Attributes
    ----------
    best : Evaluation or None
        The point of most variance that meets the tolerance, if any was met.
    fairest : Evaluation
        The point of least discrepancy.
    stationary : bool
        Whether `best` uses the budget and no further gain is in sight.
    mu : float
        Multiplier at the end.
    view : View or None
        The end, if it is `best`, in a chart whose centre is near it.
    rugged : bool
        Whether the way was long, or rows that stood alone had to be brought back: another start may end higher.
    """

    best: Evaluation | None
    fairest: Evaluation
    stationary: bool
    mu: float
    view: View | None
    rugged: bool


@dataclass(frozen=True)
class Cycle:
    """What a cycle of the run did, for records, callbacks and the next cycle."""

    mu: float
    model: Model
    point: ChartPoint
    expected_gain: float
    n_steps: int
    collected: bool

    @property
    def moved(self) -> float:
        """Distance from the centre of the chart."""
        return float(np.linalg.norm(self.point.b))


class BudgetRun:
    """Maximise variance subject to h <= tau from one start.

    A cycle builds the exact Hessians at the current frame, chooses the multiplier mu, and minimises
    L = -variance + mu h by a few quasi-Newton steps whose initial metric is the factored Hessian of L.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem; `n_components` is the number of live components.
    tolerance : float
        tau.
    settings : RunSettings
        Limits.
    on_cycle : callable
        Called with each `Cycle`.
    """

    def __init__(
        self,
        problem: FairSubspaceProblem,
        tolerance: float,
        settings: RunSettings,
        on_cycle: Callable[[Cycle], None],
    ) -> None:
        self._problem = problem
        self._tolerance = tolerance
        self._settings = settings
        self._on_cycle = on_cycle
        self._radius = math.sqrt(problem.n_components)
        self._best: Evaluation | None = None
        self._fairest: Evaluation | None = None
        self._released = False
        self._n_cycles = 0

    def run(self, start: RunStart, floor: float = -math.inf) -> RunOutcome:
        """Run from a start.

        Parameters
        ----------
        start : RunStart
            First point and multiplier.
        floor : float, default=-inf
            Give up when the run can hardly reach this variance.
        """
        removed = np.zeros((len(start.frame), 0))
        view, fresh = self._first_view(start)
        # A run can end with a multiplier below 0, where it has nothing to teach.
        mu = max(start.mu or 0.0, 0.0) or closest_multiplier(view[1]) or 1.0
        target = TARGET * self._tolerance
        search = MultiplierSearch(mu, target, stiffness=mu / target if start.spring else 0.0)
        while self._n_cycles < self._settings.max_cycles:
            self._n_cycles += 1
            cycle = self._cycle(view, search)
            here = cycle.point.evaluation
            self._on_cycle(cycle)
            if self._finished(cycle):
                return self._outcome(cycle.mu, end=cycle)
            if self._out_of_time() or self._bound(cycle) < HOPELESS * floor:
                break
            if search.stuck:
                before = removed.shape[1]
                frame, removed = self._release(here, removed)
                if removed.shape[1] == before:
                    break
                self._released = True
                here = self._evaluate(frame)
                search.restart(search.mu / 500)
                reusable = False
            else:
                # A second time the old Hessian would repeat the error it has just made.
                reusable = fresh and cycle.collected and cycle.moved <= NEAR
            view = (cycle.model, cycle.point) if reusable else self._view(here)
            fresh = not reusable
        return self._outcome(search.mu)

    def _first_view(self, start: RunStart) -> tuple[View, bool]:
        """Return the view of a start and whether its Hessian is new."""
        if start.view is None:
            return self._view(self._evaluate(start.frame)), True
        self._remember(start.view[1].evaluation)
        return start.view, False

    def _view(self, here: Evaluation) -> View:
        return Model.around(here, self._problem, single_precision=True)

    def _cycle(self, view: View, search: MultiplierSearch) -> Cycle:
        """Take quasi-Newton steps with one multiplier in one chart."""
        model, point = view
        if model.chart.dimension == 0:
            search.record(point.evaluation.worst, minimised=True)
            return Cycle(search.mu, model, point, 0.0, 0, collected=True)
        lagrangian = search.update(model, point, self._radius)
        metric, direction = model.newton_step(point, lagrangian, self._radius)
        gain = first_gain = -float(lagrangian.gradient(point) @ direction)
        pairs: list[CurvedPair] = []
        n_steps = 0
        # Superlinear forcing: the closer to the end, the more of the remaining gain a cycle must collect.
        enough = max(self._settings.gain_tolerance, min(0.01, first_gain) * first_gain)
        while n_steps < self._settings.max_steps:
            after = self._step(model.chart, point, lagrangian, direction)
            if after is None:
                break
            point, pairs = self._learn(pairs, point, after, lagrangian)
            n_steps += 1
            gradient = lagrangian.gradient(point)
            direction = -quasi_newton_product(pairs, gradient, metric.solve)
            gain = -float(gradient @ direction)
            if gain <= enough or self._out_of_time():
                break
        search.record(point.evaluation.worst, minimised=gain <= enough)
        return Cycle(lagrangian.multiplier(point), model, point, gain, n_steps, collected=gain <= enough)

    def _step(
        self, chart: Chart, point: ChartPoint, lagrangian: Lagrangian, direction: FloatArray
    ) -> ChartPoint | None:
        def try_step(t: float) -> Trial[ChartPoint]:
            b = point.b + t * direction
            there = ChartPoint.read(chart, b, self._evaluate(chart.frame(b)))
            slope = float(lagrangian.gradient(there) @ direction)
            return Trial(t, lagrangian.value(there), slope, there)

        slope = float(lagrangian.gradient(point) @ direction)
        trial = wolfe_search(try_step, lagrangian.value(point), slope, 1.0)
        return None if trial is None else trial.at

    @staticmethod
    def _learn(
        pairs: list[CurvedPair], before: ChartPoint, after: ChartPoint, lagrangian: Lagrangian
    ) -> tuple[ChartPoint, list[CurvedPair]]:
        s = after.b - before.b
        y = lagrangian.gradient(after) - lagrangian.gradient(before)
        if s @ y > 1e-12 * (s @ s):
            pairs = [*pairs, (s, y)]
        return after, pairs

    def _finished(self, cycle: Cycle) -> bool:
        if cycle.point.b.size == 0:
            return True  # the subspace of all live axes is the only one
        h = cycle.point.evaluation.worst
        if h <= self._tolerance and cycle.mu * self._tolerance <= self._settings.gain_tolerance:
            return True  # the constraint is not active
        used = USED * self._tolerance <= h <= self._tolerance
        target = TARGET * self._tolerance
        spent = h >= (1 - ACCURACY) * target or cycle.mu * (target - h) <= 2 * VISIBLE
        return used and spent and cycle.expected_gain <= self._settings.gain_tolerance

    def _bound(self, cycle: Cycle) -> float:
        """Return the variance that the run cannot exceed by weak duality, were its neighbourhood convex.

        No point with h <= tau has more variance than the maximum of variance - mu (h - tau), whatever mu >= 0.
        """
        here = cycle.point.evaluation
        return here.variance - cycle.mu * (here.worst - self._tolerance) + cycle.expected_gain

    def _release(self, here: Evaluation, removed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Turn the frame away from rows that stand alone, so that their discrepancy has a gradient again."""
        frame = here.point
        isolated = self._problem.discrepancy.isolated_directions(frame, NOTICED * here.worst)
        n_free = self._problem.rank - frame.shape[1] - 2
        if isolated.shape[1] == 0 or removed.shape[1] >= min(n_free, MAX_RELEASES * frame.shape[1]):
            return frame, removed
        directions, sizes, _ = np.linalg.svd(np.hstack([removed, isolated]), full_matrices=False)
        directions = directions[:, sizes > 0.3 * sizes[0]][:, :n_free]
        turned = frame - directions @ (directions.T @ frame)
        return np.linalg.qr(turned)[0], directions

    def _evaluate(self, frame: FloatArray) -> Evaluation:
        """Evaluate a frame and remember it if it is the best or the fairest so far."""
        evaluation = self._problem.evaluate(frame)
        self._remember(evaluation)
        return evaluation

    def _remember(self, evaluation: Evaluation) -> None:
        if self._fairest is None or evaluation.worst < self._fairest.worst:
            self._fairest = evaluation
        feasible = evaluation.worst <= self._tolerance
        if feasible and (self._best is None or evaluation.variance > self._best.variance):
            self._best = evaluation

    def _out_of_time(self) -> bool:
        return time.perf_counter() > self._settings.deadline

    def _outcome(self, mu: float, end: Cycle | None = None) -> RunOutcome:
        """Return the stationary end, unless a point met on the way is better by more than the unused budget."""
        assert self._fairest is not None
        rugged = self._released or self._n_cycles > LONG
        best = self._best
        if end is not None and best is not None and end.point.evaluation.worst <= self._tolerance:
            reached = end.point.evaluation
            unused = mu * (self._tolerance - reached.worst)
            if best.variance <= reached.variance + 2 * unused + VISIBLE:
                view = (end.model, end.point) if end.moved <= NEAR else None
                return RunOutcome(reached, self._fairest, True, mu, view, rugged)
        return RunOutcome(best, self._fairest, False, mu, None, rugged)
