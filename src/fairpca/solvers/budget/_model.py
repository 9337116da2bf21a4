"""Second-order models of the Lagrangian in a chart."""
# SPDX-License-Identifier: MIT

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import orth
from scipy.linalg.lapack import dpotrf, dpotrs, dsyevr

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers.budget._chart import Chart, ChartPoint, Lagrangian

LEAST_SHIFT, GROWTH = 1e-4, 8.0
"""First shift nu of an indefinite Hessian, in units of the mean size of its diagonal, and the factor to the next."""


class Metric(Protocol):
    """H + nu I for the Hessian H of a Lagrangian.

    Attributes
    ----------
    scale : float
        Mean size of the diagonal of H.
    shift : float
        nu.
    """

    scale: float
    shift: float

    def shift_to(self, shift: float, may_grow: bool = True) -> bool:
        """Take the least nu of a geometric sequence from `shift` on for which H + nu I is positive definite.

        Parameters
        ----------
        shift : float
            First nu.
        may_grow : bool, default=True
            If not, and the first is not enough, False is returned.
        """

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""

    def product(self, vector: FloatArray) -> FloatArray:
        """Return (H + nu I) v."""


class DenseMetric:
    """The Cholesky factor of H + nu I, see `Metric`.

    Parameters
    ----------
    hessian : ndarray of shape (n, n)
        H.
    """

    def __init__(self, hessian: FloatArray) -> None:
        self._hessian = hessian
        self.scale = max(float(np.abs(hessian.diagonal()).mean()), 1e-300)
        self.shift = 0.0

    def shift_to(self, shift: float, may_grow: bool = True) -> bool:
        """Factor H + nu I."""
        self.shift = shift
        while not self._factored():
            if not may_grow:
                return False
            self.shift = max(GROWTH * self.shift, LEAST_SHIFT * self.scale)
        return True

    def _factored(self) -> bool:
        """Try to factor; a diagonal that is not positive tells without a factor that it fails."""
        if self._hessian.diagonal().min() + self.shift <= 0.0:
            return False
        shifted = self._hessian.copy(order="F")
        np.einsum("ii->i", shifted)[...] += self.shift
        self._factor, failed = dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        return bool(failed == 0)

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return (H + nu I)^{-1} g."""
        return dpotrs(self._factor, gradient, lower=1)[0]

    def product(self, vector: FloatArray) -> FloatArray:
        """Return (H + nu I) v."""
        return self._hessian @ vector + self.shift * vector


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """A chart with the Hessians of variance and of sum_j lambda_j h_j at its centre.

    Attributes
    ----------
    chart : Chart
        The chart.
    mixture : ndarray of shape (n_measures,)
        lambda, which sum to 1.
    sizes : ndarray of shape (n_measures,)
        The h_j at the centre.
    """

    chart: Chart
    mixture: FloatArray
    sizes: FloatArray

    @abstractmethod
    def metric(self, point: ChartPoint, lagrangian: Lagrangian) -> Metric:
        """Return the Hessian of a Lagrangian at a point, as a metric."""

    @abstractmethod
    def curvature_along(self, step: FloatArray) -> float:
        """Return the second derivative of sum_j lambda_j h_j along a step."""

    @abstractmethod
    def smallest_curvature(self, point: ChartPoint, multipliers: FloatArray, active: BoolArray) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on what keeps active h_j to first order."""

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
        metric, gradient = self.metric(point, lagrangian), lagrangian.at(point)[1]
        is_definite = metric.shift_to(0.0, may_shift)
        while is_definite:
            step = -metric.solve(gradient)
            if np.linalg.norm(step) <= radius:
                return metric, step
            if not may_shift:
                break
            metric.shift_to(max(GROWTH * metric.shift, 10 * LEAST_SHIFT * metric.scale))
        return None

    def predicted_discrepancies(self, point: ChartPoint, step: FloatArray) -> FloatArray:
        """Return quadratic models of the h_j after a step.

        Of several the Hessian of their mixture alone is known. h_j is a squared norm, so that its curvature along the
        step is at least (g_j's)^2 / (2 h_j); what the mixture has beyond is shared out by the size of the h_j.
        """
        h, linear = point.evaluation.discrepancies, point.discrepancy_gradients @ step
        quadratic = 0.5 * self.curvature_along(step)
        least = linear**2 / np.maximum(4.0 * h, 1e-300) if len(h) > 1 else np.zeros(1)
        share = h / max(float(self.mixture @ h), 1e-300) if len(h) > 1 else np.ones(1)
        return h + linear + least + (quadratic - float(self.mixture @ least)) * share

    def weight_of_mixture(self, weights: FloatArray) -> float:
        """Return the factor with which the Hessian of the mixture stands for that of the h_j with other weights.

        Of other proportions than those it was built for it knows the size.
        """
        known = float(self.mixture @ self.sizes)
        return float(weights @ self.sizes) / known if known > 0 else float(weights.sum())


def mixture_of(multipliers: FloatArray) -> FloatArray:
    """Return multipliers as proportions."""
    total = float(multipliers.sum())
    return multipliers / total if total > 0 else np.full(len(multipliers), 1.0 / len(multipliers))


def normals_of(point: ChartPoint, lagrangian: Lagrangian) -> FloatArray:
    """Return sqrt(c_j) grad h_j of the penalties that count at a point, as rows: their outer products are Hessians."""
    counts = (lagrangian.penalties > 0) & (lagrangian.weights(point.evaluation.discrepancies) > 0)
    return np.sqrt(lagrangian.penalties[counts])[:, None] * point.discrepancy_gradients[counts]


@dataclass(frozen=True, eq=False)
class DenseModel(Model):
    """A model with the exact Hessian.

    Attributes
    ----------
    hessian : ndarray of shape (dimension, dimension)
        Hessian of sum_j lambda_j h_j.
    """

    hessian: FloatArray

    @classmethod
    def around(
        cls, here: Evaluation, problem: FairSubspaceProblem, multipliers: FloatArray
    ) -> tuple["DenseModel", ChartPoint]:
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
        mixture = mixture_of(multipliers)
        hessian = problem.hessian(centre.evaluation, chart.Q, mixture, single_precision=True)
        return cls(chart, mixture, here.discrepancies, hessian), centre

    def metric(self, point: ChartPoint, lagrangian: Lagrangian) -> DenseMetric:
        """Return the Hessian of a Lagrangian at a point, as a metric."""
        return DenseMetric(self._lagrangian_hessian(point, lagrangian))

    def curvature_along(self, step: FloatArray) -> float:
        """Return the second derivative of sum_j lambda_j h_j along a step."""
        return float(step @ (self.hessian @ step))

    def _lagrangian_hessian(self, point: ChartPoint, lagrangian: Lagrangian) -> FloatArray:
        hessian = self.weight_of_mixture(lagrangian.weights(point.evaluation.discrepancies)) * self.hessian
        np.einsum("ii->i", hessian)[...] -= self.chart.variance_hessian.ravel()
        for normal in normals_of(point, lagrangian):
            hessian += np.outer(normal, normal)
        return hessian

    def smallest_curvature(self, point: ChartPoint, multipliers: FloatArray, active: BoolArray) -> float:
        """Return the smallest eigenvalue of the Lagrangian's Hessian on what keeps active h_j to first order."""
        hessian = self._lagrangian_hessian(point, Lagrangian.plain(multipliers))
        if hessian.size == 0 or len(hessian) <= active.sum():
            return float("inf")
        # Normals become eigenvectors above all others; what is left is the Hessian on their complement.
        normals = orth(point.discrepancy_gradients[active].T)
        across = normals @ (normals.T @ hessian)
        above = float(np.abs(hessian).sum(axis=1).max())
        hessian += normals @ (normals.T @ across.T + above * normals.T) - across - across.T
        return float(dsyevr(hessian, compute_v=0, range="I", il=1, iu=1)[0][0])
