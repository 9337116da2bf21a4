"""Where branches are followed, and what they lead to."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers.budget._branches import LOOSEST, Branches
from fairpca.solvers.budget._candidate import Candidate
from fairpca.solvers.budget._effort import affordable_breadth
from fairpca.solvers.budget._journal import Journal
from fairpca.solvers.budget._pool import Pool
from fairpca.solvers.budget._run_terms import RunSettings


@dataclass(frozen=True, eq=False)
class Branching:
    """Branches for each number of live components, whose best goes to a pool.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem.
    tolerances : ndarray of shape (n_measures,)
        tau.
    settings : RunSettings
        Limits of a run.
    journal : Journal
        Is told of each cycle.
    pool : Pool
        What is known.
    """

    problem: FairSubspaceProblem
    tolerances: FloatArray
    settings: RunSettings
    journal: Journal
    pool: Pool

    def pays(self, n_live: int) -> bool:
        """Tell whether the tolerance has several optima, and a run is cheap.

        Parameters
        ----------
        n_live : int
            Number of live components.
        """
        return affordable_breadth(self.problem.rank, n_live) > 0 and self.problem.is_strict(self.tolerances, LOOSEST)

    def better(self, known: Candidate) -> Candidate:
        """Return the better of what is known and of where branches lead to, and put it into the pool.

        Parameters
        ----------
        known : Candidate
            What is known of its number of live components.
        """
        breadth = affordable_breadth(self.problem.rank, known.n_live)
        branches = Branches(known.problem, self.tolerances, self.settings, breadth, self.journal)
        found = branches.best(known.variance, self.pool.most_variance(besides=known.n_live))
        if found is None or not found.is_better(known, self.tolerances):
            return known
        self.pool.put(found)
        return found
