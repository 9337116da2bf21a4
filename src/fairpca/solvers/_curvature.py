"""Second-order models of the Lagrangian in a chart."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from fairpca._typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._chart import Chart, ChartPoint, Lagrangian

GROWTH = 8.0
"""Factor by which the shift nu grows until the shifted Hessian is positive definite."""


class Metric:
    """The Cholesky factor of H + nu I, with the least nu of a geometric sequence that makes it positive definite."""

    def __init__(self, hessian: FloatArray, shift: float = 0.0) -> None:
        scale = max(float(np.abs(np.diag(hessian)).mean()), 1e-300)
        self.shift = shift
        while True:
            try:
                shifted = hessian.copy()
                shifted[np.diag_indices_from(shifted)] += self.shift
                self._factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
                return
            except LinAlgError:
                self.shift = max(GROWTH * self.shift, 1e-4 * scale)

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""
        return cho_solve(self._factor, gradient, check_finite=False)


@dataclass(frozen=True)
class Model:
    """A chart with the Hessians of variance (diagonal) and discrepancy at its centre."""

    chart: Chart
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
        hessian = problem.hessian(centre, chart.Q, single_precision)
        return cls(chart, hessian), ChartPoint.read(chart, np.zeros(chart.dimension), centre)

    def lagrangian_hessian(self, mu: float) -> FloatArray:
        """Return the Hessian of -variance + mu h."""
        hessian = mu * self.discrepancy_hessian
        hessian[np.diag_indices_from(hessian)] -= self.chart.variance_hessian
        return hessian

    def newton_step(self, point: ChartPoint, lagrangian: Lagrangian, radius: float) -> tuple[Metric, FloatArray]:
        """Return the metric and the shifted Newton step of a Lagrangian, no longer than `radius`."""
        gradient = lagrangian.gradient(point)
        hessian = self.lagrangian_hessian(lagrangian.multiplier(point))
        if lagrangian.stiffness > 0:
            hessian += lagrangian.stiffness * np.outer(point.discrepancy_gradient, point.discrepancy_gradient)
        metric = Metric(hessian)
        step = -metric.solve(gradient)
        while np.linalg.norm(step) > radius:
            metric = Metric(hessian, max(GROWTH * metric.shift, 1e-3 * float(np.abs(np.diag(hessian)).mean())))
            step = -metric.solve(gradient)
        return metric, step

    def predicted_discrepancy(self, point: ChartPoint, step: FloatArray) -> float:
        """Return the quadratic model of h after a step."""
        linear = float(point.discrepancy_gradient @ step)
        return point.evaluation.total + linear + 0.5 * float(step @ (self.discrepancy_hessian @ step))

    def smallest_curvature(self, point: ChartPoint, mu: float) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on the directions that keep h, to first order."""
        normal = point.discrepancy_gradient
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
