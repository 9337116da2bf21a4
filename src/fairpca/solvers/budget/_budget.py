"""The budget solver: all the variance that a tolerance allows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import BaseEstimator

from fairpca._utils.checks import check_flag, check_integer, check_number
from fairpca._utils.threads import single_threaded_blas
from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers._limits import VISIBLE
from fairpca.solvers._result import Callback, Solution
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._search import Search, SearchSettings
from fairpca.solvers.budget._span import GrowingSearch, has_many_axes

SLACK = 5e-4
"""Share of a tolerance that an answer may leave unused, so that the last correction cannot end above it."""

APPROXIMATE_SLACK = 5e-3
"""The same on approximations of many rows and where more rows follow: beyond are digits that these do not have."""


@dataclass
class Budget(BaseEstimator):
    r"""Maximise the variance kept subject to h_j <= tau_j by a second-order method on the Grassmann manifold.

    Each cycle chooses a multiplier mu_j for each constraint, builds the exact Hessian of sum_j mu_j h_j in local
    coordinates, and takes quasi-Newton steps on -variance + sum_j mu_j h_j with the factored Hessian as metric. The
    answer satisfies h_j <= tau_j, and h_j >= 0.999 tau_j where the constraint is active (0.99 tau_j on many rows).

    With a strict tolerance fewer than d components may carry variance: a null direction costs no fairness. The number
    of live components is searched as well.

    Parameters
    ----------
    n_starts : int, default=None
        Starts for each number of live components: the given one, plain PCA, then others that share all but one
        dimension with where the best has ended, the same for every `random_state`. None takes one, and more where these
        are cheap and the tolerance has several optima: far below the chance level, and for a single component.
    allow_null : bool, default=True
        Whether components without variance may be part of the answer. If not, all d must carry variance.
    max_cycles : int, default=60
        Largest number of Hessians in one run.
    max_steps : int, default=7
        Quasi-Newton steps before the Hessian is built anew.
    gain_tolerance : float, default=1e-8
        A run ends when the gain in variance share still expected is below this; on approximations of many rows at 1e-5,
        a thousandth of a point, the latest.
    max_seconds : float, default=None
        Return the best point so far, marked, when this much time has passed.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> model = FairPCA(10, tolerance=1e-6, solver=Budget(allow_null=False, max_seconds=5.0))
    """

    n_starts: int | None = None
    allow_null: bool = True
    max_cycles: int = 60
    max_steps: int = 7
    gain_tolerance: float = 1e-8
    max_seconds: float | None = None
    name: str = field(default="budget", init=False)

    def __post_init__(self) -> None:
        check_integer("n_starts", self.n_starts, 1, 1000, or_none=True)
        check_flag("allow_null", self.allow_null)
        check_integer("max_cycles", self.max_cycles, 1)
        check_integer("max_steps", self.max_steps, 1)
        check_number("gain_tolerance", self.gain_tolerance, 0)
        check_number("max_seconds", self.max_seconds, 0, or_none=True)

    @property
    def time_limit(self) -> float | None:
        """Seconds that a solve may take."""
        return self.max_seconds

    def within(self, seconds: float) -> "Budget":
        """Return the same solver with another limit of time."""
        return replace(self, max_seconds=seconds)

    def roughly(self) -> "Budget":
        """Return the same solver, which ends where gains are no longer visible: more rows will move the answer more."""
        return replace(self, gain_tolerance=max(self.gain_tolerance, VISIBLE))

    def check_tolerances(self, tolerances: FloatArray) -> None:
        """Refuse tolerances that this solver cannot meet."""
        if not np.all(tolerances > 0):
            raise ValueError(
                f"tolerance={float(np.min(tolerances))!r} must be greater than 0 for the budget solver: MMD^2 is a "
                "squared norm, so its gradient vanishes where it is 0 and an exact 0 has no regular solution. 1e-8 is "
                'the smallest value that rounding leaves meaningful; solver="repms" accepts 0 and stops where its '
                "penalty ends."
            )

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        init: str | FloatArray | WarmStart,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        problem : FairSubspaceProblem
            The problem.
        tolerances : ndarray of shape (n_measures,)
            tau, all greater than 0.
        init : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        generator : numpy.random.Generator
            Draws random frames.
        callback : callable, default=None
            Called with each `OuterStep`.

        Returns
        -------
        solution : Solution
            The best point found and the record of the search.
        """
        self.__post_init__()
        self.check_tolerances(tolerances)
        with single_threaded_blas():
            is_rough = not problem.discrepancy.is_exact or self.gain_tolerance >= VISIBLE
            settings = SearchSettings(
                self.n_starts,
                self.allow_null,
                self.max_cycles,
                self.max_steps,
                max(self.gain_tolerance, VISIBLE if is_rough else 0.0),
                APPROXIMATE_SLACK if is_rough else SLACK,
                self.max_seconds,
            )
            search = GrowingSearch if has_many_axes(problem) else Search
            return search(settings, problem, tolerances, generator, callback).solve(init)
