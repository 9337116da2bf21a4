"""Many rows, seen in blocks: the fair subspace problem on a sample, on a part and on all of them."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from fairpca._utils.checks import check_width
from fairpca._utils.threads import MEMORY_NUMBERS
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import MASS, Comparison, RowWeights
from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._columns import ColumnScaling, summarised
from fairpca.data._prepared import PreparedData, merge_equal_rows
from fairpca.mmd import (
    MANY_COLUMNS,
    MEASURED_TO,
    SEARCHED,
    Approximation,
    Coordinates,
    ExactMMD,
    FeatureHessianMMD,
    Ledger,
    Measurement,
    RawRowsMMD,
    TwoLevelMMD,
    bandwidth_rows,
    features_mmd,
    median_bandwidth,
    rows_by_mass,
)
from fairpca.problem import Discrepancy, FairSubspaceProblem
from fairpca.rows import PILOT_ROWS, Rows
from fairpca.solvers import Callback, LevelsTask, Solution, Solver, Start, WarmStart

EXACT_PAIRS = 5e9
"""Pairs of rows up to which an answer is measured exactly, in some seconds: 100,000 rows."""


@dataclass(frozen=True, eq=False)
class ManyRows:
    """The fair subspace problem on rows in blocks.

    Attributes
    ----------
    method : str
        How the discrepancy of all rows is computed.
    rows : Rows
        Raw rows, with the stratum of each attached.
    comparison : Comparison
        What is compared.
    coordinates : Coordinates
        From raw rows to principal axes.
    axes : PrincipalAxes
        Principal axes of the scaled columns.
    mean_differences : ndarray of shape (p_kept, n_columns)
        The differences of means that the columns of the comparison make, in these axes.
    bandwidth : float
        sigma.
    factors : tuple of float
        The kernel is the mean of those of bandwidths sigma times these.
    n_components : int
        d.
    seed : int
        With which samples are drawn.
    whole : ManyRows or None
        What this is a part of; both use one sample, whose Hessian serves all levels.
    """

    method: ClassVar = "hermite"

    rows: Rows
    comparison: Comparison
    coordinates: Coordinates
    axes: PrincipalAxes
    mean_differences: FloatArray
    bandwidth: float
    factors: tuple[float, ...]
    n_components: int
    seed: int
    whole: "ManyRows | None" = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @cached_property
    def sample(self) -> FairSubspaceProblem:
        """The problem on a stratified sample, with the principal axes and variances of all rows."""
        return self._problem(self._sample_discrepancy)

    @cached_property
    def _sample_discrepancy(self) -> Discrepancy:
        if self.whole is not None:
            return self.whole._sample_discrepancy
        in_axes = len(self.axes.variances) <= MANY_COLUMNS
        seen = self.coordinates.project if in_axes else self.coordinates.centred
        drawn = self._draw(PILOT_ROWS)
        sample, attached = self.rows.sample(drawn, seen)
        comparison = self.comparison.sampled(attached)
        distinct, weights = merge_equal_rows(sample, comparison.weights.of(attached))
        exact = ExactMMD(distinct, weights, comparison, self.bandwidth, self.factors)
        if not in_axes:
            return RawRowsMMD(exact, self.coordinates.matrix)
        rows, kernel = self.rows.taken(drawn), (self.bandwidth, self.factors)
        features = features_mmd(rows, self.coordinates, comparison, *kernel, n_features=SEARCHED, seed=self.seed)
        return FeatureHessianMMD(exact, features, self._ledger)

    @cached_property
    def part(self) -> "ManyRows | None":
        """The same on a random part of the rows in memory, much larger than the sample and much smaller than all.

        None where there is no such part: gradients of fewer rows are hardly better than those of the sample.
        """
        size = min(16 * PILOT_ROWS, MEMORY_NUMBERS // self.rows.n_columns, self.rows.n_rows // 4)
        if size < 8 * PILOT_ROWS:
            return None
        rows = self.rows.taken(self._draw(size))
        return replace(self, rows=rows, comparison=self.comparison.sampled(rows.attached), whole=self)

    def _draw(self, size: int) -> IntArray:
        """Return the numbers of about `size` random rows, every stratum with a fair share."""
        return self.rows.stratified_draw(size, np.random.default_rng([self.seed, size])).indices

    def around(self, frame: FloatArray, tolerances: FloatArray, known: FloatArray) -> FairSubspaceProblem:
        """Return the problem on all rows, for use around a frame where h is known.

        Parameters
        ----------
        frame : ndarray of shape (r, k)
            Where the approximation of the kernel is chosen.
        tolerances : ndarray of shape (n_measures,)
            tau; the accuracy follows from it.
        known : ndarray of shape (n_measures,)
            The vector h there.
        """
        fine = self._features.around(frame, known)
        curvature = fine if self.part is None else self.part._features.around(frame, known)
        return self._problem(TwoLevelMMD(fine, curvature, self._sample_discrepancy, self._ledger))

    def estimate(self, frame: FloatArray, tolerances: FloatArray) -> Measurement:
        """Return the vector h at a frame in time linear in the rows, with bounds on its errors."""
        key = frame.tobytes(), tolerances.tobytes()
        if key not in self._estimates:
            unbounded = np.full(len(tolerances), np.inf)
            self._estimates[key] = self._features.measured_at(frame, unbounded)
        return self._estimates[key]

    @cached_property
    def _estimates(self) -> dict[tuple[bytes, bytes], Measurement]:
        """Those made so far: the answer of one level is where the next begins."""
        return {}

    def measure(self, frame: FloatArray, tolerances: FloatArray) -> Measurement:
        """Return the vector h at a frame: exact, or with a bound on its error where rows are too many for that."""
        if not self.confirms_exactly:
            known = self._estimates.get((frame.tobytes(), tolerances.tobytes()))
            is_enough = known is not None and bool(np.all(known.errors <= MEASURED_TO * tolerances))
            return known if known and is_enough else self._features.measured_at(frame, MEASURED_TO * tolerances)
        projected = self.rows.mapped(self.coordinates.along(frame).project)
        Z, attached = projected.sample(np.arange(self.n_rows))
        weights = self.comparison.weights.of(attached)
        exact = ExactMMD(Z, weights, self.comparison, self.bandwidth, self.factors)
        return Measurement.exact(exact.value(np.eye(Z.shape[1])))

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
        return LevelsTask(self, tolerances, solver, generator, callback).solve(start, pilot)

    def solve_pilot(
        self,
        tolerances: FloatArray,
        solver: Solver,
        start: Start,
        generator: np.random.Generator,
        callback: Callback | None,
    ) -> Solution:
        """Solve the problem on a sample, see `Posed.solve_pilot`."""
        return LevelsTask(self, tolerances, solver, generator, callback).solve_pilot(start)

    def remeasured(self, components: FloatArray) -> None:
        """Return None: `measure` was the last to look at the frame, and produced none of it."""

    @property
    def confirms_exactly(self) -> bool:
        """Whether answers are measured exactly."""
        return self.rows.n_rows**2 / 2 <= EXACT_PAIRS

    @cached_property
    def _features(self) -> Approximation:
        """The discrepancy of all rows in time linear in them."""
        kernel = self.bandwidth, self.factors
        return features_mmd(self.rows, self.coordinates, self.comparison, *kernel, seed=self.seed)

    @cached_property
    def _ledger(self) -> Ledger:
        return Ledger()

    def _problem(self, discrepancy: Discrepancy) -> FairSubspaceProblem:
        return FairSubspaceProblem(
            variances=self.axes.variances,
            discrepancy=discrepancy,
            n_components=self.n_components,
            rank=self.axes.rank,
            mean_differences=self.mean_differences,
        )


def prepare_many_rows(
    rows: Rows,
    comparison: Comparison | None,
    standardize: bool,
    request: AxesRequest,
    generator: np.random.Generator,
    feature_names: AnyArray | None = None,
    has_masses: bool = False,
) -> PreparedData:
    """Prepare rows in blocks, in two passes.

    Parameters
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    comparison : Comparison or None
        What is compared; None for plain PCA.
    standardize : bool
        Scale the columns to unit variance.
    request : AxesRequest
        Number of components, bandwidth and null axes.
    generator : numpy.random.Generator
        Draws the seed of samples.
    feature_names : ndarray of shape (p,), default=None
        Names of the columns, for messages.
    has_masses : bool, default=False
        Whether rows have masses.
    """
    n_components, bandwidth, factors = request.n_components, request.scales.bandwidth, request.scales.factors
    columns = RowWeights.of_strata(np.zeros((1, 0))) if comparison is None else comparison.columns
    summary = summarised(rows, standardize, columns, feature_names)
    scaling = summary.scaling
    axes = PrincipalAxes.of_covariance(summary.covariance, request.n_null, scaling.noise)
    if isinstance(bandwidth, str):
        leading = axes.axes[:, : min(n_components, axes.rank)] / scaling.scale[:, None]
        # Not a stratified sample: the median is one over pairs of rows as they come.
        chosen = rows_by_mass(rows.attached_column(MASS)) if has_masses else bandwidth_rows(rows.n_rows)
        plain, _ = rows.sample(chosen, Coordinates(scaling.mean, leading).project)
        bandwidth = median_bandwidth(plain)
    check_width(bandwidth, float(np.sqrt(axes.variances.sum())))
    levels = None
    if comparison is not None:
        levels = ManyRows(
            rows=rows,
            comparison=comparison,
            coordinates=_to_principal_axes(scaling, axes),
            axes=axes,
            mean_differences=axes.mean_differences(summary.weighted),
            bandwidth=bandwidth,
            factors=factors,
            n_components=n_components,
            seed=int(generator.integers(2**63)),
        )
    return PreparedData(scaling, axes, rows.n_rows, summary.mass, bandwidth, factors, n_components, "hermite", levels)


def _to_principal_axes(scaling: ColumnScaling, axes: PrincipalAxes) -> Coordinates:
    """Return the way from raw rows to principal axes; exact zeros on null axes and for constant columns."""
    matrix = axes.axes / scaling.scale[:, None]
    matrix[:, axes.rank :] = 0.0
    matrix[scaling.constant] = 0.0
    return Coordinates(scaling.mean, matrix)
