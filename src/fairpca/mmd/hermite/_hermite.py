"""The MMD^2 of rows projected to any number of dimensions, in time linear in the rows, by Hermite features."""
# SPDX-License-Identifier: MIT

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison
from fairpca.mmd._aligned import AlignedMMD
from fairpca.mmd._approximation import Measurement
from fairpca.mmd._coordinates import Coordinates, MeasuredRows
from fairpca.mmd._kernel import factor, weighted_form
from fairpca.mmd._moments import MomentHessian
from fairpca.mmd.exact import with_chart_term
from fairpca.mmd.hermite._basis import HermiteBasis
from fairpca.mmd.hermite._hessian import WidenedBasis, second_order_field, second_order_sums_of_block
from fairpca.mmd.hermite._passes import (
    Residuals,
    gradients_of_block,
    moments_of_block,
    moments_of_rows_of_block,
    residuals_of_block,
    values_of_block,
)
from fairpca.mmd.hermite._quadratic import QuadraticBasis
from fairpca.mmd.hermite._sample import Remainder, ResidualSample
from fairpca.rows import Partial, Rows

MAKING = 20
"""Multiply-adds in a matrix product that take as long as making one feature of one row."""

SEARCHED = 256
"""Features for derivatives: with a factor that makes h exact where it was measured they lead to the same subspace as
many more, which h itself takes."""


class HermiteMMD:
    r"""Discrepancies h_j(V) = <P_j, W'KW> of projected rows, with D features of the kernel.

    The kernel is a sum of products of eigenfunctions (see `HermiteBasis`), of which the D with the largest eigenvalues
    are kept. What they leave of the kernel at each row, r_i = 1 - |Phi(z_i)|^2, is added on the diagonal:

    .. math:: h_D = \sum_c |\sum_i w_{ic} \Phi(z_i)|^2 + \sum_{ic} w_{ic}^2 r_i.

    Without it h of a group of n_g rows would lack about r / n_g, which is as large as tolerances near the chance level.
    Hessians are those of the first sum.

    Parameters
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    coordinates : Coordinates
        From raw rows to the coordinates of the frames V.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    n_features : int, default=1000
        D, for values; derivatives around a frame take fewer, see `SEARCHED`.
    seed : int, default=0
        Draws the samples on which errors are estimated.

    Notes
    -----
    Every call fits the basis (rotation, spread, orders) to its frame, from a sample of rows. `anchored` fits it once
    and keeps it: h_D then is a smooth function of the matrix V, and `evaluate` has its exact
    derivatives. With a basis that stays, h_D(V O) differs from h_D(V) for rotations O by no more than the
    truncation error: a solver that retracts without rotating, as the polar retraction does, never notices.
    """

    def __init__(
        self,
        rows: Rows,
        coordinates: Coordinates,
        comparison: Comparison,
        bandwidth: float,
        n_features: int = 1000,
        seed: int = 0,
    ) -> None:
        self.n_measures = comparison.n_measures
        self.n_rows = rows.n_rows
        self.bandwidth = float(bandwidth)
        data = MeasuredRows(rows, coordinates, comparison, self.bandwidth)
        self.measured, self._sample = data.seen_from_the_bulk()
        self._basis: HermiteBasis | QuadraticBasis | None = None
        self.n_features = n_features
        self._seed = seed
        self._remainder = Remainder(self.measured, seed)
        self.factors: FloatArray = np.ones(self.n_measures)

    def anchored(self, V: FloatArray, known: FloatArray | None = None, n_features: int | None = None) -> "HermiteMMD":
        """Return the same discrepancy with the basis that suits V, and values that are exact there.

        What features leave out off the diagonal is a small share of h, and falls with it: values are multiplied by a
        factor. A constant would be more than small tolerances where V is unfair.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        known : ndarray of shape (n_measures,), default=None
            The vector h at V; by default that of the features.
        n_features : int, default=None
            Number of features, if it is to be another. Where there are more products of two coordinates than that, all
            of these are taken.
        """
        anchored = copy.copy(self)
        anchored.n_features = n_features or self.n_features
        Z, is_few = self._sample @ V, QuadraticBasis.count(V.shape[1]) <= anchored.n_features
        anchored._basis = HermiteBasis.fit(Z, anchored.n_features) if is_few else QuadraticBasis.fit(Z)
        anchored.factors = np.ones(self.n_measures)
        if known is not None:
            values = anchored.features_value(V)
            anchored.factors = np.divide(known, values, out=anchored.factors, where=(values > 0) & (known > 0))
        return anchored

    def around(self, V: FloatArray, known: FloatArray) -> AlignedMMD:
        """Return the discrepancy for use around V, see `Approximation`."""
        return AlignedMMD(self.anchored(V, known, min(self.n_features, SEARCHED)), V)

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "HermiteMMD":
        """Return the discrepancy for frames in a span, see `SmoothMMD`."""
        inside = copy.copy(self)
        inside.measured, inside._sample = rows, rows.spaced()
        inside._remainder = Remainder(rows, self._seed)
        return inside

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at V with its errors, see `Approximation`."""
        basis = self._expansion_at(V)
        return self._remainder.measured(V, basis, self._residuals(V, basis), error)

    def features_value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_D) at V, without factors.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        basis = self._basis_at(V)
        return self._values(self._frame(V, basis), basis)[0]

    def _values(self, frame: Coordinates, basis: HermiteBasis | QuadraticBasis) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_D) without factors, and the moments of the features."""
        n_measures, forms = self.n_measures, self.measured.comparison.forms
        sums = self._total(values_of_block, frame, basis, forms)
        moments = sums[:-n_measures].reshape(-1, basis.n_features)
        return self.measured.by_measure(moments @ moments.T) + sums[-n_measures:], moments

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_D) at V, times the factors.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        return self.factors * self.features_value(V)

    def value_and_bound(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best estimate of the vector h at V and bounds on its errors, see `Remainder.value_and_bound`."""
        return self._remainder.value_and_bound(self._residuals(V, self._expansion_at(V)))

    def value_and_error(self, V: FloatArray, sample: ResidualSample) -> tuple[FloatArray, FloatArray]:
        """Return the vector h at V and its errors, given a `residual_sample`, see `Remainder.value_and_error`."""
        basis = self._expansion_at(V)
        return self._remainder.value_and_error(V, basis, self._residuals(V, basis), sample)

    def residual_sample(self, generator: np.random.Generator, part_rows: int) -> ResidualSample:
        """Draw a sample of the rows for `value_and_error`.

        Parameters
        ----------
        generator : numpy.random.Generator
            Draws it.
        part_rows : int
            Rows of each of its parts. The errors fall, and the time grows with the square, of this.
        """
        return ResidualSample.draw(self.measured, generator, part_rows)

    def _residuals(self, V: FloatArray, basis: HermiteBasis) -> Residuals:
        """Return the sums of what the features leave out."""
        return self.measured.rows.total(
            residuals_of_block, self.measured.comparison.columns, self._frame(V, basis), basis
        )

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_D), times the factors, and the Euclidean gradient of each entry, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The values.
        gradients : ndarray of shape (n_measures, r, d)
            Their gradients with respect to V.
        """
        basis = self._basis_at(V)
        frame = self._frame(V, basis)
        values, moments = self._values(frame, basis)
        total = self._total(gradients_of_block, frame, basis, 2 * moments, self.measured.comparison.forms)
        gradients = self.measured.gradients(total, basis.rotation)
        return self.factors * values, self.factors[:, None, None] * gradients

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_D,j in the chart B -> V + QB, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Orthonormal frame.
        Q : ndarray of shape (r, q)
            Orthonormal complement of V, or part of it.
        gradient : ndarray of shape (r, d)
            Euclidean gradient of the weighted sum at V.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j, none below 0; by default all 1.
        single_precision : bool, default=False
            Compute in float32, twice as fast: enough for the metric of a quasi-Newton method.

        Returns
        -------
        hessian : ndarray of shape (d * q, d * q)
            Riemannian Hessian on the Grassmann manifold; column a of B has the indices a q, ..., (a + 1) q - 1.
        """
        basis = self._expansion_at(V)
        frame, along = self._frame(V, basis), self.measured.along(Q, np.eye(Q.shape[1])).matrix
        mixing = factor(weighted_form(self.measured.comparison.forms, multipliers))
        weights = self.measured.comparison.weights.mixed(mixing)
        moments = self.measured.rows.total(moments_of_block, weights, frame, basis)
        field, widened = second_order_field(2 * moments, basis), WidenedBasis.of(basis)
        sums = self.measured.rows.total(
            second_order_sums_of_block, weights, frame, widened, along, field, single_precision
        )
        size = V.shape[1] * Q.shape[1]
        return with_chart_term(sums.hessian(widened).reshape(size, size), V, Q.shape[1], gradient)

    def moment_hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        variances: FloatArray,
        multipliers: FloatArray | None = None,
        bandwidths: Sequence[float] | None = None,
    ) -> MomentHessian:
        """Return the Hessian by two moments, see `MomentHessian`, in one pass.

        Parameters
        ----------
        V, Q, multipliers
            See `hessian`.
        variances : ndarray of shape (d,)
            Of the rows along the columns of V.
        bandwidths : sequence of float, default=None
            Those of the kernels whose mean is meant; by default its own.
        """
        coordinates, mixing = self.measured.coordinates, weighted_form(self.measured.comparison.forms, multipliers)
        weights = self.measured.comparison.weights.mixed(factor(mixing))
        total = self.measured.rows.total(moments_of_rows_of_block, weights, coordinates.along(V))
        sums = (Q.T @ (coordinates.matrix.T @ total)).reshape(Q.shape[1], weights.n_columns, -1)
        return MomentHessian.of(sums, variances, [self.bandwidth] if bandwidths is None else bandwidths)

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost, in multiply-adds of float32.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        n_weights = self.measured.comparison.weights.n_columns
        # Twice: products in float64 take twice as long.
        return float(self.n_rows * 2 * self._basis_at(V).n_features * (MAKING + (1 + V.shape[1]) * n_weights))

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian at V costs, in float32 and the chart B -> V + QB.

        Parameters
        ----------
        V, Q : ndarray of shape (r, d) and (r, q)
            See `hessian`.
        """
        basis, k = self._expansion_at(V), self.measured.comparison.weights.n_columns
        D, d, q = basis.n_features, V.shape[1], Q.shape[1]
        pairs = d * (d + 1) / 2
        moments = WidenedBasis.of(basis).n_features * (MAKING + k * q)
        return float(self.n_rows * (moments + D * k * (1 + d + pairs) + pairs * q * (q + 1) / 2))

    def _basis_at(self, V: FloatArray) -> HermiteBasis | QuadraticBasis:
        """Return the basis for values and gradients."""
        return self._basis or self._expansion_at(V)

    def _expansion_at(self, V: FloatArray) -> HermiteBasis:
        """Return the basis for what takes single features."""
        kept = self._basis if isinstance(self._basis, HermiteBasis) else None
        return kept or HermiteBasis.fit(self._sample @ V, self.n_features)

    def _frame(self, V: FloatArray, basis: HermiteBasis | QuadraticBasis) -> Coordinates:
        return self.measured.along(V, basis.rotation)

    def _total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return a sum over the rows with their weights."""
        return self.measured.rows.total(function, self.measured.comparison.weights, *arguments)


class ScalesMMD:
    r"""Discrepancies h_j = (1 / m) sum_l h_jl, where h_jl has a kernel of bandwidth sigma_l.

    Parameters
    ----------
    scales : sequence of HermiteMMD
        The h_l.
    """

    def __init__(self, scales: Sequence[HermiteMMD]) -> None:
        self._scales = scales
        # The narrowest kernel asks most of the origin.
        narrowest = min(scales, key=lambda each: each.bandwidth)
        self.measured, self.n_measures, self.n_rows = narrowest.measured, narrowest.n_measures, narrowest.n_rows

    def around(self, V: FloatArray, known: FloatArray) -> AlignedMMD:
        """Return the discrepancy for use around V, see `Approximation`.

        Features leave out more of the narrower kernels: each has a factor of its own, by an estimate of its part of h.
        """
        parts = [each.measured_at(V, np.full(self.n_measures, np.inf)).values for each in self._scales]
        total = np.mean(parts, axis=0)
        share = np.divide(known, total, out=np.ones_like(total), where=(total > 0) & (known > 0))
        scales = [
            each.anchored(V, share * part, min(each.n_features, SEARCHED))
            for each, part in zip(self._scales, parts, strict=True)
        ]
        return AlignedMMD(ScalesMMD(scales), V)

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "ScalesMMD":
        """Return the discrepancy for frames in a span, see `SmoothMMD`."""
        return ScalesMMD([each.within(replace(rows, bandwidth=each.bandwidth), axes) for each in self._scales])

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at V with its errors, see `Approximation`."""
        parts = [each.measured_at(V, error) for each in self._scales]
        values, errors = (np.mean(each, axis=0) for each in zip(*((p.values, p.errors) for p in parts), strict=True))
        return Measurement(values, errors)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""
        return np.asarray(np.mean([each.value(V) for each in self._scales], axis=0))

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, r, d)."""
        values, gradients = zip(*(each.evaluate(V) for each in self._scales), strict=True)
        return np.mean(values, axis=0), np.mean(gradients, axis=0)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `HermiteMMD.hessian`."""
        arguments = V, Q, gradient, multipliers, single_precision
        return np.asarray(np.mean([each.hessian(*arguments) for each in self._scales], axis=0))

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> MomentHessian:
        """Return the Hessian by two moments, which all scales share, see `HermiteMMD.moment_hessian`."""
        bandwidths = [each.bandwidth for each in self._scales]
        return self._scales[0].moment_hessian(V, Q, variances, multipliers, bandwidths)

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost."""
        return sum(each.gradient_work(V) for each in self._scales)

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian at V in the chart B -> V + QB costs."""
        return sum(each.hessian_work(V, Q) for each in self._scales)


def features_mmd(
    rows: Rows,
    coordinates: Coordinates,
    comparison: Comparison,
    bandwidth: float,
    factors: Sequence[float] = (1.0,),
    n_features: int = 1000,
    seed: int = 0,
) -> HermiteMMD | ScalesMMD:
    """Return the discrepancy of rows in time linear in them, for one bandwidth or several.

    Parameters
    ----------
    rows, coordinates, comparison, n_features, seed
        See `HermiteMMD`.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    scales = [HermiteMMD(rows, coordinates, comparison, f * bandwidth, n_features, seed) for f in factors]
    return scales[0] if len(scales) == 1 else ScalesMMD(scales)
