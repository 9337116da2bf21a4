"""Where runs of the budget solver start."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._start import mean_matched_frame
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._random import fairest_frame, random_frame, turned_frame, varied_frame
from fairpca.solvers.budget._run_terms import RunStart
from fairpca.solvers.budget._warm import BudgetWarmStart

FEW_ROWS = 300

PRESSURE, MORE_PRESSURE = 0.3, 0.5
"""First mu h of a random start, and of one where high optima are known, or that is partly where another run has ended:
the less, the more variance counts at first, and the longer is the way."""


class Starts:
    """Starts of a problem, on its live axes.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    tolerances : ndarray of shape (n_measures,)
        tau.
    """

    def __init__(self, problem: FairSubspaceProblem, tolerances: FloatArray) -> None:
        self._problem = problem
        self._tolerances = tolerances
        self._multipliers_of: dict[int, FloatArray] = {}

    def know_pca(self, discrepancies: FloatArray) -> None:
        """Take what is known of plain PCA."""
        self._multipliers_of[self._problem.n_components] = self._pressing(discrepancies)

    def first(self, init: str | FloatArray | WarmStart, n_live: int, generator: np.random.Generator) -> RunStart:
        """Return what was asked for, with so many live components; what is random is drawn."""
        problem = self._problem.with_components(n_live)
        if isinstance(init, BudgetWarmStart):
            view = init.view if n_live == init.n_live else None
            return RunStart(self._live_part(init.frame, n_live), init.multipliers, view)
        if not isinstance(init, str):
            frame = init.frame if isinstance(init, WarmStart) else init
            return RunStart(self._live_part(frame, n_live), None)
        if init == "auxiliary":
            return self._random_start(problem, generator)
        return self.pca(n_live) if init == "pca" else self.mean_matched(n_live)

    def multipliers(self, n_live: int) -> FloatArray:
        """Return 1 / h of plain PCA with as many components: a fit that asks for no more begins with the same."""
        if n_live not in self._multipliers_of:
            problem = self._problem.with_components(n_live)
            self._multipliers_of[n_live] = self._pressing(problem.discrepancies(problem.pca()))
        return self._multipliers_of[n_live]

    def _pressing(self, discrepancies: FloatArray) -> FloatArray:
        """Return 1 / h_j for violated measures, shared among them, and 0 for the others."""
        violated = discrepancies > self._tolerances
        if not violated.any():
            violated[np.argmax(discrepancies / self._tolerances)] = True
        sizes = np.maximum(discrepancies, self._tolerances)
        return np.where(violated, 1.0 / (int(violated.sum()) * sizes), 0.0)

    def mean_matched(self, n_live: int, pressure: float = 1.0) -> RunStart:
        """Return the start at the subspace of most variance in which the compared means agree.

        Parameters
        ----------
        n_live : int
            Number of live components.
        pressure : float, default=1.0
            First mu h of plain PCA.
        """
        frame = mean_matched_frame(self._problem.with_components(n_live), self._problem.rank)
        return RunStart(frame, pressure * self.multipliers(n_live))

    def pca(self, n_live: int) -> RunStart:
        """Return the start at plain PCA."""
        return RunStart(self._problem.with_components(n_live).pca(), self.multipliers(n_live))

    def _live_part(self, frame: FloatArray, n_live: int) -> FloatArray:
        """Return the n_live dimensions of a subspace that lie closest to the live axes."""
        live = np.zeros((len(frame), n_live))
        rank = self._problem.rank
        live[:rank] = np.linalg.svd(frame[:rank], full_matrices=False)[0][:, :n_live]
        return live

    def made_fair(self, known: Candidate | None) -> bool:
        """Tell whether random starts are made fair first: where rows are few or constraints meet, that finds more.

        Else it costs more than a run, and most of them end low.

        Parameters
        ----------
        known : Candidate or None
            An answer, whose multipliers tell how many constraints limit it.
        """
        n_limiting = len(self._tolerances) if known is None else int(np.count_nonzero(known.outcome.multipliers))
        return self.has_few_rows or n_limiting > 1

    @property
    def has_few_rows(self) -> bool:
        """Whether runs cost next to nothing."""
        return self._problem.discrepancy.n_rows <= FEW_ROWS

    def other(self, best: Candidate, generator: np.random.Generator, number: int) -> RunStart:
        """Return another start than that of a candidate.

        All but one dimension of where the candidate ended, and a random one: high optima have much in common. Those of
        a single direction have not, and random frames are as good. Where starts are made fair first they are random,
        and every other one is not where several constraints meet.
        """
        problem = best.problem
        if not self.made_fair(best):
            if best.n_live == 1:
                return self.varied(problem, generator)
            return self.turned(problem, best.reached.point, generator)
        if len(self._tolerances) > 1 and number % 2:
            return RunStart(random_frame(problem, generator, problem.rank), None, spring=True)
        return self._random_start(problem, generator)

    def varied(
        self, problem: FairSubspaceProblem, generator: np.random.Generator, pressure: float = PRESSURE
    ) -> RunStart:
        """Return a random start that leans to the axes of much variance."""
        return self._pressed(problem, varied_frame(problem, generator), pressure)

    def turned(self, problem: FairSubspaceProblem, frame: FloatArray, generator: np.random.Generator) -> RunStart:
        """Return the start at a frame of which one dimension is another, random one."""
        return self._pressed(problem, turned_frame(problem, frame, generator), MORE_PRESSURE)

    def _pressed(self, problem: FairSubspaceProblem, frame: FloatArray, pressure: float) -> RunStart:
        discrepancies = problem.discrepancies(frame)
        violated = discrepancies > self._tolerances
        multipliers = pressure / np.maximum(discrepancies, self._tolerances)
        return RunStart(frame, np.where(violated, multipliers, 0.0) if violated.any() else multipliers)

    def _random_start(self, problem: FairSubspaceProblem, generator: np.random.Generator) -> RunStart:
        fair = fairest_frame(problem, self._tolerances.min() / self._tolerances, generator, problem.rank)
        if fair.meets(self._tolerances):
            # From inside, so that the basin of a point that is fair is not left for one that is not.
            return RunStart(fair.point, None, spring=True)
        violated = fair.discrepancies > self._tolerances
        return RunStart(fair.point, np.where(violated, 0.01 / (int(violated.sum()) * self._tolerances), 0.0))
