"""What many rows ask of a discrepancy, one for frames in a span, and one that takes its Hessian from a sample."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.problem import Discrepancy, HessianOperator

MEASURED_TO = 0.01
"""Error to which h is measured, as a share of what it is compared with: a tolerance, or a chance level."""


AGREEMENT = 0.1
"""Relative difference of two Hessians that shape steps alike: a metric that is wrong by a tenth costs hardly a step."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """The vector h at a frame and how far each entry can be from the exact one.

    Attributes
    ----------
    values, errors : ndarray of shape (n_measures,)
        The h_j and bounds on their errors; 0 where they are exact.
    """

    values: FloatArray
    errors: FloatArray

    @classmethod
    def exact(cls, values: FloatArray) -> "Measurement":
        """Take values that are exact."""
        return cls(values, np.zeros_like(values))

    @property
    def at_most(self) -> FloatArray:
        """What the h_j do not exceed."""
        return self.values + self.errors


class SmoothMMD(Protocol):
    """A discrepancy around a frame, with derivatives; its Hessian may be less accurate than its gradients.

    Attributes
    ----------
    n_measures, n_rows : int
        Length of the vector h, and number of rows.
    measured : MeasuredRows
        The rows.
    """

    n_measures: int
    n_rows: int
    measured: MeasuredRows

    def within(self, rows: MeasuredRows, axes: FloatArray) -> Self:
        """Return the same for frames in a span: at V it is what this one is at axes @ V.

        Parameters
        ----------
        rows : MeasuredRows
            The same rows, seen along the axes.
        axes : ndarray of shape (r, k)
            The axes.
        """

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, r, d)."""

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost, in multiply-adds of float32 or what takes as long."""

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `ExactMMD.hessian`."""

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return the Hessian by two moments, see `ExactMMD.moment_hessian`."""

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian at V in the chart B -> V + QB costs, in the same unit."""


class FollowingMMD(SmoothMMD, Protocol):
    """One that follows a solver from chart to chart."""

    def realign(self, V: FloatArray) -> None:
        """Begin a chart around V, see `AlignedMMD`."""


class Approximation(Protocol):
    """The discrepancies of all rows, approximately."""

    def around(self, V: FloatArray, known: FloatArray) -> FollowingMMD:
        """Return a smooth function of the subspace for use around a frame.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            The frame.
        known : ndarray of shape (n_measures,)
            The vector h there, which the function is to have there too, unless it is as accurate.
        """

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at a frame, with bounds on its errors.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            The frame.
        error : ndarray of shape (n_measures,)
            What errors are small enough; more work is done where they are larger, if that is of use.
        """


class DiscrepancyAlong:
    """Any discrepancy for frames in the span of some axes: at V it is what it is at axes @ V.

    Parameters
    ----------
    discrepancy : Discrepancy
        That of frames in all coordinates.
    axes : ndarray of shape (p, k)
        Orthonormal axes of the span.
    """

    def __init__(self, discrepancy: Discrepancy, axes: FloatArray) -> None:
        self._whole = discrepancy
        self._axes = axes
        self.n_measures = discrepancy.n_measures
        self.n_rows = discrepancy.n_rows
        self.is_exact = discrepancy.is_exact
        self.has_exact_hessian = discrepancy.has_exact_hessian
        self.hessian_rows = discrepancy.hessian_rows

    def along(self, axes: FloatArray) -> Discrepancy:
        """Return the same for frames in a span within this one."""
        return DiscrepancyAlong(self._whole, self._axes @ axes)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""
        return self._whole.value(self._axes @ V)

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, k, d)."""
        values, gradients = self._whole.evaluate(self._axes @ V)
        return values, self._axes.T @ gradients

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB."""
        axes, whole = self._axes, self._whole
        hessian = whole.hessian(axes @ V, axes @ Q, axes @ gradient, multipliers, single_precision)
        self.has_exact_hessian, self.hessian_rows = whole.has_exact_hessian, whole.hessian_rows
        return hessian

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return the Hessian by two moments."""
        self.has_exact_hessian, self.hessian_rows = self._whole.has_exact_hessian, self._whole.hessian_rows
        return self._whole.moment_hessian(self._axes @ V, self._axes @ Q, variances, multipliers)

    def isolated_directions(self, V: FloatArray, smallest: FloatArray) -> FloatArray:
        """Return unit vectors towards rows that stand alone, as far as they lie in the span."""
        directions = self._axes.T @ self._whole.isolated_directions(self._axes @ V, smallest)
        return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)


@dataclass
class Ledger:
    """What is known of the rows so far.

    Attributes
    ----------
    gradients : int or None
        How many were taken since the first Hessian of a sample; None before it.
    features_agree : bool or None
        Whether features have the Hessian of the sample; None before they were compared.
    """

    gradients: int | None = None
    features_agree: bool | None = None


class TwoLevelMMD:
    """Values and gradients of all rows; Hessians of a sample while these serve, then of all rows.

    A Hessian shapes the steps of a solver but not where they end: the one of a few thousand rows, which costs as much
    as a few gradients of many rows, often serves as well. Where the groups differ a little in every direction it does
    not: what the sample shows then is its own noise, and steps are many. So the first Hessian is the sample's, unless
    one of all rows costs no more. Once the gradients since then have cost as much as a Hessian of all rows, all others
    are of all rows: however many steps were to come, that is about twice the least work at most. A ledger keeps count
    from one fit of the same rows to the next.

    Parameters
    ----------
    fine : FollowingMMD
        The discrepancy of all rows.
    curvature : FollowingMMD
        What has the Hessian of all rows, or, where they are very many, of a part of them: it shapes steps only.
    coarse : Discrepancy
        The exact discrepancy of a sample, in the same coordinates and with the same bandwidth.
    ledger : Ledger
        What has been done on these rows so far.
    whole : TwoLevelMMD, default=None
        That of all axes where this is one of frames in a span; it learns whose Hessians were used.

    Attributes
    ----------
    is_exact : bool
        False: away from where h is known it is approximate.
    has_exact_hessian : bool
        Whether the last Hessian was that of all rows.
    hessian_rows : int
        Rows of the last Hessian.
    """

    is_exact = False

    def __init__(
        self,
        fine: FollowingMMD,
        curvature: FollowingMMD,
        coarse: Discrepancy,
        ledger: Ledger,
        whole: "TwoLevelMMD | None" = None,
    ) -> None:
        self.n_measures = fine.n_measures
        self.n_rows = fine.n_rows
        self.value = fine.value
        self.isolated_directions = coarse.isolated_directions
        self.has_exact_hessian = False
        self.hessian_rows = coarse.n_rows
        self._fine = fine
        self._curvature = curvature
        self._coarse = coarse
        self._ledger = ledger
        self._whole = whole

    def along(self, axes: FloatArray) -> Discrepancy:
        """Return the same for frames in a span, where it pays with the coordinates of all rows along its axes.

        A gradient of a wide table is a pass over all of its columns; a search on a span takes several.
        """
        measured = self._fine.measured
        if not measured.may_be_within(axes.shape[1]):
            return DiscrepancyAlong(self, axes)
        fine = curvature = self._fine.within(measured.within(axes), axes)
        if self._curvature is not self._fine:
            curvature = self._curvature.within(self._curvature.measured.within(axes), axes)
        return TwoLevelMMD(fine, curvature, self._coarse.along(axes), self._ledger, self)

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) of all rows and the gradients."""
        if self._ledger.gradients is not None:
            self._ledger.gradients += 1
        return self._fine.evaluate(V)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `ExactMMD.hessian`."""
        for each in (self._fine, self._curvature):
            each.realign(V)
        source = self._source(V, Q)
        self._keep(source is not self._coarse and source.n_rows == self.n_rows, source.n_rows)
        return source.hessian(V, Q, gradient, multipliers, single_precision)

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return the Hessian of all rows by two moments, in one pass."""
        for each in (self._fine, self._curvature):
            each.realign(V)
        self._keep(True, self.n_rows)
        return self._fine.moment_hessian(V, Q, variances, multipliers)

    def _keep(self, is_exact: bool, n_rows: int) -> None:
        """Keep whose Hessian was the last."""
        self.has_exact_hessian, self.hessian_rows = is_exact, n_rows
        if self._whole is not None:
            self._whole._keep(is_exact, n_rows)

    def _source(self, V: FloatArray, Q: FloatArray) -> SmoothMMD | Discrepancy:
        """Return whose Hessian is next."""
        work = self._curvature.hessian_work(V, Q)
        if work <= sample_work(self._coarse.n_rows, V.shape[1], Q.shape[1]):
            return self._curvature
        if self._ledger.gradients is None:
            self._ledger.gradients = 0
            return self._coarse
        paid = self._ledger.gradients * self._fine.gradient_work(V) >= work
        return self._curvature if paid else self._coarse


class FeatureHessianMMD:
    """The exact discrepancy of a sample, whose Hessians are those of features if these agree.

    A Hessian shapes the steps of a solver but not where they end. An exact one takes a product with the kernel matrix
    for each pair of components. The first is made both ways: where rows have heavy tails, features leave out too much.

    Parameters
    ----------
    exact : Discrepancy
        The discrepancy.
    features : SmoothMMD
        That of the same rows with few features, which are fitted to each frame anew.
    ledger : Ledger
        What is known of the rows.
    """

    is_exact = True
    has_exact_hessian = True

    def __init__(self, exact: Discrepancy, features: SmoothMMD, ledger: Ledger) -> None:
        self.n_measures, self.n_rows, self.hessian_rows = exact.n_measures, exact.n_rows, exact.n_rows
        self.value, self.evaluate = exact.value, exact.evaluate
        self.isolated_directions = exact.isolated_directions
        self._exact, self._features, self._ledger = exact, features, ledger

    def along(self, axes: FloatArray) -> "FeatureHessianMMD":
        """Return the same for frames in a span."""
        features = self._features.within(self._features.measured.within(axes), axes)
        return FeatureHessianMMD(self._exact.along(axes), features, self._ledger)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `ExactMMD.hessian`."""
        arguments = V, Q, gradient, multipliers, single_precision
        if self._ledger.features_agree:
            return self._features.hessian(*arguments)
        exact = self._exact.hessian(*arguments)
        if self._ledger.features_agree is None and exact.size > 0:
            difference = np.linalg.norm(self._features.hessian(*arguments) - exact)
            self._ledger.features_agree = bool(difference <= AGREEMENT * np.linalg.norm(exact))
        return exact

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return the Hessian by two moments."""
        return self._exact.moment_hessian(V, Q, variances, multipliers)


def sample_work(n_rows: int, d: int, q: int) -> float:
    """Return the multiply-adds of the product with the kernel matrix that the Hessian of a sample takes.

    Parameters
    ----------
    n_rows : int
        Rows of the sample.
    d, q : int
        Components, and directions of the chart.
    """
    return float(n_rows) ** 2 * (1 + d + d * (d + 1) / 2 + q * (1 + d))
