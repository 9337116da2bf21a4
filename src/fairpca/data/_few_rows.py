"""Few rows, all pairs of which are compared: one level, and exact."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import Comparison
from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._canonical import CanonicalOrder
from fairpca.data._merged import MergedRows, merge_by_place
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
    X: AnyArray, attached: AnyArray, comparison: Comparison | None, standardize: bool, request: AxesRequest
) -> PreparedData:
    """Prepare rows in memory.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Raw rows.
    attached : ndarray of shape (n, k)
        The stratum of each row, and its mass and attributes where it has them.
    comparison : Comparison or None
        What is compared; None for plain PCA.
    standardize : bool
        Scale the columns to unit variance.
    request : AxesRequest
        Number of components, bandwidth and null axes.
    """
    n_components, bandwidth, factors = request.n_components, request.scales.bandwidth, request.scales.factors
    merged = MergedRows.of(X, attached)
    order = CanonicalOrder.of(merged.X, None if comparison is None else merged.strata, merged.numbers)
    merged = merged.in_order(order.rows, order.columns)
    rows, scaling = standardized(merged.X, standardize, merged.masses)
    axes = PrincipalAxes.of(rows, request.n_null, scaling.noise, merged.masses)
    if isinstance(bandwidth, str):
        bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)], merged.masses)
    posed = None
    if comparison is not None:
        weights = comparison.weights.of(merged.attached)
        distinct, weights = merge_by_place(rows, weights, merged.place)
        problem = FairSubspaceProblem(
            variances=axes.variances,
            discrepancy=ExactMMD(axes.coordinates(distinct), weights, comparison, bandwidth, factors),
            n_components=n_components,
            rank=axes.rank,
            mean_differences=axes.mean_differences(distinct.T @ weights @ comparison.mixing),
        )
        as_given = np.ascontiguousarray(distinct[:, order.places])
        posed = FewRows(problem, ExactMMD(as_given, weights, comparison, bandwidth, factors))
    return PreparedData(
        scaling=scaling.with_columns(order.places),
        axes=axes.with_columns(order.places),
        n_rows=len(X),
        mass=float(len(rows) if merged.masses is None else merged.masses.sum()),
        bandwidth=bandwidth,
        factors=factors,
        n_components=n_components,
        method="exact",
        problem=posed,
    )
