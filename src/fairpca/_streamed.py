"""Many rows, seen in blocks: the fair subspace problem on a sample and on all of them."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._axes import AxesRequest, PrincipalAxes
from fairpca._scaling import ColumnScaling
from fairpca._typing import AnyArray, FloatArray
from fairpca.measures import SignedMeasures, merge_equal_rows
from fairpca.mmd import Coordinates, ExactMMD, FourierMMD, HermiteMMD, bandwidth_rows, median_bandwidth
from fairpca.mmd._aligned import AlignedMMD
from fairpca.mmd._hermite_residual import ResidualSample
from fairpca.mmd._two_level import TwoLevelMMD
from fairpca.problem import SHARE_MEASURED_TO, FairSubspaceProblem, Measurement
from fairpca.rows import (
    ArrayRows,
    ColumnSummary,
    DaskRows,
    Rows,
    check_finite,
    dask_table,
    normalised,
    parity_weights,
    sums_of_block,
)

SAMPLE_ROWS = 4096
"""Rows of the sample on which a fit begins, and whose Hessian it uses on all rows."""

N_FEATURES = 1000
"""Hermite features; what they leave out is estimated, or measured exactly, and taken into account."""

EXACT_PAIRS = {"fourier": 2e9, "hermite": 5e9}
"""Pairs of rows up to which an answer is confirmed exactly, in some seconds."""

THINNED_NUMBERS = 2**22
"""Numbers at most in the part of the rows that a fit goes through between the sample and all rows, 32 MB."""

LEAST_THINNED = {"fourier": 16 * SAMPLE_ROWS, "hermite": 10_000}
"""Rows from which on such a part pays: Fourier's gradients of fewer are hardly slower than those of the sample."""

FINEST = 1e-12
"""Best accuracy asked of Fourier features: rounding hides what is beyond."""

PART_ROWS = (4096, 16384)
"""Rows of the parts of the sample that tells what Hermite features leave out: the second where the first is too few."""


def dask_rows_and_measures(X: Any, sensitive_features: Any) -> tuple[DaskRows, SignedMeasures]:
    """Return a Dask table as rows, and what their weights compare.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.
    sensitive_features : Dask series or array, or array-like, of shape (n,)
        Two distinct labels.
    """
    if sensitive_features is None:
        raise ValueError("sensitive_features=None: with a Dask table FairPCA needs the groups; plain PCA is Dask-ML's.")
    table = dask_table(X, sensitive_features)
    first, second = table.labels
    rows = DaskRows(table.X, parity_weights(table.codes, table.counts))
    measures = SignedMeasures(np.zeros((0, 1)), np.zeros(1, dtype=np.int64), (f"{first} against {second}",))
    return rows, measures


@dataclass(frozen=True)
class StreamedData:
    """Rows in blocks, their principal axes, and the fair subspace problem on them.

    Attributes
    ----------
    rows : Rows
        Raw rows and weights.
    measures : SignedMeasures
        Whose columns the weights are; its own weights are not used.
    method : {"fourier", "hermite"}
        How the discrepancy of all rows is computed.
    summary : ColumnSummary
        Means, scales and covariance of the columns.
    axes : PrincipalAxes
        Principal axes of the scaled columns.
    bandwidth : float
        sigma.
    n_components : int
        d.
    sample : ndarray of shape (n_sample, p)
        A stratified sample of raw rows.
    sample_weights : ndarray of shape (n_sample, c)
        Its weights, normalised.
    seed : int
        With which further samples are drawn.
    """

    rows: Rows
    measures: SignedMeasures
    method: str
    summary: ColumnSummary
    axes: PrincipalAxes
    bandwidth: float
    n_components: int
    sample: AnyArray
    sample_weights: FloatArray
    seed: int

    @classmethod
    def of(
        cls,
        rows: Rows,
        measures: SignedMeasures,
        method: str,
        standardize: bool,
        request: AxesRequest,
        generator: np.random.Generator,
        feature_names: AnyArray | None = None,
    ) -> "StreamedData":
        """Prepare rows, in two passes.

        Parameters
        ----------
        rows : Rows
            Raw rows and weights.
        measures : SignedMeasures
            Owners and names of the weight columns.
        method : {"fourier", "hermite"}
            How the discrepancy of all rows is computed.
        standardize : bool
            Scale the columns to unit variance.
        request : AxesRequest
            Number of components, bandwidth and null axes.
        generator : numpy.random.Generator
            Draws the sample.
        feature_names : ndarray of shape (p,), default=None
            Names of the columns, for messages.
        """
        n_components, bandwidth = request.n_components, request.bandwidth
        summary = summarised(rows, standardize, feature_names)
        scaling = summary.scaling
        axes = PrincipalAxes.of_covariance(summary.covariance, request.n_null, scaling.noise)
        sample, sample_weights = _stratified_sample(rows, SAMPLE_ROWS, generator)
        if isinstance(bandwidth, str):
            leading = axes.axes[:, : min(n_components, axes.rank)] / scaling.scale[:, None]
            # Not the stratified sample: the median is one over pairs of rows as they come.
            plain, _ = rows.sample(bandwidth_rows(rows.n_rows), Coordinates(scaling.mean, leading).project)
            bandwidth = median_bandwidth(plain)
        return cls(
            rows=rows,
            measures=measures,
            method=method,
            summary=summary,
            axes=axes,
            bandwidth=bandwidth,
            n_components=n_components,
            sample=sample,
            sample_weights=sample_weights,
            seed=int(generator.integers(2**63)),
        )

    @cached_property
    def coordinates(self) -> Coordinates:
        """From raw rows to principal axes; exact zeros on null axes and for constant columns."""
        matrix = self.axes.axes / self.scaling.scale[:, None]
        matrix[:, self.axes.rank :] = 0.0
        matrix[self.scaling.constant] = 0.0
        return Coordinates(self.scaling.mean, matrix)

    @property
    def scaling(self) -> ColumnScaling:
        """What is subtracted from the columns and what divides them."""
        return self.summary.scaling

    @cached_property
    def coarse(self) -> FairSubspaceProblem:
        """The problem on the sample, with the principal axes and variances of all rows."""
        return self._problem(self._coarse_discrepancy)

    @cached_property
    def _coarse_discrepancy(self) -> ExactMMD:
        measures = SignedMeasures(self.sample_weights, self.measures.owner, self.measures.names)
        distinct, merged = merge_equal_rows(self.coordinates.project(self.sample), measures)
        return ExactMMD(distinct, merged, self.bandwidth)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def n_sample(self) -> int:
        """Number of rows of the sample."""
        return len(self.sample)

    @cached_property
    def thinned(self) -> "StreamedData | None":
        """The same on a random part of the rows, where it is much larger than the sample and much smaller than all."""
        size = min(16 * SAMPLE_ROWS, THINNED_NUMBERS // self.rows.n_columns, self.rows.n_rows // 4)
        if size < LEAST_THINNED[self.method]:
            return None
        part = _stratified_sample(self.rows, size, np.random.default_rng([self.seed, size]))
        return replace(self, rows=ArrayRows(*part))

    def fine(self, frame: FloatArray, tolerance: float, known: FloatArray) -> FairSubspaceProblem:
        """Return the problem on all rows, for use around a frame where h is known.

        Parameters
        ----------
        frame : ndarray of shape (r, k)
            Where the approximation of the kernel is chosen.
        tolerance : float
            tau; the accuracy follows from it.
        known : ndarray of shape (n_measures,)
            The vector h there. What Hermite features leave out of it is added as a constant.
        """
        discrepancy = self._approximation(tolerance)
        if isinstance(discrepancy, FourierMMD):
            return self._problem(TwoLevelMMD(discrepancy.anchored(frame), self._coarse_discrepancy))
        anchored = discrepancy.anchored(frame)
        shifted = discrepancy.anchored(frame, known - anchored.features_value(frame))
        return self._problem(TwoLevelMMD(AlignedMMD(shifted, frame), self._coarse_discrepancy))

    def estimate(self, frame: FloatArray, tolerance: float) -> Measurement:
        """Return the vector h at a frame in time linear in the rows, with bounds on its errors."""
        return self._estimate(frame, tolerance, PART_ROWS[0])

    def _estimate(self, frame: FloatArray, tolerance: float, part_rows: int) -> Measurement:
        approximation = self._approximation(tolerance)
        if isinstance(approximation, FourierMMD):
            return Measurement(*approximation.value_and_bound(frame))
        return Measurement(*approximation.value_and_error(frame, self._residual_sample(approximation, part_rows)))

    def _residual_sample(self, hermite: HermiteMMD, part_rows: int) -> ResidualSample:
        if part_rows not in self._residual_samples:
            generator = np.random.default_rng([self.seed, part_rows])
            self._residual_samples[part_rows] = hermite.residual_sample(generator, part_rows)
        return self._residual_samples[part_rows]

    @cached_property
    def _residual_samples(self) -> dict[int, ResidualSample]:
        """Those drawn so far, by the rows of a part."""
        return {}

    def _approximation(self, tolerance: float) -> FourierMMD | HermiteMMD:
        """Return the discrepancy of all rows in time linear in them."""
        if tolerance not in self._approximations:
            self._approximations[tolerance] = self._new_approximation(tolerance)
        return self._approximations[tolerance]

    @cached_property
    def _approximations(self) -> dict[float, FourierMMD | HermiteMMD]:
        """Those made so far, by tolerance: each begins with a pass over the rows."""
        return {}

    def _new_approximation(self, tolerance: float) -> FourierMMD | HermiteMMD:
        arguments = (self.rows, self.coordinates, self.measures.owner, self.measures.n_measures, self.bandwidth)
        if self.method == "fourier":
            return FourierMMD(*arguments, accuracy=max(1e-3 * tolerance, FINEST))
        return HermiteMMD(*arguments, n_features=N_FEATURES)

    @property
    def confirms_exactly(self) -> bool:
        """Whether answers are measured exactly."""
        return self.rows.n_rows**2 / 2 <= EXACT_PAIRS[self.method]

    def measure(self, frame: FloatArray, tolerance: float) -> Measurement:
        """Return the vector h at a frame: exact, or with a bound on its error where rows are too many for that."""
        if not self.confirms_exactly:
            return self._sharpest_estimate(frame, tolerance)
        projected = self.rows.total(projections_of_block, self.coordinates.along(frame))
        Z, weights = np.vstack(projected.projections), np.vstack(projected.weights)
        measures = SignedMeasures(weights, self.measures.owner, self.measures.names)
        values = ExactMMD(Z, measures, self.bandwidth).value(np.eye(Z.shape[1]))
        return Measurement(values, np.zeros_like(values))

    def _sharpest_estimate(self, frame: FloatArray, tolerance: float) -> Measurement:
        """Return an estimate whose error is small against the tolerance, or the best there is."""
        for part_rows in PART_ROWS:
            measured = self._estimate(frame, tolerance, part_rows)
            if measured.error <= SHARE_MEASURED_TO * tolerance:
                break
        return measured

    def _problem(self, discrepancy: ExactMMD | TwoLevelMMD) -> FairSubspaceProblem:
        return FairSubspaceProblem(
            variances=self.axes.variances,
            discrepancy=discrepancy,
            n_components=self.n_components,
            rank=self.axes.rank,
            mean_differences=self.axes.mean_differences(self.summary.weighted),
        )


def summarised(rows: Rows, standardize: bool, feature_names: AnyArray | None = None) -> ColumnSummary:
    """Return means, scales and covariance of columns; numbers that are not finite are refused.

    Parameters
    ----------
    rows : Rows
        Raw rows.
    standardize : bool
        Scale the columns to unit variance.
    feature_names : ndarray of shape (p,), default=None
        Names of the columns, for messages.
    """
    sums = rows.total(sums_of_block)
    if isinstance(rows, DaskRows) and not np.isfinite(sums.smallest + sums.largest).all():
        check_finite(rows, feature_names)
    return ColumnSummary.of(rows, sums, standardize)


def _stratified_sample(rows: Rows, size: int, generator: np.random.Generator) -> tuple[AnyArray, FloatArray]:
    """Return about `size` random rows, every group with a fair share, and weights that compare the same as all do."""
    drawn = rows.stratified_draw(size, generator)
    X, weights = rows.sample(drawn.indices)
    return X, normalised(weights * drawn.factors[:, None])


@dataclass(frozen=True)
class Projections:
    """Projected rows and their weights, block after block."""

    projections: list[FloatArray]
    weights: list[AnyArray]

    def __add__(self, other: "Projections") -> "Projections":
        return Projections(self.projections + other.projections, self.weights + other.weights)


def projections_of_block(X: AnyArray, weights: AnyArray, coordinates: Coordinates) -> Projections:
    """Return the projected rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Raw rows.
    weights : ndarray of shape (n_block, c)
        Their weights.
    coordinates : Coordinates
        What they are projected to.
    """
    return Projections([coordinates.project(X)], [np.asarray(weights)])
