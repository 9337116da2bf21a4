"""Few rows, all pairs of which are compared: one level, and exact."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import Comparison
from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._canonical import CanonicalOrder
from fairpca.data._prepared import PreparedData
from fairpca.data._scaling import standardized
from fairpca.mmd import ExactMMD, Measurement, median_bandwidth
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers import Callback, Solution, Solver, Start, solve_at_once


@dataclass(frozen=True, eq=False)
class FewRows:
    """The fair subspace problem on all rows at once.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem, in principal axes.
    in_features : ExactMMD
        The discrepancy in the coordinates of the scaled features, which the search does not use.
    """

    problem: FairSubspaceProblem
    in_features: ExactMMD

    def solve(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> Solution:
        """Solve the problem, see `Posed.solve`."""
        return solve_at_once(self.problem, tolerances, solver, start, generator, callback)

    def remeasured(self, components: FloatArray) -> Measurement:
        """Return the vector h of finished components, see `Posed.remeasured`."""
        return Measurement.exact(self.in_features.value(components.T))


def prepare_few_rows(
    X: AnyArray, codes: IntArray | None, comparison: Comparison | None, standardize: bool, request: AxesRequest
) -> PreparedData:
    """Prepare rows in memory.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Raw rows.
    codes : ndarray of int of shape (n, 1) or None
        The stratum of each row.
    comparison : Comparison or None
        What is compared; None for plain PCA.
    standardize : bool
        Scale the columns to unit variance.
    request : AxesRequest
        Number of components, bandwidth and null axes.
    """
    n_components, bandwidth = request.n_components, request.bandwidth
    order = CanonicalOrder.of(X, None if codes is None else codes[:, 0])
    rows, scaling = standardized(order.ordered(X), standardize)
    axes = PrincipalAxes.of(rows, request.n_null, scaling.noise)
    if isinstance(bandwidth, str):
        bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)])
    posed = None
    if codes is not None and comparison is not None:
        own_codes = codes[order.rows]
        distinct, weights = merge_equal_rows(rows, comparison.weights.of(own_codes))
        problem = FairSubspaceProblem(
            variances=axes.variances,
            discrepancy=ExactMMD(axes.coordinates(distinct), weights, comparison, bandwidth),
            n_components=n_components,
            rank=axes.rank,
            mean_differences=axes.mean_differences(distinct.T @ weights @ comparison.mixing),
        )
        in_features = ExactMMD(np.ascontiguousarray(distinct[:, order.places]), weights, comparison, bandwidth)
        posed = FewRows(problem, in_features)
    return PreparedData(
        scaling=scaling.with_columns(order.places),
        axes=axes.with_columns(order.places),
        n_rows=len(X),
        bandwidth=bandwidth,
        n_components=n_components,
        method="exact",
        problem=posed,
    )


def merge_equal_rows(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Replace rows that are equal by one row with the sum of their weights; no discrepancy changes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    weights : ndarray of shape (n, k)
        Their weights.

    Returns
    -------
    X : ndarray of shape (n_distinct, p)
        The distinct rows.
    weights : ndarray of shape (n_distinct, k)
        Their summed weights.
    """
    distinct, index = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) == len(X):
        return X, weights
    merged = np.zeros((len(distinct), weights.shape[1]))
    np.add.at(merged, index.ravel(), weights)
    return distinct, merged
