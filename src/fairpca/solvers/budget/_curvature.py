"""Second-order models of the Lagrangian in a chart."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.lapack import dsyevr

from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._metric import GROWTH, Metric
from fairpca.solvers.budget._chart import Chart, ChartPoint
from fairpca.solvers.budget._lagrangian import Lagrangian

DEPENDENT = 1e-8
"""Length of what others leave of a unit vector below which it depends on them."""

MOST_DENSE = 1500
"""Coordinates up to which the Hessian is built: 18 MB, and factored in a twentieth of a second."""

FEW_COORDINATES = 128
"""Coordinates up to which the complement of a frame need not lie in Ritz axes, which would take as long as all else. Of
more the shifts of metrics, in units of the diagonal there, suit strict tolerances better: Adult with ten components
takes 1,370 instead of 1,570 gradients at 1e-6, and keeps 0.1 points more. With more than `MOST_DENSE` the leading
directions are the last of the Ritz axes, those of most variance."""


@dataclass(frozen=True, eq=False)
class KnownStep:
    """A Newton step of a Lagrangian without springs that took no shift."""

    point: ChartPoint
    multipliers: FloatArray
    metric: Metric
    step: FloatArray


@dataclass(frozen=True, eq=False)
class Model:
    """A chart with the Hessians of variance and of sum_j lambda_j h_j at its centre.

    With more than `MOST_DENSE` coordinates the discrepancy's Hessian is known on the directions of Q with most variance
    only. Along the others rows hardly move, so there the variance's own Hessian says nearly all.

    Attributes
    ----------
    chart : Chart
        The chart.
    leading : ndarray of int of shape (k,)
        Coordinates on which the Hessian is known.
    variance_diagonal : ndarray of shape (dimension,) or None
        Diagonal of the variance's Hessian on all coordinates, where these are more.
    variance_blocks : ndarray of shape (d, k / d, k / d)
        Hessian of the variance share there, which does not mix components.
    discrepancy_hessian : ndarray of shape (k, k)
        Hessian of sum_j lambda_j h_j there.
    mixture : ndarray of shape (n_measures,)
        lambda, which sum to 1.
    sizes : ndarray of shape (n_measures,)
        The h_j at the centre.
    """

    chart: Chart
    leading: IntArray
    variance_diagonal: FloatArray | None
    variance_blocks: FloatArray
    discrepancy_hessian: FloatArray
    mixture: FloatArray
    sizes: FloatArray
    _last_step: list["KnownStep"] = field(default_factory=list, init=False)

    @classmethod
    def around(
        cls, here: Evaluation, problem: FairSubspaceProblem, multipliers: FloatArray, single_precision: bool = False
    ) -> "View":
        """Build the model around an evaluated frame and return it with the centre of its chart.

        Parameters
        ----------
        here : Evaluation
            The frame, on the live axes.
        problem : FairSubspaceProblem
            The problem.
        multipliers : ndarray of shape (n_measures,)
            In which proportion the h_j matter, none below 0.
        single_precision : bool, default=False
            Compute the discrepancy's Hessian in float32.
        """
        d = here.point.shape[1]
        n_directions = problem.rank - d
        first = n_directions - min(n_directions, max(1, MOST_DENSE // d))
        chart = Chart.around(here.point, problem.shares, problem.rank, in_ritz_axes=n_directions * d > FEW_COORDINATES)
        centre = here.rotated(chart.rotation)
        leading = np.arange(chart.dimension).reshape(d, n_directions)[:, first:].ravel()
        total = float(multipliers.sum())
        mixture = multipliers / total if total > 0 else np.full(len(multipliers), 1.0 / len(multipliers))
        hessian = problem.hessian(centre, chart.Q[:, first:], mixture, single_precision)
        diagonal = chart.variance_diagonal if first else None
        model = cls(chart, leading, diagonal, chart.variance_blocks(first), hessian, mixture, here.discrepancies)
        return model, chart.at(np.zeros(chart.dimension)).read(centre)

    def lagrangian_hessian(self, multipliers: FloatArray) -> FloatArray:
        """Return the Hessian of -variance + sum_j mu_j h_j on the leading coordinates.

        Of other proportions than those it was made for it knows the size: the mixture is scaled to weigh as much.
        """
        known = float(self.mixture @ self.sizes)
        scale = float(multipliers @ self.sizes) / known if known > 0 else float(multipliers.sum())
        hessian = (multipliers[0] if len(multipliers) == 1 else scale) * self.discrepancy_hessian
        d, q = self.variance_blocks.shape[:2]
        np.einsum("aiaj->aij", hessian.reshape(d, q, d, q))[...] -= self.variance_blocks
        return hessian

    def newton_step(
        self, point: ChartPoint, lagrangian: Lagrangian, radius: float, likely_level: int = 0
    ) -> tuple[Metric, FloatArray]:
        """Return the metric and the shifted Newton step of a Lagrangian, no longer than `radius`.

        Parameters
        ----------
        point : ChartPoint
            Where.
        lagrangian : Lagrangian
            Whose step.
        radius : float
            Longest step that is trusted.
        likely_level : int, default=0
            See `Metric`.
        """
        known = self._known_step(point, lagrangian)
        if known is not None:
            return known
        gradient = lagrangian.gradient(point)
        hessian = self._hessian_with_springs(point, lagrangian)
        metric = self._metric(hessian, likely_level=likely_level)
        step = -metric.solve(gradient)
        while _length(step) > radius:
            shift = max(GROWTH * metric.shift, 1e-3 * float(np.abs(np.diag(hessian)).mean()))
            metric = self._metric(hessian, shift)
            step = -metric.solve(gradient)
        return metric, step

    def plain_newton_step(
        self, point: ChartPoint, lagrangian: Lagrangian, radius: float
    ) -> tuple[Metric, FloatArray] | None:
        """Return the metric and the Newton step, or None where it takes a shift to have one no longer than `radius`."""
        hessian = self._hessian_with_springs(point, lagrangian)
        metric = self._metric(hessian, may_shift=False)
        if not metric.is_definite:
            return None
        step = -metric.solve(lagrangian.gradient(point))
        if _length(step) > radius:
            return None
        self._last_step[:] = [KnownStep(point, lagrangian.multipliers, metric, step)]
        return metric, step

    def _metric(self, hessian: FloatArray, shift: float = 0.0, may_shift: bool = True, likely_level: int = 0) -> Metric:
        diagonal = None if self.variance_diagonal is None else -self.variance_diagonal
        return Metric(hessian, shift, self.leading, diagonal, may_shift, likely_level)

    def _known_step(self, point: ChartPoint, lagrangian: Lagrangian) -> tuple[Metric, FloatArray] | None:
        """Return the last plain Newton step where it is asked for again: a search for multipliers ends with theirs."""
        if not self._last_step or lagrangian.stiffness.any():
            return None
        known = self._last_step[0]
        is_same = known.point is point and np.array_equal(known.multipliers, lagrangian.multipliers)
        return (known.metric, known.step) if is_same else None

    def _hessian_with_springs(self, point: ChartPoint, lagrangian: Lagrangian) -> FloatArray:
        weights = lagrangian.weights(point)
        hessian = self.lagrangian_hessian(weights)
        for j in np.flatnonzero(lagrangian.stiffness > 0):
            if weights[j] > 0 or len(weights) == 1:
                normal = point.discrepancy_gradients[j, self.leading]
                hessian += lagrangian.stiffness[j] * np.outer(normal, normal)
        return hessian

    def predicted_discrepancies(self, point: ChartPoint, step: FloatArray) -> FloatArray:
        """Return quadratic models of the h_j after a step.

        The Hessian of each is not known, only that of their mixture. h_j is a squared norm, so that its curvature along
        the step is at least (g_j's)^2 / (2 h_j); what the mixture has beyond is shared out by the size of the h_j. Of
        one measure this is its quadratic model.
        """
        h, linear = point.evaluation.discrepancies, point.discrepancy_gradients @ step
        leading = step[self.leading]
        quadratic = 0.5 * float(leading @ (self.discrepancy_hessian @ leading))
        least = linear**2 / np.maximum(4.0 * h, 1e-300) if len(h) > 1 else np.zeros(1)
        share = h / max(float(self.mixture @ h), 1e-300) if len(h) > 1 else np.ones(1)
        return h + linear + least + (quadratic - float(self.mixture @ least)) * share

    def smallest_curvature(self, point: ChartPoint, multipliers: FloatArray, active: BoolArray) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on directions that keep active h_j to first order.

        Only the leading coordinates are looked at.
        """
        hessian = self.lagrangian_hessian(multipliers)
        normals = [_unit(normal) for normal in point.discrepancy_gradients[active][:, self.leading]]
        while normals and hessian.size:
            hessian, normals = _without(hessian, normals)
        if hessian.size == 0:
            return float("inf")
        return float(dsyevr(hessian, compute_v=0, range="I", il=1, iu=1)[0][0])


def _without(hessian: FloatArray, normals: list[FloatArray]) -> tuple[FloatArray, list[FloatArray]]:
    """Return a form and other normals on the orthogonal complement of the first of some normals of unit length.

    A reflection maps the normal to the first axis; the other axes span its complement.
    """
    normal, *others = normals
    if np.linalg.norm(normal) <= DEPENDENT:
        return hessian, others
    v = _unit(normal)
    v[0] += np.copysign(1.0, v[0])
    v /= np.linalg.norm(v)
    half = np.outer(v, 2.0 * (hessian @ v) - 2.0 * float(v @ hessian @ v) * v)
    reflected = [other - 2.0 * float(v @ other) * v for other in others]
    return (hessian - half - half.T)[1:, 1:], [other[1:] for other in reflected]


def _length(vector: FloatArray) -> float:
    return math.sqrt(float(vector.dot(vector)))


def _unit(normal: FloatArray) -> FloatArray:
    return normal / max(float(np.linalg.norm(normal)), 1e-300)


View = tuple[Model, ChartPoint]
"""A point in a chart, with the model around the chart's centre."""
