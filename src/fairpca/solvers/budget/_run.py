"""One run of the budget solver: from one start, with one number of live components."""
# SPDX-License-Identifier: MIT

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import TARGET, USED, VISIBLE
from fairpca.solvers._line_search import Trial, wolfe_search
from fairpca.solvers._two_loop import CurvedPair
from fairpca.solvers.budget._chart import Chart
from fairpca.solvers.budget._closest import closest_at_frame
from fairpca.solvers.budget._curvature import Model, View
from fairpca.solvers.budget._cycle import Cycle
from fairpca.solvers.budget._dual import ACCURACY
from fairpca.solvers.budget._lagrangian import Lagrangian, Sight
from fairpca.solvers.budget._last_steps import LastSteps
from fairpca.solvers.budget._multipliers import MultiplierSearch
from fairpca.solvers.budget._run_terms import CAREFUL, RunOutcome, RunSettings, RunStart

LONG = 20
"""Cycles of a run from which on its landscape counts as rugged."""

NOTICED = 0.05
"""Share of h that a single row must make up to count as standing alone."""

MAX_RELEASES = 3

FIRST_SHIFT_LEVEL = 6
"""Which shift the first Hessian of a run takes on most tables: at a start the Lagrangian has a saddle."""


class BudgetRun:
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
        self._settings = settings
        self._on_cycle = on_cycle
        self._radius = math.sqrt(problem.n_components)
        self._best: Evaluation | None = None
        self._fairest: Evaluation | None = None
        self._least_strain = math.inf
        self._removed = np.zeros((len(problem.variances), 0))
        self._given_up = self._is_lost = False
        self._n_cycles, self._shift_level = 0, FIRST_SHIFT_LEVEL
        self._search: MultiplierSearch
        self._ahead: View | Evaluation

    def run(self, start: RunStart, floor: float = -math.inf) -> RunOutcome:
        """Run from a start.

        Parameters
        ----------
        start : RunStart
            First point and multiplier.
        floor : float, default=-inf
            Give up when the run can hardly reach this variance.
        """
        here = self._evaluate(start.frame) if start.view is None else self._seen_before(start.view)
        self._search = MultiplierSearch(self._first_multipliers(start, here), TARGET * self._tolerances, start.spring)
        self._search.advance(here)
        self._ahead = here if start.view is None else start.view
        return self.go_on(floor)

    def go_on(self, floor: float = -math.inf) -> RunOutcome:
        """Go on from the start, or from where the run was left off.

        Parameters
        ----------
        floor : float, default=-inf
            Give up when the run can hardly reach this variance.
        """
        search = self._search
        while self._n_cycles < self._settings.max_cycles:
            fresh = isinstance(self._ahead, Evaluation)
            view = self._view(self._ahead, search) if isinstance(self._ahead, Evaluation) else self._ahead
            self._n_cycles += 1
            cycle = self._cycle(view, search)
            here = cycle.point.evaluation
            self._on_cycle(cycle)
            if self._finished(cycle):
                # An approximation is off by more than what is left.
                if self._problem.discrepancy.is_exact and cycle.point.b.size:
                    cycle = LastSteps(self._tolerances, self._evaluate).after(cycle)
                return self._outcome(cycle.multipliers, end=cycle)
            if self._out_of_time() or self._bound(cycle) < self._settings.care.hopeless * floor:
                break
            # A second time the old Hessian would repeat the error it has just made.
            reusable = fresh and cycle.collected and cycle.moved <= self._settings.care.near
            elsewhere = self._elsewhere(cycle, search)
            if self._given_up:
                break
            if elsewhere is not None:
                here, reusable = elsewhere, False
            search.advance(here)
            self._ahead = (cycle.model, cycle.point) if reusable else here
            if self._settings.is_first_look and self._n_cycles == LONG:
                if self._best is not None:
                    return replace(self._outcome(cycle.multipliers), left_off=self)
                self._is_lost = True
                break
        return self._outcome(search.multipliers)

    def _seen_before(self, view: View) -> Evaluation:
        evaluation = view[1].evaluation
        self._remember(evaluation)
        return evaluation

    def _first_multipliers(self, start: RunStart, here: Evaluation) -> FloatArray:
        # A run can end without multipliers, where it has nothing to teach.
        if start.multipliers is not None and start.multipliers.max() > 0:
            return start.multipliers
        closest = closest_at_frame(here)
        return closest if closest.max() > 0 else np.ones(len(self._tolerances)) / len(self._tolerances)

    def _view(self, here: Evaluation, search: MultiplierSearch) -> View:
        return Model.around(here, self._problem, search.multipliers, single_precision=True)

    def _cycle(self, view: View, search: MultiplierSearch) -> Cycle:
        """Take quasi-Newton steps with the same multipliers in one chart."""
        model, point = view
        if model.chart.dimension == 0:
            search.record(point.evaluation.discrepancies, search.multipliers, minimised=True)
            return Cycle(search.multipliers, model, point, 0.0, 0, collected=True)
        lagrangian = search.lagrangian(model, point, self._radius)
        metric, direction = model.newton_step(point, lagrangian, self._radius, self._shift_level)
        self._shift_level = metric.level
        here = lagrangian.seen_from(point)
        gain = first_gain = -float(here.gradient @ direction)
        pairs: list[CurvedPair] = []
        n_steps = 0
        # Superlinear forcing: the closer to the end, the more of the remaining gain a cycle must collect.
        enough = max(self._settings.gain_tolerance, min(self._settings.care.forcing, first_gain) * first_gain)
        while n_steps < self._settings.max_steps:
            after = self._step(model.chart, here, lagrangian, direction)
            if after is None:
                break
            here, pairs = after, self._learn(pairs, here, after)
            n_steps += 1
            direction = -metric.quasi_newton_product(pairs, here.gradient)
            gain = -float(here.gradient @ direction)
            if gain <= enough or self._out_of_time():
                break
        point = here.point
        weights = lagrangian.weights(point)
        search.record(point.evaluation.discrepancies, weights, minimised=gain <= enough)
        return Cycle(weights, model, point, gain, n_steps, collected=gain <= enough)

    def _step(self, chart: Chart, here: Sight, lagrangian: Lagrangian, direction: FloatArray) -> Sight | None:
        def try_step(t: float) -> Trial[Sight]:
            place = chart.at(here.point.b + t * direction)
            there = lagrangian.seen_from(place.read(self._evaluate(place.frame)))
            return Trial(t, there.value, float(there.gradient @ direction), there)

        trial = wolfe_search(try_step, here.value, float(here.gradient @ direction), 1.0)
        return None if trial is None else trial.at

    @staticmethod
    def _learn(pairs: list[CurvedPair], before: Sight, after: Sight) -> list[CurvedPair]:
        s = after.point.b - before.point.b
        pair = CurvedPair.of(s, after.gradient - before.gradient)
        return [*pairs, pair] if pair.curvature > 1e-12 * float(s @ s) else pairs

    def _finished(self, cycle: Cycle) -> bool:
        if cycle.point.b.size == 0:
            return True  # the subspace of all live axes is the only one
        h, mu, tau = cycle.point.evaluation.discrepancies, cycle.multipliers, self._tolerances
        if not np.all(h <= tau) or cycle.expected_gain > self._settings.gain_tolerance:
            return False
        idle = mu * tau <= self._settings.gain_tolerance  # not active: more tolerance would buy nothing
        target = TARGET * tau
        spent = (h >= (1 - ACCURACY) * target) | (mu * (target - h) <= 2 * VISIBLE / len(tau))
        return bool(np.all(idle | ((h >= USED * tau) & spent)))

    def _bound(self, cycle: Cycle) -> float:
        """Return the variance that the run cannot exceed by weak duality, were its neighbourhood convex.

        No point with h <= tau has more variance than the maximum of variance - mu'(h - tau), whatever mu >= 0.
        """
        here = cycle.point.evaluation
        return here.variance - float(cycle.multipliers @ (here.discrepancies - self._tolerances)) + cycle.expected_gain

    def _elsewhere(self, cycle: Cycle, search: MultiplierSearch) -> Evaluation | None:
        """Return another frame from which to go on, or None; the run is given up where there should be one and is not.

        When multipliers stop having an effect, the frame is turned away from rows that stand alone, so that their
        discrepancy has a gradient again.
        """
        if not search.stuck:
            return None
        here = cycle.point.evaluation
        frame, removed = here.point, self._isolated(here)
        stand_alone = removed.shape[1] > self._removed.shape[1]
        self._is_lost = stand_alone and self._settings.is_first_look
        self._given_up = self._is_lost or not stand_alone
        if self._given_up:
            return None
        self._removed = removed
        search.restart(search.multipliers / 500)
        return self._evaluate(np.linalg.qr(frame - removed @ (removed.T @ frame))[0])

    def _isolated(self, here: Evaluation) -> FloatArray:
        """Return the directions turned away from, with those of rows that stand alone now, as far as more may be."""
        violated = here.discrepancies > TARGET * self._tolerances
        smallest = np.where(violated, NOTICED * here.discrepancies, np.inf)
        isolated = self._problem.discrepancy.isolated_directions(here.point, smallest)
        n_live = here.point.shape[1]
        n_free = self._problem.rank - n_live - 2
        if isolated.shape[1] == 0 or self._removed.shape[1] >= min(n_free, MAX_RELEASES * n_live):
            return self._removed
        directions, sizes, _ = np.linalg.svd(np.hstack([self._removed, isolated]), full_matrices=False)
        return directions[:, sizes > 0.3 * sizes[0]][:, :n_free]

    def _evaluate(self, frame: FloatArray) -> Evaluation:
        """Evaluate a frame and remember it if it is the best or the fairest so far."""
        evaluation = self._problem.evaluate(frame)
        self._remember(evaluation)
        return evaluation

    def _remember(self, evaluation: Evaluation) -> None:
        tau, strain = self._tolerances, evaluation.strain(self._tolerances)
        if self._fairest is None or strain < self._least_strain:
            self._fairest, self._least_strain = evaluation, strain
        is_better = self._best is None or evaluation.variance > self._best.variance
        if strain <= 1.0 and is_better and evaluation.meets(tau):
            self._best = evaluation

    def _out_of_time(self) -> bool:
        return time.perf_counter() > self._settings.deadline

    def _outcome(self, multipliers: FloatArray, end: Cycle | None = None) -> RunOutcome:
        """Return the stationary end, unless a point met on the way is better by more than the unused budget."""
        assert self._fairest is not None
        best, rugged = self._best, self._removed.shape[1] > 0 or self._n_cycles >= LONG
        if end is not None and best is not None and end.point.evaluation.meets(self._tolerances):
            reached = end.point.evaluation
            unused = float(multipliers @ (self._tolerances - reached.discrepancies))
            if best.variance <= reached.variance + 2 * unused + VISIBLE:
                view = (end.model, end.point) if end.moved <= CAREFUL.near else None
                return RunOutcome(reached, self._fairest, True, multipliers, view, rugged)
        return RunOutcome(best, self._fairest, False, multipliers, None, rugged, self._is_lost)
