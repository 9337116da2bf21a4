"""Few rows, all pairs of which are compared: one level, and exact."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.checks import check_width
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import Comparison, masses_of
from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._merged import MergedRows, merge_by_place
from fairpca.data._prepared import PreparedData
from fairpca.data._scaling import standardized
from fairpca.mmd import ExactMMD, Measurement, median_bandwidth
from fairpca.problem import FairSubspaceProblem
from fairpca.rows import Rows
from fairpca.solvers import Callback, Solution, Solver, Start, WarmStart, solve_at_once


@dataclass(frozen=True, eq=False)
class FewRows:
    """The fair subspace problem on all rows at once.

    Attributes
    ----------
    problem : FairSubspaceProblem
        The problem, in principal axes.
    rows : ndarray of shape (n_distinct, p)
        Distinct scaled rows, which the search does not use.
    weights : ndarray of shape (n_distinct, k)
        Their weights.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    factors : tuple of float
        The kernel is the mean of those of bandwidths sigma times these.
    """

    problem: FairSubspaceProblem
    rows: FloatArray
    weights: FloatArray
    comparison: Comparison
    bandwidth: float
    factors: tuple[float, ...]

    def solve(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
        pilot: WarmStart | None = None,
    ) -> Solution:
        """Solve the problem, see `Posed.solve`."""
        return solve_at_once(self.problem, tolerances, solver, start, generator, callback)

    def solve_pilot(self, *problem: object) -> None:
        """Return None: all rows are used at once."""

    def remeasured(self, components: FloatArray) -> Measurement:
        """Return the vector h of finished components, see `Posed.remeasured`."""
        in_features = ExactMMD(self.rows, self.weights, self.comparison, self.bandwidth, self.factors)
        return Measurement.exact(in_features.value(np.ascontiguousarray(components.T)))


def axes_of_short_table(rows: Rows, standardize: bool) -> PrincipalAxes:
    """Return the principal axes of a table with fewer rows than columns.

    Parameters
    ----------
    rows : Rows
        Raw rows, which are copied.
    standardize : bool
        Scale the columns to unit variance.
    """
    X, attached = rows.sample(np.arange(rows.n_rows))
    masses = masses_of(attached)
    if masses is not None:
        X, masses = X[masses > 0], masses[masses > 0]
    scaled, scaling = standardized(X, standardize, masses, overwrite=True)
    return PrincipalAxes.of(scaled, 0, scaling.noise, masses)


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
    rows, scaling = standardized(merged.X, standardize, merged.masses, overwrite=True)
    axes = PrincipalAxes.of(rows, request.n_null, scaling.noise, merged.masses, request.start)
    if isinstance(bandwidth, str):
        bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)], merged.masses)
    check_width(bandwidth, float(np.sqrt(axes.variances.sum())))
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
            chance=comparison.chance_ceilings,
        )
        posed = FewRows(problem, distinct, weights, comparison, bandwidth, factors)
    return PreparedData(
        scaling=scaling,
        axes=axes,
        n_rows=len(X),
        mass=float(len(rows) if merged.masses is None else merged.masses.sum()),
        bandwidth=bandwidth,
        factors=factors,
        n_components=n_components,
        method="exact",
        problem=posed,
    )
