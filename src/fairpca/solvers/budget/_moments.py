"""The second-order model of the Lagrangian on manifolds of many dimensions."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem, HessianOperator
from fairpca.solvers._limits import MOST_DENSE
from fairpca.solvers.budget._chart import Chart, ChartPoint, Lagrangian
from fairpca.solvers.budget._model import DenseModel, Model, mixture_of, normals_of

ACCURACY, MOST_PRODUCTS = 1e-2, 200
"""To which a Newton equation is solved, and products that it may take, most take fifteen: the model knows no more."""

FLATTEST = 1e-3
"""Least curvature of the variance that is assumed along a coordinate, as a share of the largest: gaps may vanish."""


class MomentMetric:
    r"""The operator \|D\| + s J'J + nu I, D diagonal, solved by conjugate gradients; see `Metric`.

    \|D\| instead of the variance's own D makes it positive definite: where D is negative J'J outweighs it at an answer.

    Parameters
    ----------
    curvature : ndarray of shape (q, d)
        D.
    hessian : HessianOperator
        J'J.
    weight : float
        s.
    normals : ndarray of shape (k, q * d)
        Rows whose outer products are added.
    """

    def __init__(self, curvature: FloatArray, hessian: HessianOperator, weight: float, normals: FloatArray) -> None:
        sizes = np.abs(curvature)
        self._sizes = np.maximum(sizes, FLATTEST * sizes.max())
        self._hessian, self._weight, self._normals = hessian, weight, normals
        self._diagonal = self._flat(self._sizes + weight * hessian.diagonal()) + np.square(normals).sum(axis=0)
        self.scale = float(self._diagonal.mean())
        self.shift = 0.0

    def shift_to(self, shift: float, may_grow: bool = True) -> bool:
        """Take nu as it is given."""
        self.shift = shift
        return True

    def product(self, vector: FloatArray) -> FloatArray:
        """Return the product with a vector."""
        B = vector.reshape(self._sizes.shape[::-1]).T
        total = self._flat((self._sizes + self.shift) * B + self._weight * self._hessian.product(B))
        return total + self._normals.T @ (self._normals @ vector)

    def solve(self, gradient: FloatArray) -> FloatArray:
        """Return the solution for a gradient, by conjugate gradients on the scaled equation."""
        diagonal = self._diagonal + self.shift
        solution, residual = np.zeros_like(gradient), gradient
        scaled = direction = residual / diagonal
        size = first = float(residual @ scaled)
        for _ in range(MOST_PRODUCTS):
            if size <= ACCURACY**2 * first:
                break
            product = self.product(direction)
            length = size / float(direction @ product)
            solution, residual = solution + length * direction, residual - length * product
            scaled = residual / diagonal
            before, size = size, float(residual @ scaled)
            direction = scaled + (size / before) * direction
        return solution

    @staticmethod
    def _flat(B: FloatArray) -> FloatArray:
        return B.T.ravel()


@dataclass(frozen=True, eq=False)
class MomentModel(Model):
    """A model whose Hessian of sum_j lambda_j h_j is that of the first two moments of the rows.

    Attributes
    ----------
    hessian : HessianOperator
        Hessian of sum_j lambda_j h_j.
    """

    hessian: HessianOperator

    @classmethod
    def around(
        cls, here: Evaluation, problem: FairSubspaceProblem, multipliers: FloatArray
    ) -> tuple["MomentModel", ChartPoint]:
        """Return the model around an evaluated frame and the centre of its chart, see `DenseModel.around`."""
        chart, centre = Chart.around(here, problem.shares, problem.rank)
        mixture = mixture_of(multipliers)
        hessian = problem.moment_hessian(centre.evaluation, chart.Q, mixture)
        return cls(chart, mixture, here.discrepancies, hessian), centre

    def metric(self, point: ChartPoint, lagrangian: Lagrangian) -> MomentMetric:
        """Return the Hessian of a Lagrangian at a point, as a metric."""
        weight = self.weight_of_mixture(lagrangian.weights(point.evaluation.discrepancies))
        return MomentMetric(self._curvature, self.hessian, weight, normals_of(point, lagrangian))

    def curvature_along(self, step: FloatArray) -> float:
        """Return the second derivative of sum_j lambda_j h_j along a step."""
        B = step.reshape(self._curvature.shape[::-1]).T
        return float(np.vdot(B, self.hessian.product(B)))

    def smallest_curvature(self, point: ChartPoint, multipliers: FloatArray, active: BoolArray) -> float:
        """Return NaN: what moments leave out decides about its sign."""
        return math.nan

    @property
    def _curvature(self) -> FloatArray:
        """Of minus the variance, of shape (q, d)."""
        return -self.chart.variance_hessian.T


def model_around(here: Evaluation, problem: FairSubspaceProblem, multipliers: FloatArray) -> tuple[Model, ChartPoint]:
    """Return the exact model, or that by moments where the Hessian has too many entries; see `DenseModel.around`."""
    dimension = (problem.rank - here.point.shape[1]) * here.point.shape[1]
    kind: type[DenseModel | MomentModel] = DenseModel if dimension <= MOST_DENSE else MomentModel
    return kind.around(here, problem, multipliers)
