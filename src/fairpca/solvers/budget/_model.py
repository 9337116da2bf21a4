"""Second-order models of the Lagrangian in a chart."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.linalg import orth
from scipy.linalg.lapack import dpotrf, dpotrs, dsyevr

from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import MOST_DENSE
from fairpca.solvers.budget._chart import Chart, ChartPoint
from fairpca.solvers.budget._lagrangian import Lagrangian

LEAST_SHIFT, GROWTH = 1e-4, 8.0
"""First shift nu of an indefinite Hessian, in units of the mean size of its diagonal, and the factor to the next."""


class Metric:
    """The Cholesky factor of H + nu I, with the least nu of a geometric sequence that makes it positive definite.

    Parameters
    ----------
    hessian : ndarray of shape (k, k)
        H on the leading coordinates.
    leading : ndarray of int of shape (k,)
        Which coordinates these are.
    diagonal : ndarray of shape (n,)
        Diagonal of H on all coordinates; outside of the leading ones H is taken to be diagonal.
    shift : float, default=0.0
        First nu.
    may_shift : bool, default=True
        Whether nu may grow. If not, and the first is not enough, `is_definite` is false and there is no factor.
    """

    def __init__(
        self, hessian: FloatArray, leading: IntArray, diagonal: FloatArray, shift: float = 0.0, may_shift: bool = True
    ) -> None:
        self._leading, self._diagonal, self.shift = leading, diagonal.copy(), shift
        self._diagonal[leading] = 1.0
        scale = max(float(np.abs(hessian.diagonal()).mean()), 1e-300)
        smallest = min(float(hessian.diagonal().min()), float(self._diagonal.min()))
        while not (self._factored(hessian, smallest)) and may_shift:
            self.shift = max(GROWTH * self.shift, LEAST_SHIFT * scale)

    def _factored(self, hessian: FloatArray, smallest: float) -> bool:
        """Try to factor H + nu I; a diagonal that is not positive tells without a factor that it fails."""
        self.is_definite = smallest + self.shift > 0.0
        if self.is_definite:
            shifted = hessian.copy(order="F")
            np.einsum("ii->i", shifted)[...] += self.shift
            self._factor, failed = dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
            self.is_definite = failed == 0
        return self.is_definite

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""
        solution = gradient / (self._diagonal + self.shift)
        solution[self._leading] = dpotrs(self._factor, gradient[self._leading], lower=1)[0]
        return solution


@dataclass(frozen=True, eq=False)
class Model:
    """A chart with the Hessians of variance and of sum_j lambda_j h_j at its centre.

    With more than `MOST_DENSE` coordinates the discrepancy's Hessian is known on the directions of Q with most variance
    only. Along the others rows hardly move, and the variance's own Hessian says nearly all.

    Attributes
    ----------
    chart : Chart
        The chart.
    leading : ndarray of int of shape (k,)
        Coordinates on which the discrepancy's Hessian is known.
    hessian : ndarray of shape (k, k)
        Hessian of sum_j lambda_j h_j there.
    mixture : ndarray of shape (n_measures,)
        lambda, which sum to 1.
    sizes : ndarray of shape (n_measures,)
        The h_j at the centre.
    """

    chart: Chart
    leading: IntArray
    hessian: FloatArray
    mixture: FloatArray
    sizes: FloatArray

    @classmethod
    def around(
        cls, here: Evaluation, problem: FairSubspaceProblem, multipliers: FloatArray
    ) -> tuple["Model", ChartPoint]:
        """Return the model around an evaluated frame on the live axes, and the centre of its chart.

        The Hessian is built in single precision: it shapes steps, but not where they end.

        Parameters
        ----------
        here : Evaluation
            The frame.
        problem : FairSubspaceProblem
            The problem.
        multipliers : ndarray of shape (n_measures,)
            In which proportion the h_j matter, none below 0.
        """
        chart, centre = Chart.around(here, problem.shares, problem.rank)
        d, n_directions = here.point.shape[1], chart.Q.shape[1]
        first = n_directions - min(n_directions, max(1, MOST_DENSE // d))
        leading = np.arange(chart.dimension).reshape(d, n_directions)[:, first:].ravel()
        total = float(multipliers.sum())
        mixture = multipliers / total if total > 0 else np.full(len(multipliers), 1.0 / len(multipliers))
        hessian = problem.hessian(centre.evaluation, chart.Q[:, first:], mixture, single_precision=True)
        return cls(chart, leading, hessian, mixture, here.discrepancies), centre

    @property
    def is_truncated(self) -> bool:
        """Whether the discrepancy's Hessian is known on some of the coordinates only."""
        return len(self.leading) < self.chart.dimension

    def newton_step(
        self, point: ChartPoint, lagrangian: Lagrangian, radius: float, may_shift: bool = True
    ) -> tuple[Metric, FloatArray] | None:
        """Return the metric and the Newton step of a Lagrangian, shifted until it is no longer than `radius`.

        Parameters
        ----------
        point : ChartPoint
            Where.
        lagrangian : Lagrangian
            Whose step.
        radius : float
            Longest step that is trusted.
        may_shift : bool, default=True
            If not, None is returned where it takes a shift.
        """
        hessian, diagonal = self._lagrangian_hessian(point, lagrangian), -self.chart.variance_hessian.ravel()
        gradient = lagrangian.at(point)[1]
        metric = Metric(hessian, self.leading, diagonal, may_shift=may_shift)
        while metric.is_definite:
            step = -metric.solve(gradient)
            if np.linalg.norm(step) <= radius:
                return metric, step
            if not may_shift:
                break
            shift = max(GROWTH * metric.shift, 10 * LEAST_SHIFT * float(np.abs(np.diag(hessian)).mean()))
            metric = Metric(hessian, self.leading, diagonal, shift)
        return None

    def _lagrangian_hessian(self, point: ChartPoint, lagrangian: Lagrangian) -> FloatArray:
        """Return the Hessian of L on the leading coordinates.

        Of other proportions of the h_j than those it was built for it knows the size: the mixture is scaled to it.
        """
        weights = lagrangian.weights(point.evaluation.discrepancies)
        known = float(self.mixture @ self.sizes)
        hessian = (float(weights @ self.sizes) / known if known > 0 else float(weights.sum())) * self.hessian
        np.einsum("ii->i", hessian)[...] -= self.chart.variance_hessian.ravel()[self.leading]
        for j in np.flatnonzero((lagrangian.penalties > 0) & (weights > 0)):
            normal = point.discrepancy_gradients[j, self.leading]
            hessian += lagrangian.penalties[j] * np.outer(normal, normal)
        return hessian

    def predicted_discrepancies(self, point: ChartPoint, step: FloatArray) -> FloatArray:
        """Return quadratic models of the h_j after a step.

        Of several the Hessian of their mixture alone is known. h_j is a squared norm, so that its curvature along the
        step is at least (g_j's)^2 / (2 h_j); what the mixture has beyond is shared out by the size of the h_j.
        """
        h, linear = point.evaluation.discrepancies, point.discrepancy_gradients @ step
        leading = step[self.leading]
        quadratic = 0.5 * float(leading @ (self.hessian @ leading))
        least = linear**2 / np.maximum(4.0 * h, 1e-300) if len(h) > 1 else np.zeros(1)
        share = h / max(float(self.mixture @ h), 1e-300) if len(h) > 1 else np.ones(1)
        return h + linear + least + (quadratic - float(self.mixture @ least)) * share

    def smallest_curvature(self, point: ChartPoint, multipliers: FloatArray, active: BoolArray) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on directions that keep active h_j to first order.

        Only the leading coordinates are looked at.
        """
        plain = Lagrangian(multipliers, np.zeros_like(multipliers), np.zeros_like(multipliers))
        hessian = self._lagrangian_hessian(point, plain)
        if hessian.size == 0 or len(hessian) <= active.sum():
            return float("inf")
        # Normals become eigenvectors above all others; what is left is the Hessian on their complement.
        normals = orth(point.discrepancy_gradients[active][:, self.leading].T)
        across = normals @ (normals.T @ hessian)
        above = float(np.abs(hessian).sum(axis=1).max())
        hessian += normals @ (normals.T @ across.T + above * normals.T) - across - across.T
        return float(dsyevr(hessian, compute_v=0, range="I", il=1, iu=1)[0][0])
