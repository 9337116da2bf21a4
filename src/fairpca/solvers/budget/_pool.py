"""The best that is known of each number of live components."""
# SPDX-License-Identifier: MIT

import math

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation
from fairpca.solvers.budget._candidate import Candidate


class Pool:
    """The best candidate of each number of live components.

    Parameters
    ----------
    tolerances : ndarray of shape (n_measures,)
        tau, by which candidates are judged.
    """

    def __init__(self, tolerances: FloatArray) -> None:
        self._tolerances = tolerances
        self._of: dict[int, Candidate] = {}

    def __contains__(self, n_live: int) -> bool:
        return n_live in self._of

    def put(self, candidate: Candidate) -> None:
        """Put a candidate in the place of the one with as many live components."""
        self._of[candidate.n_live] = candidate

    @property
    def best(self) -> Candidate:
        """The candidate that is worth most."""
        return max(self._of.values(), key=lambda candidate: candidate.worth(self._tolerances))

    @property
    def fairest(self) -> Candidate:
        """The candidate that came closest to meeting the tolerances."""
        return min(self._of.values(), key=lambda candidate: candidate.strain(self._tolerances))

    @property
    def is_feasible(self) -> bool:
        """Whether a candidate meets the tolerances."""
        return self.best.variance > -math.inf

    @property
    def fewest(self) -> int:
        """The smallest number of live components that was tried."""
        return min(self._of)

    def most_variance(self, besides: int | None = None) -> float:
        """Return what the best keeps, of all or of those with another number of live components.

        Parameters
        ----------
        besides : int, default=None
            A number of live components that does not count.
        """
        return max((each.variance for each in self._of.values() if each.n_live != besides), default=-math.inf)

    def fairest_of(self, answer: Evaluation) -> Evaluation:
        """Return the fairest of an answer and all points that were passed."""
        passed = [answer, *(candidate.outcome.fairest for candidate in self._of.values())]
        return min(passed, key=lambda each: each.strain(self._tolerances))
