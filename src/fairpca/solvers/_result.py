"""The record of a fit."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import tightest
from fairpca.solvers._warm import WarmStart


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged: stationary, and the tolerance is met"
    PCA_IS_FAIR = "plain PCA already meets the tolerance, and no projection keeps more variance"
    NO_SENSITIVE_FEATURES = "no sensitive features were given, so this is plain PCA"
    MAX_ITERATIONS = "the limit of outer iterations was reached; raise max_cycles of Budget or max_iter of REPMS"
    TOLERANCE_NOT_MET = "no point that meets the tolerance was found"
    OUT_OF_TIME = "max_seconds ran out; this is the best point so far"
    CHECK_FAILED = "the finished components do not have the properties that the search reported"

    @property
    def success(self) -> bool:
        """Whether the result is what was asked for."""
        return self in {Status.CONVERGED, Status.PCA_IS_FAIR, Status.NO_SENSITIVE_FEATURES}


@dataclass(frozen=True, eq=False)
class Certificate:
    """Optimality conditions at the answer.

    Attributes
    ----------
    multipliers : ndarray of shape (n_measures,)
        mu_j >= 0, the variance share gained for each unit of tau_j; 0 where a tolerance is not what limits the answer.
    kkt_residual : float
        |grad variance - sum_j mu_j grad h_j| / |grad variance| on the manifold; 0 at a stationary point.
    smallest_curvature : float
        Smallest eigenvalue of the Hessian of -variance + sum_j mu_j h_j on the directions that keep every h_j with a
        multiplier; positive at a strict local maximum of variance. The Hessian is the last one of the run, in single
        precision, built at the answer or at a frame within 0.1 of it; NaN in more than 1,500 dimensions, where no exact
        Hessian is built.
    variance_bound : float
        No projection to n_components dimensions keeps more: the share that plain PCA keeps.
    budgets_used : ndarray of shape (n_measures,)
        h_j / tau_j.
    hessian_rows : int or None
        Where rows are many the Hessian is that of a sample of so many rows, and `smallest_curvature` is as accurate as
        the sample; None where it is that of all rows.
    """

    multipliers: FloatArray
    kkt_residual: float
    smallest_curvature: float
    variance_bound: float
    budgets_used: FloatArray
    hessian_rows: int | None = None

    @property
    def multiplier(self) -> float:
        """The variance share gained for each unit by which all tolerances grow."""
        return float(self.multipliers.sum())

    @property
    def budget_used(self) -> float:
        """The largest h_j / tau_j."""
        return float(self.budgets_used.max())

    @property
    def local_maximum(self) -> bool:
        """Whether the second-order conditions of a local maximum are known to hold, to the accuracy of the Hessian."""
        return self.kkt_residual < 1e-2 and self.smallest_curvature > -1e-6


@dataclass(frozen=True)
class OuterStep:
    """One outer iteration.

    Attributes
    ----------
    penalties : ndarray of shape (n_measures,)
        Weight of each h_j in what the step minimises: rho_k of Algorithm 1, or the multiplier mu of the budget solver.
    mmd2s : ndarray of shape (n_measures,)
        The h_j at the end of the step.
    variance_kept : float
        tr(V'SV) / tr(S) there.
    gradient_norm : float
        Norm of the Riemannian gradient of the penalty function there.
    step_length : float
        |V_{k+1} - V_k|_F.
    n_iter : int
        Iterations of the sub-problem solver.
    n_gradients, n_hessian_products : int
        Evaluations spent.
    seconds : float
        Wall time spent.
    message : str
        Why the sub-problem solver stopped.
    gradient_tolerance : float or None
        epsilon_k of Algorithm 1: what was asked of the gradient norm.
    expected_gain : float or None
        Of the budget solver: variance share, penalty included, that a further step promises.
    """

    penalties: FloatArray
    mmd2s: FloatArray
    variance_kept: float
    gradient_norm: float
    step_length: float
    n_iter: int
    n_gradients: int
    n_hessian_products: int
    seconds: float
    message: str
    gradient_tolerance: float | None = None
    expected_gain: float | None = None

    @property
    def penalty(self) -> float:
        """The sum of the penalties."""
        return float(self.penalties.sum())

    @property
    def mmd2(self) -> float:
        """The largest h_j."""
        return float(self.mmd2s.max())


Callback = Callable[[OuterStep], None]


@dataclass(frozen=True)
class Level:
    """Work on one set of rows.

    Attributes
    ----------
    n_rows : int
        How many rows.
    method : str
        How the discrepancy was computed on them: "exact" or "hermite".
    n_values, n_gradients, n_hessians : int
        Evaluations.
    seconds : float
        Wall time.
    """

    n_rows: int
    method: str
    n_values: int
    n_gradients: int
    n_hessians: int
    seconds: float


@dataclass(frozen=True)
class FitResult:
    """What a solver did and why it stopped.

    Attributes
    ----------
    solver : str
        Name of the solver.
    status : Status
        Why it stopped.
    tolerances : ndarray of shape (n_measures,)
        tau_j, the largest MMD^2 that was allowed.
    mmd2s : ndarray of shape (n_measures,)
        h_j at the answer: exact, or to within `mmd2_errors`.
    fairest_mmd2s : ndarray of shape (n_measures,)
        h_j at the point with variance on the way that came closest to the tolerances: what is attainable, as far as is
        known.
    variance_kept : float
        tr(V'SV) / tr(S) at the answer.
    steps : tuple of OuterStep
        The outer iterations in order.
    n_values, n_gradients, n_hessian_products, n_hessians : int
        Evaluations of the discrepancy by kind (a gradient comes with its value), on all levels, the start included.
    seconds : float
        Wall time of the solver, the start included.
    n_live_components : int
        Components that carry variance.
    certificate : Certificate or None
        Optimality conditions at the answer, from solvers that know the Hessian.
    largest_feasible_components : int or None
        Where the tolerance was not met: the largest number of components found to meet it.
    mmd2_errors : ndarray of shape (n_measures,) or None
        Bounds on the errors of `mmd2s`; None where they are exact.
    levels : tuple of Level
        Where rows are many: the work on a sample of them and on all of them, in order.
    """

    solver: str
    status: Status
    tolerances: FloatArray
    mmd2s: FloatArray
    fairest_mmd2s: FloatArray
    variance_kept: float
    steps: tuple[OuterStep, ...]
    n_values: int
    n_gradients: int
    n_hessian_products: int
    n_hessians: int
    seconds: float
    n_live_components: int
    certificate: Certificate | None = None
    largest_feasible_components: int | None = None
    mmd2_errors: FloatArray | None = None
    levels: tuple[Level, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the tolerance is met at a stationary point."""
        return self.status.success

    @property
    def message(self) -> str:
        """The status in words."""
        return self.status.value

    @property
    def meets(self) -> bool:
        """Whether every h_j is within its tolerance."""
        return not bool(np.any(self.mmd2s > self.tolerances))

    @property
    def tightest(self) -> int:
        """The measure whose tolerance is pressed hardest."""
        return tightest(self.mmd2s, self.tolerances)

    @property
    def tolerance(self) -> float:
        """The tolerance that is pressed hardest."""
        return float(self.tolerances[self.tightest])

    @property
    def mmd2(self) -> float:
        """The MMD^2 that presses its tolerance hardest."""
        return float(self.mmd2s[self.tightest])

    @property
    def smallest_mmd2(self) -> float:
        """The MMD^2 that presses its tolerance hardest, where the tolerances came closest to being met."""
        return float(self.fairest_mmd2s[tightest(self.fairest_mmd2s, self.tolerances)])

    @property
    def mmd2_error(self) -> float:
        """The largest bound on an error; 0 where all values are exact."""
        return 0.0 if self.mmd2_errors is None else float(self.mmd2_errors.max())


@dataclass(frozen=True)
class Solution:
    """A frame in the problem's coordinates, the record of how it was found, and what a similar fit can use of it."""

    point: FloatArray
    result: FitResult
    warm: WarmStart
