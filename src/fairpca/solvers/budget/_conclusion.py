"""What a search answers."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._result import FitResult, Solution, Status
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._certify import certify
from fairpca.solvers.budget._curvature import Model
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._warm import BudgetWarmStart


@dataclass(frozen=True, eq=False)
class Conclusion:
    """Answers with their records.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem.
    tolerances : ndarray of shape (n_measures,)
        tau.
    journal : Journal
        What was done.
    pool : Pool
        What was found.
    pca : ndarray of shape (n_measures,)
        The vector h of plain PCA.
    """

    problem: FairSubspaceProblem
    tolerances: FloatArray
    journal: Journal
    pool: Pool
    pca: FloatArray

    def met(self, best: Candidate, doubtful: bool) -> Solution:
        """Return the answer that a candidate has found.

        Parameters
        ----------
        best : Candidate
            Meets the tolerances.
        doubtful : bool
            Whether another search may end higher.
        """
        outcome = best.outcome
        assert outcome.best is not None
        if outcome.stationary:
            status = Status.CONVERGED
        else:
            status = Status.OUT_OF_TIME if self.journal.out_of_time else Status.MAX_ITERATIONS
        view = outcome.view or Model.around(outcome.best, best.problem, outcome.multipliers, single_precision=True)
        bound = float(self.problem.shares[: self.problem.n_components].sum())
        certificate = certify(view, bound, self.tolerances)
        point, result = self._record(outcome.best, best.n_live, status)
        on_live_axes = best.problem.rank == self.problem.rank
        known = view if on_live_axes else None
        warm = BudgetWarmStart(point, best.n_live, certificate.multipliers, self.pca, known, rugged=doubtful)
        return Solution(point, replace(result, certificate=certificate), warm)

    def pca_is_fair(self, pca: Evaluation, n_live: int) -> Solution:
        """Return plain PCA as the answer."""
        point, result = self._record(pca, n_live, Status.PCA_IS_FAIR)
        warm = BudgetWarmStart(point, n_live, np.zeros_like(self.tolerances), pca.discrepancies)
        return Solution(point, result, warm)

    def unmet(self, largest: int | None) -> Solution:
        """Return the fairest point.

        Parameters
        ----------
        largest : int or None
            How many components would do, where that is known.
        """
        fairest = self.pool.fairest
        status = Status.OUT_OF_TIME if self.journal.out_of_time else Status.TOLERANCE_NOT_MET
        point, result = self._record(fairest.outcome.fairest, fairest.n_live, status)
        warm = BudgetWarmStart(point, fairest.n_live, fairest.outcome.multipliers, self.pca)
        return Solution(point, replace(result, largest_feasible_components=largest), warm)

    def _record(self, answer: Evaluation, n_live: int, status: Status) -> tuple[FloatArray, FitResult]:
        """Return the frame of an answer with all its columns, and the record of the search."""
        fairest = self.pool.fairest_of(answer)
        result = self.journal.result(answer, fairest, n_live, status, self.tolerances)
        return self._with_null_columns(answer.point), result

    def _with_null_columns(self, live: FloatArray) -> FloatArray:
        """Append the last null axes until the frame has d columns."""
        p, d = self.problem.shape
        n_missing = d - live.shape[1]
        null = np.zeros((p, n_missing))
        null[p - n_missing + np.arange(n_missing), np.arange(n_missing)] = 1.0
        return np.hstack([live, null])
