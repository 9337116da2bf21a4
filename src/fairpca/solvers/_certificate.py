"""How good an answer is, as far as can be told where it stands."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._utils.typing import FloatArray


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
        precision, built at the answer or at a frame within 0.1 of it.
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
        """Whether the second-order conditions of a local maximum hold, to the accuracy of the Hessian."""
        return self.kkt_residual < 1e-2 and self.smallest_curvature > -1e-6
