"""Second-order models of the Lagrangian in a chart."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from fairpca._typing import FloatArray, IntArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._chart import Chart, ChartPoint, Lagrangian
from fairpca.solvers._metric import GROWTH, Metric

MOST_DENSE = 1500
"""Coordinates up to which the Hessian is built: 18 MB, and factored in a twentieth of a second."""


@dataclass(frozen=True)
class Model:
    """A chart with the Hessians of variance (diagonal) and discrepancy at its centre.

    With more than `MOST_DENSE` coordinates the discrepancy's Hessian is known on the directions of Q with most variance
    only. Along the others rows hardly move, so there the variance's own Hessian says nearly all.

    Attributes
    ----------
    chart : Chart
        The chart.
    leading : ndarray of int of shape (k,)
        Coordinates on which the Hessian is known.
    discrepancy_hessian : ndarray of shape (k, k)
        Hessian of h there.
    """

    chart: Chart
    leading: IntArray
    discrepancy_hessian: FloatArray

    @classmethod
    def around(cls, here: Evaluation, problem: FairSubspaceProblem, single_precision: bool = False) -> "View":
        """Build the model around an evaluated frame and return it with the centre of its chart.

        Parameters
        ----------
        here : Evaluation
            The frame, on the live axes.
        problem : FairSubspaceProblem
            The problem.
        single_precision : bool, default=False
            Compute the discrepancy's Hessian in float32.
        """
        chart = Chart.around(here.point, problem.shares, problem.rank)
        centre = here.rotated(chart.rotation)
        n_directions, d = chart.Q.shape[1], chart.V.shape[1]
        # Q's columns come by increasing variance.
        first = n_directions - min(n_directions, max(1, MOST_DENSE // d))
        leading = np.arange(chart.dimension).reshape(d, n_directions)[:, first:].ravel()
        hessian = problem.hessian(centre, chart.Q[:, first:], single_precision)
        return cls(chart, leading, hessian), ChartPoint.read(chart, np.zeros(chart.dimension), centre)

    def lagrangian_hessian(self, mu: float) -> FloatArray:
        """Return the Hessian of -variance + mu h on the leading coordinates."""
        hessian = mu * self.discrepancy_hessian
        hessian[np.diag_indices_from(hessian)] -= self.chart.variance_hessian[self.leading]
        return hessian

    def newton_step(self, point: ChartPoint, lagrangian: Lagrangian, radius: float) -> tuple[Metric, FloatArray]:
        """Return the metric and the shifted Newton step of a Lagrangian, no longer than `radius`."""
        gradient = lagrangian.gradient(point)
        hessian = self.lagrangian_hessian(lagrangian.multiplier(point))
        if lagrangian.stiffness > 0:
            normal = point.discrepancy_gradient[self.leading]
            hessian += lagrangian.stiffness * np.outer(normal, normal)
        of_variance = -self.chart.variance_hessian
        metric = Metric(hessian, 0.0, self.leading, of_variance)
        step = -metric.solve(gradient)
        while np.linalg.norm(step) > radius:
            shift = max(GROWTH * metric.shift, 1e-3 * float(np.abs(np.diag(hessian)).mean()))
            metric = Metric(hessian, shift, self.leading, of_variance)
            step = -metric.solve(gradient)
        return metric, step

    def predicted_discrepancy(self, point: ChartPoint, step: FloatArray) -> float:
        """Return the quadratic model of h after a step."""
        linear = float(point.discrepancy_gradient @ step)
        leading = step[self.leading]
        return point.evaluation.total + linear + 0.5 * float(leading @ (self.discrepancy_hessian @ leading))

    def smallest_curvature(self, point: ChartPoint, mu: float) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on the directions that keep h, to first order.

        Only the leading coordinates are looked at.
        """
        normal = point.discrepancy_gradient[self.leading]
        length = float(np.linalg.norm(normal))
        hessian = self.lagrangian_hessian(mu)
        if length > 0:
            # A reflection that maps the normal to the first axis; the other axes span its complement.
            v = normal / length
            v[0] += np.copysign(1.0, v[0])
            v /= np.linalg.norm(v)
            half = np.outer(v, 2.0 * (hessian @ v) - 2.0 * float(v @ hessian @ v) * v)
            hessian = (hessian - half - half.T)[1:, 1:]
        if hessian.size == 0:
            return float("inf")
        return float(eigh(hessian, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0])


View = tuple[Model, ChartPoint]
"""A point in a chart, with the model around the chart's centre."""
