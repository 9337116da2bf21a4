"""Smooth functions on the manifold that the unconstrained solvers minimise."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation, FairSubspaceProblem

ROUNDING_OF_DISCREPANCY = 1e-16
"""Absolute error of h, a sum of kernel values up to 1 that cancel: however small h is, a penalty multiplies it."""


@dataclass(frozen=True)
class Sample:
    """Value and Euclidean gradient of an objective at a point.

    Attributes
    ----------
    point : ndarray of shape (p, d)
        Where.
    value : float
        Value of the objective.
    gradient : ndarray of shape (p, d)
        Its Euclidean gradient.
    evaluation : Evaluation
        What the problem said there, so that no pass over the rows is repeated when the objective changes.
    rounding : float
        Size below which a difference of two values is noise.
    """

    point: FloatArray
    value: float
    gradient: FloatArray
    evaluation: Evaluation
    rounding: float = 0.0


class Objective(Protocol):
    """A function with a gradient, Hessian-vector products, and the Hessian."""

    def sample(self, point: FloatArray) -> Sample:
        """Evaluate value and gradient."""

    def hessian_product(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Euclidean Hessian-vector product."""

    def hessian(self, here: Sample, complement: FloatArray) -> FloatArray:
        """Return the Hessian in the chart B -> V + QB of the Grassmann manifold, good to single precision.

        The columns of B stand one after another.
        """


@dataclass(frozen=True)
class Penalised:
    """Q(V) = -alpha tr(V'SV) / tr(S) + sum_j rho_j h_j(V).

    alpha = 1 is the penalty function of Algorithm 1, alpha = 0 its auxiliary problem.
    """

    problem: FairSubspaceProblem
    rho: FloatArray
    alpha: float = 1.0

    def sample(self, point: FloatArray) -> Sample:
        """Evaluate value and gradient."""
        return self.read(self.problem.evaluate(point))

    def read(self, evaluation: Evaluation) -> Sample:
        """Return value and gradient from what is already known about a point."""
        return Sample(
            point=evaluation.point,
            value=-self.alpha * evaluation.variance + float(self.rho @ evaluation.discrepancies),
            gradient=evaluation.weighted_gradient(self.rho) - self.alpha * evaluation.variance_gradient,
            evaluation=evaluation,
            rounding=float(self.rho.max()) * ROUNDING_OF_DISCREPANCY,
        )

    def hessian_product(self, point: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Euclidean Hessian-vector product."""
        of_variance, of_discrepancies = self.problem.hessian_products(point, direction, self.rho)
        return of_discrepancies - self.alpha * of_variance

    def hessian(self, here: Sample, complement: FloatArray) -> FloatArray:
        """Return the Hessian in the chart B -> V + QB of the Grassmann manifold, good to single precision.

        The columns of B stand one after another.
        """
        V, Q, shares = here.point, complement, self.problem.shares[:, None]
        hessian = self.problem.hessian(here.evaluation, Q, self.rho, single_precision=True)
        blocks = hessian.reshape(V.shape[1], Q.shape[1], V.shape[1], Q.shape[1])
        np.einsum("aiaj->aij", blocks)[...] -= 2.0 * self.alpha * (Q.T @ (shares * Q))
        np.einsum("aibi->abi", blocks)[...] += 2.0 * self.alpha * (V.T @ (shares * V))[:, :, None]
        return hessian
