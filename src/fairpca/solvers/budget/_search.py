"""The search of the budget solver over starts and numbers of live components."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import TARGET, VISIBLE
from fairpca.solvers._result import Callback, FitResult, Solution, Status
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._candidate import SETTLED, Candidate
from fairpca.solvers.budget._certify import certify
from fairpca.solvers.budget._curvature import Model
from fairpca.solvers.budget._effort import ONE_MEASURE, SEVERAL_MEASURES, affordable_starts
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._ladder import Ladder
from fairpca.solvers.budget._run import BudgetRun, RunOutcome, RunSettings, RunStart
from fairpca.solvers.budget._starts import Starts
from fairpca.solvers.budget._tilt import Tilt
from fairpca.solvers.budget._warm import BudgetWarmStart

OUT_OF_REACH = 2.0
"""Multiple of the tolerance: where a run ends above it, fewer live components promise more than other starts."""

WORTH_A_RUN = 0.95
"""An answer that keeps less than this share of what plain PCA keeps with one component less is compared with fewer."""


SECOND_LOOKS = 2
"""Random starts beside plain PCA where rows are more, for one component and on manifolds of few dimensions."""

ENOUGH_FAR, FAR = 3, 1.5
"""Random starts after which others are given up, where the fairest point is above so many times the tolerance."""

NEARLY = 1.5
"""h / tau up to which a tolerance that was not met is likely to be met by one component less."""

RUNGS = (100.0, 10.0)
"""Multiples of the tolerances by way of which strict ones are reached."""

BOUNCE = 10.0
"""Multiple of the tolerances by way of which random starts go, and from which the way back may end higher."""

RANDOM_CYCLES = 25
"""Hessians that a random start may cost; a good one needs fewer."""


@dataclass(frozen=True)
class SearchSettings:
    """The parameters of `fairpca.solvers.Budget`."""

    n_starts: int | None
    allow_null: bool
    max_cycles: int
    max_steps: int
    gain_tolerance: float
    max_seconds: float | None


class BudgetSearch:
    """Search over starts and numbers of live components."""

    def __init__(
        self,
        settings: SearchSettings,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> None:
        self._settings = settings
        self._problem = problem
        self._tolerances = tolerances
        self._starts = Starts(problem, tolerances, generator)
        self._journal = Journal(problem.counts, settings.max_seconds, callback)
        self._run_settings = RunSettings(
            settings.max_cycles, settings.max_steps, settings.gain_tolerance, self._journal.deadline
        )
        self._effort = ONE_MEASURE
        self._candidates: dict[int, Candidate] = {}

    def solve(self, init: str | FloatArray | WarmStart) -> Solution:
        most, least = self._live_range()
        if isinstance(init, BudgetWarmStart):
            first_live = min(most, max(least, init.n_live))
            self._pca = init.pca
        else:
            first_live = most
            pca = self._problem.evaluate(self._problem.pca())
            if pca.meets(self._tolerances):
                return self._pca_is_fair(pca, most)
            self._pca = pca.discrepancies
            self._starts.know_pca(pca.discrepancies)
        if isinstance(init, BudgetWarmStart) and init.settled:
            self._try(first_live, self._starts.first(init, first_live), 0)
            self._polish()
            return self._conclude()
        start, n_extra = self._starts.first(init, first_live), (self._settings.n_starts or 1) - 1
        first = self._try(first_live, start, n_extra)
        if self._starts.has_few_rows and self._settings.n_starts is None:
            self._scan(most, least, first)
        elif not self._is_settled(first):
            self._search_harder(most, least, first)
        elif (first.n_live == 1 or self._has_few_coordinates(first)) and self._settings.n_starts is None:
            self._run_starts(first.n_live, [self._starts.pca(first.n_live)], SECOND_LOOKS, first)
        if self._best().variance == -math.inf and self._settings.allow_null:
            self._shrink()
        self._polish()
        return self._conclude(advise=True)

    def _has_few_coordinates(self, candidate: Candidate) -> bool:
        coordinates = (self._problem.rank - candidate.n_live) * candidate.n_live
        return 0 < coordinates <= self._effort.few_coordinates

    def _fewer_may_keep_more(self, first: Candidate) -> bool:
        """Tell whether one component less could keep so much more that it is worth a run."""
        return first.variance < WORTH_A_RUN * float(self._problem.shares[: first.n_live - 1].sum())

    def _scan(self, most: int, least: int, first: Candidate) -> None:
        """Try every number of live components that may keep more, each as a fit that asks for no more would try it.

        So a fit with more components keeps what one with fewer keeps.
        """
        self._search_elsewhere(self._with_more_starts(first), most > least)
        for n_live in range(most, least - 1, -1):
            if self._journal.out_of_time or float(self._problem.shares[:n_live].sum()) <= self._best().variance:
                break
            if n_live not in self._candidates:
                start = self._starts.mean_matched(n_live)
                tried = self._with_more_starts(self._try(n_live, start, 0))
                self._search_elsewhere(tried, fewer_are_left=True)

    def _with_more_starts(self, first: Candidate) -> Candidate:
        """Return the best of several starts, however smooth the way of the first was, where they cost nothing."""
        self._effort = SEVERAL_MEASURES if np.count_nonzero(first.outcome.multipliers) > 1 else ONE_MEASURE
        if not self._has_few_coordinates(first):
            return first
        return self._run_starts(first.n_live, [], self._effort.n_starts, first)

    def _search_elsewhere(self, first: Candidate, fewer_are_left: bool) -> Candidate:
        """Try other starts, if they are cheap, unless fewer live components promise more."""
        if self._is_settled(first) or self._settings.n_starts is not None:
            return first
        if fewer_are_left and first.strain(self._tolerances) > OUT_OF_REACH:
            return first
        return self._run_starts(first.n_live, [], self._cheap_starts(first.n_live), first)

    def _is_settled(self, candidate: Candidate) -> bool:
        """Tell whether neither other starts nor fewer live components promise more."""
        return candidate.is_smooth and not self._fewer_may_keep_more(candidate)

    def _live_range(self) -> tuple[int, int]:
        """Return the largest and the smallest number of live components to consider."""
        d, rank = self._problem.n_components, self._problem.rank
        n_null = len(self._problem.variances) - rank
        most = min(d, rank)
        return most, max(1, d - n_null) if self._settings.allow_null else most

    def _search_harder(self, most: int, least: int, first: Candidate) -> None:
        """Climb along the number of live components from a good guess, with more starts where they are cheap."""
        first = self._search_elsewhere(first, most > least)
        if most == least:
            self._try_other_basins()
            return
        here = most
        if first.variance == -math.inf:
            # One less will do where little is missing.
            nearly = first.strain(self._tolerances) <= NEARLY
            here = max(least, most - 1 if nearly else (most + 1) // 2)
        if here not in self._candidates:
            self._improves_with(here)
        if self._best().variance == -math.inf:
            self._find_feasible(least, min(self._candidates))
        self._climb(most, least)
        if self._best().n_live == most:
            # Fewer live components do not help: it is the way that ended low.
            self._try_other_basins()

    def _climb(self, most: int, least: int, thorough: bool = True) -> None:
        """Try more and fewer live components than the best so far while that keeps more variance."""
        for direction in (1, -1):
            k = self._best().n_live + direction
            while least <= k <= most and not self._journal.out_of_time:
                if k in self._candidates or not self._improves_with(k, thorough):
                    break
                k += direction

    def _find_feasible(self, least: int, infeasible: int) -> None:
        """Try fewer live components by bisection: the fewer there are, the easier the tolerance is met."""
        below = least - 1
        while infeasible - below > 1 and not self._journal.out_of_time:
            middle = (below + infeasible) // 2
            if self._improves_with(middle):
                below = middle
            else:
                infeasible = middle

    def _improves_with(self, n_live: int, thorough: bool = True) -> bool:
        """Try a number of live components, thoroughly from several starts, and tell whether it is the best so far."""
        before = self._best().variance
        starts = [self._starts.mean_matched(n_live)]
        n_extra = self._cheap_starts(n_live) if thorough else 0
        return self._run_starts(n_live, starts, n_extra, None).variance > before

    def _polish(self) -> None:
        """Go on from a best point that is not stationary with a spring, so that it is not left for another basin."""
        best = self._best()
        if best.outcome.best is None or best.outcome.stationary or self._journal.out_of_time:
            return
        start = RunStart(best.outcome.best.point, None, spring=True)
        outcome = BudgetRun(best.problem, self._tolerances, self._run_settings, self._journal.note).run(start)
        polished = replace(best, outcome=outcome)
        gained = polished.variance > best.variance + VISIBLE
        if gained or (outcome.stationary and polished.variance >= best.variance - VISIBLE):
            self._candidates[best.n_live] = polished

    def _shrink(self) -> None:
        """Tilt the fairest frame towards unused null axes, as far as it takes, and go on from there.

        A column s v + sqrt(1 - s^2) n with n null projects to s times what v projects to, which is less unfair at the
        same bandwidth. Whoever scales it up again sees what v shows, so s is not made small.
        """
        fairest = self._fairest()
        n_null = len(self._problem.variances) - self._problem.rank
        n_free = n_null - (self._problem.n_components - fairest.n_live)
        violated = fairest.outcome.fairest.discrepancies > self._tolerances
        unfair = np.where(violated, 1.0 / self._tolerances, 0.0)
        tilted = Tilt.of(fairest.outcome.fairest, unfair, self._problem.rank, n_free)
        targets = TARGET * self._tolerances
        frame = tilted.until(lambda V: bool(np.all(fairest.problem.discrepancies(V) <= targets)))
        if frame is None:
            return
        problem = replace(fairest.problem, rank=self._problem.rank + n_free)
        start = RunStart(frame, None, spring=True)
        outcome = BudgetRun(problem, self._tolerances, self._run_settings, self._journal.note).run(start)
        self._candidates[fairest.n_live] = Candidate(fairest.n_live, outcome, problem)

    def _fairest(self) -> Candidate:
        return min(self._candidates.values(), key=lambda candidate: candidate.strain(self._tolerances))

    def _best(self) -> Candidate:
        return max(self._candidates.values(), key=lambda candidate: candidate.worth(self._tolerances))

    def _try_other_basins(self) -> None:
        """Start from plain PCA and by way of looser tolerances, and bounce, where the way to the best was rugged."""
        best = self._best()
        if not best.outcome.rugged or self._settings.n_starts is not None:
            return
        n_live = best.n_live
        best = self._run_starts(n_live, [self._starts.pca(n_live)], 0, best)
        ladder = Ladder(best.problem, self._tolerances, self._run_settings, self._journal.note)
        multiples = [multiple for multiple in RUNGS if np.any(self._pca > multiple * self._tolerances)]
        again = replace(best, outcome=ladder.descend(self._starts.mean_matched(n_live), multiples))
        if again.is_better(best, self._tolerances):
            self._candidates[n_live] = again
        self._bounce()

    def _bounce(self) -> None:
        """Go from the best answer to looser tolerances and back while that ends higher."""
        while not self._journal.out_of_time:
            best = self._best()
            if best.outcome.best is None:
                return
            ladder = Ladder(best.problem, self._tolerances, self._run_settings, self._journal.note)
            again = replace(best, outcome=ladder.bounce(best.outcome, BOUNCE))
            if again.variance <= best.variance + SETTLED or not again.is_better(best, self._tolerances):
                return
            self._candidates[best.n_live] = again

    def _cheap_starts(self, n_live: int) -> int:
        """Return how many random starts are tried where that is hard."""
        if self._settings.n_starts is not None:
            return self._settings.n_starts - 1
        return affordable_starts((self._problem.rank - n_live) * n_live)

    def _try(self, n_live: int, start: RunStart, n_extra: int) -> Candidate:
        return self._run_starts(n_live, [start], n_extra, None)

    def _run_starts(self, n_live: int, starts: list[RunStart], n_extra: int, best: Candidate | None) -> Candidate:
        """Return the best of what is known and what given and random starts lead to.

        A start that cannot reach the variance of another number of live components is given up, a random one also that
        cannot reach the best of this number.
        """
        problem = self._problem.with_components(n_live)
        # Other starts are the same for any random state and any number of components: two fits of one table agree, and
        # one with more components finds what one with fewer has found.
        others_generator = np.random.default_rng(n_live)
        n_alike = 0
        for index in range(len(starts) + n_extra):
            if best is not None and (self._journal.out_of_time or n_alike >= self._effort.enough_alike):
                break
            if best is not None and index >= len(starts) + ENOUGH_FAR and self._is_far(best):
                break
            given = index < len(starts)
            start = starts[index] if given else self._starts.other(n_live, others_generator, index - len(starts))
            others = [other.variance for other in self._candidates.values() if not given or other.n_live != n_live]
            others += [best.variance] if best is not None and not given else []
            floor = max(others, default=-math.inf)
            candidate = Candidate(n_live, self._outcome(problem, start, floor, given), problem)
            if best is not None and candidate.is_like(best, self._tolerances):
                # The first of equals stays: which of them is higher by rounding must not matter.
                n_alike += 1
                continue
            n_alike = 0
            if best is None or candidate.is_better(best, self._tolerances):
                best = candidate
        assert best is not None
        self._candidates[n_live] = best
        return best

    def _outcome(self, problem: FairSubspaceProblem, start: RunStart, floor: float, given: bool) -> RunOutcome:
        """Run from a start; from a random one that was not made fair, by way of a looser tolerance."""
        settings = self._run_settings if given else replace(self._run_settings, max_cycles=RANDOM_CYCLES)
        ladder = Ladder(problem, self._tolerances, settings, self._journal.note)
        return ladder.descend(start, () if given or self._starts.made_fair else (BOUNCE,), floor)

    def _is_far(self, best: Candidate) -> bool:
        """Tell whether none of several starts has come anywhere near the tolerance."""
        return best.strain(self._tolerances) > FAR

    def _conclude(self, advise: bool = False) -> Solution:
        """Pick the best feasible answer, or the fairest where none is feasible."""
        best = self._best()
        return self._conclude_unmet(advise) if best.outcome.best is None else self._conclude_met(best)

    def _conclude_met(self, best: Candidate) -> Solution:
        outcome = best.outcome
        assert outcome.best is not None
        if outcome.stationary:
            status = Status.CONVERGED
        else:
            status = Status.OUT_OF_TIME if self._journal.out_of_time else Status.MAX_ITERATIONS
        view = outcome.view or Model.around(outcome.best, best.problem, outcome.multipliers, single_precision=True)
        bound = float(self._problem.shares[: self._problem.n_components].sum())
        certificate = certify(view, bound, self._tolerances)
        point, result = self._record(outcome.best, best.n_live, status)
        on_live_axes = best.problem.rank == self._problem.rank
        known = view if on_live_axes else None
        rugged = not self._is_settled(best)
        warm = BudgetWarmStart(point, best.n_live, certificate.multipliers, self._pca, known, rugged=rugged)
        return Solution(point, replace(result, certificate=certificate), warm)

    def _pca_is_fair(self, pca: Evaluation, n_live: int) -> Solution:
        point, result = self._record(pca, n_live, Status.PCA_IS_FAIR)
        return Solution(
            point, result, BudgetWarmStart(point, n_live, np.zeros_like(self._tolerances), pca.discrepancies)
        )

    def _conclude_unmet(self, advise: bool) -> Solution:
        """Return the fairest point, and where it is asked for, how many components would do."""
        fairest = self._fairest()
        status = Status.OUT_OF_TIME if self._journal.out_of_time else Status.TOLERANCE_NOT_MET
        largest = self._largest_feasible(min(self._candidates)) if advise else None
        point, result = self._record(fairest.outcome.fairest, fairest.n_live, status)
        warm = BudgetWarmStart(point, fairest.n_live, fairest.outcome.multipliers, self._pca)
        return Solution(point, replace(result, largest_feasible_components=largest), warm)

    def _largest_feasible(self, below: int) -> int | None:
        """Return the largest number of components below a number that meets the tolerance, by bisection."""
        feasible, infeasible = 0, below
        while infeasible - feasible > 1 and not self._journal.out_of_time:
            middle = (feasible + infeasible) // 2
            problem = self._problem.with_components(middle)
            start = self._starts.mean_matched(middle)
            outcome = BudgetRun(problem, self._tolerances, self._run_settings, self._journal.note).run(start)
            if outcome.best is None:
                infeasible = middle
            else:
                feasible = middle
        return feasible or None

    def _record(self, answer: Evaluation, n_live: int, status: Status) -> tuple[FloatArray, FitResult]:
        """Return the frame of an answer with all its columns, and the record of the search."""
        passed = [answer, *(candidate.outcome.fairest for candidate in self._candidates.values())]
        fairest = min(passed, key=lambda each: each.strain(self._tolerances))
        result = self._journal.result(answer, fairest, n_live, status, self._tolerances)
        return self._with_null_columns(answer.point), result

    def _with_null_columns(self, live: FloatArray) -> FloatArray:
        """Append the last null axes until the frame has d columns."""
        p, d = self._problem.shape
        n_missing = d - live.shape[1]
        null = np.zeros((p, n_missing))
        null[p - n_missing + np.arange(n_missing), np.arange(n_missing)] = 1.0
        return np.hstack([live, null])
