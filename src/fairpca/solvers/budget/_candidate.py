"""What the search knows of one number of live components."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers.budget._certify import gains_by_dropping
from fairpca.solvers.budget._run_terms import RunOutcome

WORTH_A_RUN = 0.95
"""An answer that keeps less than this share of what plain PCA keeps with one component less is compared with fewer."""

NEARLY = 1.5
"""h / tau up to which a tolerance that was not met is likely to be met by one component less."""

SETTLED = 1e-4
"""Variance share by which a stationary answer is preferred to a point met on the way to none."""


@dataclass(frozen=True)
class Candidate:
    """The best outcome for one number of live components."""

    n_live: int
    outcome: RunOutcome
    problem: FairSubspaceProblem

    @property
    def variance(self) -> float:
        """The variance share of the best point that meets the tolerances; minus infinity where none does."""
        return -math.inf if self.outcome.best is None else self.outcome.best.variance

    @property
    def reached(self) -> Evaluation:
        """The best point, or the fairest where none meets the tolerances."""
        return self.outcome.best or self.outcome.fairest

    def worth(self, tolerances: FloatArray) -> float:
        """Return the variance that the whole of the tolerances would buy; a point on the way counts for what it has."""
        best = self.outcome.best
        if best is None or not self.outcome.stationary:
            return self.variance
        return best.variance + float(self.outcome.multipliers @ (tolerances - best.discrepancies)) + SETTLED

    def strain(self, tolerances: FloatArray) -> float:
        """Return how far the fairest point is from meeting the tolerances: at most 1 where it does."""
        return self.outcome.fairest.strain(tolerances)

    def is_better(self, other: "Candidate", tolerances: FloatArray) -> bool:
        """Tell whether this is worth more, or fairer where both are worth nothing."""
        worths = self.worth(tolerances), other.worth(tolerances)
        if worths[0] != worths[1]:
            return worths[0] > worths[1]
        return self.strain(tolerances) < other.strain(tolerances)

    def is_like(self, other: "Candidate", tolerances: FloatArray) -> bool:
        """Tell whether both found the same optimum, as far as its height tells."""
        stationary = self.outcome.stationary and other.outcome.stationary
        return stationary and abs(self.worth(tolerances) - other.worth(tolerances)) <= VISIBLE

    @property
    def is_smooth(self) -> bool:
        """Whether the run was short and ended well, and shrinking a component would not help."""
        outcome = self.outcome
        return outcome.stationary and not outcome.rugged and not gains_by_dropping(outcome.best, outcome.multipliers)

    @property
    def fewer_promise_more(self) -> bool:
        """Whether fewer live components are worth a run."""
        return not self.is_smooth or self.variance < WORTH_A_RUN * float(self.problem.shares[: self.n_live - 1].sum())

    def guess_of_fewer(self, tolerances: FloatArray, least: int) -> int:
        """Return how many live components may do where these do not: one less where little is missing.

        Parameters
        ----------
        tolerances : ndarray of shape (n_measures,)
            tau.
        least : int
            How many must be live.
        """
        nearly = self.strain(tolerances) <= NEARLY
        return max(least, self.n_live - 1 if nearly else (self.n_live + 1) // 2)
