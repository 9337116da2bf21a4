"""From rows and groups to the problem that a solver sees."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

from fairpca._axes import AxesRequest, PrincipalAxes
from fairpca._typing import AnyArray, FloatArray
from fairpca.measures import demographic_parity, merge_equal_rows
from fairpca.mmd import ExactMMD, median_bandwidth
from fairpca.problem import FairSubspaceProblem


@dataclass(frozen=True)
class PreparedData:
    """Rows in principal axes, with the fair subspace problem on them.

    Attributes
    ----------
    rows : ndarray of shape (n, p)
        Centred, scaled rows.
    axes : PrincipalAxes
        Their principal axes.
    bandwidth : float
        sigma.
    n_components : int
        d.
    problem : FairSubspaceProblem or None
        The problem, in those axes; None without groups.
    """

    method = "exact"
    rows: FloatArray
    axes: PrincipalAxes
    bandwidth: float
    n_components: int
    problem: FairSubspaceProblem | None

    @classmethod
    def of(
        cls,
        rows: FloatArray,
        groups: AnyArray | None,
        request: AxesRequest,
    ) -> "PreparedData":
        """Prepare rows.

        Parameters
        ----------
        rows : ndarray of shape (n, p)
            Centred, scaled rows.
        groups : ndarray of shape (n,) or None
            Two distinct labels.
        request : AxesRequest
            Number of components, bandwidth and null axes.
        """
        n_components, bandwidth = request.n_components, request.bandwidth
        axes = PrincipalAxes.of(rows, request.n_null)
        if isinstance(bandwidth, str):
            bandwidth = median_bandwidth(rows @ axes.axes[:, : min(n_components, axes.rank)])
        if groups is None:
            return cls(rows, axes, bandwidth, n_components, None)
        distinct, measures = merge_equal_rows(rows, demographic_parity(groups))
        coordinates = axes.coordinates(distinct)
        problem = FairSubspaceProblem(
            variances=axes.variances,
            discrepancy=ExactMMD(coordinates, measures, bandwidth),
            n_components=n_components,
            rank=axes.rank,
            mean_differences=coordinates.T @ measures.weights,
        )
        return cls(rows, axes, bandwidth, n_components, problem)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows)
