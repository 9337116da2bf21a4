"""From rows and groups to the problem that a solver sees."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._axes import AxesRequest, PrincipalAxes
from fairpca._canonical import CanonicalOrder
from fairpca._scaling import ColumnScaling, standardized
from fairpca._typing import AnyArray
from fairpca.measures import demographic_parity, merge_equal_rows
from fairpca.mmd import ExactMMD, median_bandwidth
from fairpca.problem import FairSubspaceProblem


@dataclass(frozen=True)
class PreparedData:
    """Rows in principal axes, with the fair subspace problem on them.

    Attributes
    ----------
    scaling : ColumnScaling
        What was subtracted from the columns and what divided them.
    n_rows : int
        n.
    axes : PrincipalAxes
        Principal axes of the scaled rows.
    bandwidth : float
        sigma.
    n_components : int
        d.
    in_features : ExactMMD or None
        The discrepancy in the coordinates of the scaled features; None without groups.
    problem : FairSubspaceProblem or None
        The problem, in principal axes; None without groups.
    """

    method = "exact"
    scaling: ColumnScaling
    n_rows: int
    axes: PrincipalAxes
    bandwidth: float
    n_components: int
    in_features: ExactMMD | None
    problem: FairSubspaceProblem | None

    @classmethod
    def of(
        cls,
        X: AnyArray,
        groups: AnyArray | None,
        standardize: bool,
        request: AxesRequest,
    ) -> "PreparedData":
        """Prepare rows.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Raw rows.
        groups : ndarray of shape (n,) or None
            Two distinct labels.
        standardize : bool
            Scale the columns to unit variance.
        request : AxesRequest
            Number of components, bandwidth and null axes.
        """
        n_components, bandwidth = request.n_components, request.bandwidth
        order = CanonicalOrder.of(X, groups)
        rows, scaling = standardized(order.ordered(X), standardize)
        axes = PrincipalAxes.of(rows, request.n_null, scaling.noise)
        if isinstance(bandwidth, str):
            bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)])
        scaling, own_axes = scaling.with_columns(order.places), axes.with_columns(order.places)
        if groups is None:
            return cls(scaling, len(X), own_axes, bandwidth, n_components, None, None)
        distinct, measures = merge_equal_rows(rows, demographic_parity(groups[order.rows]))
        problem = FairSubspaceProblem(
            variances=axes.variances,
            discrepancy=ExactMMD(axes.coordinates(distinct), measures, bandwidth),
            n_components=n_components,
            rank=axes.rank,
            mean_differences=axes.mean_differences(distinct.T @ measures.weights),
        )
        in_features = ExactMMD(np.ascontiguousarray(distinct[:, order.places]), measures, bandwidth)
        return cls(scaling, len(X), own_axes, bandwidth, n_components, in_features, problem)
