"""Riemannian trust region: Newton steps by truncated conjugate gradients."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpca._utils.checks import check_integer, check_number
from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers.unconstrained._objectives import Objective, Sample
from fairpca.solvers.unconstrained._unconstrained import InnerResult, InnerStatus

HessianProduct = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class TrustRegion:
    """Riemannian trust region of Absil, Baker and Gallivan (2007).

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of outer iterations.
    max_inner : int, default=100
        Largest number of Hessian products for one step.
    initial_radius, max_radius : float, default=0.1, 1.0
        Trust radius at the start and at most, in units of the metric.

    References
    ----------
    P.-A. Absil, C. G. Baker, K. A. Gallivan, "Trust-region methods on Riemannian manifolds", Found. Comput. Math. 7
    (2007).
    """

    max_iter: int = 300
    max_inner: int = 100
    initial_radius: float = 0.1
    max_radius: float = 1.0

    def __post_init__(self) -> None:
        check_integer("max_iter", self.max_iter, 1)
        check_integer("max_inner", self.max_inner, 1)
        check_number("initial_radius", self.initial_radius, 0)
        check_number("max_radius", self.max_radius, 0)

    def minimise(self, objective: Objective, manifold: Frames, start: Sample, gradient_tolerance: float) -> InnerResult:
        """Minimise until the norm of the Riemannian gradient is at most `gradient_tolerance`.

        Parameters
        ----------
        objective : Objective
            The function to minimise.
        manifold : Frames
            Where its argument lives.
        start : Sample
            First point, already evaluated.
        gradient_tolerance : float
            Stop at this gradient norm.

        Returns
        -------
        result : InnerResult
            The last point and why the method stopped there.
        """
        sample, radius = start, self.initial_radius
        for n_iter in range(self.max_iter):
            gradient = manifold.project(sample.point, sample.gradient)
            norm = float(np.linalg.norm(gradient))
            if norm <= gradient_tolerance:
                return InnerResult(sample, norm, n_iter, InnerStatus.GRADIENT_SMALL)
            step = truncated_cg(_hessian(objective, manifold, sample), gradient, radius, self.max_inner)
            trial = objective.sample(manifold.retract(sample.point, step.tangent))
            agreement = _agreement(sample.value, trial.value, step.model_decrease)
            if agreement < 0.25:
                radius /= 4.0
            elif agreement > 0.75 and step.on_boundary:
                radius = min(2.0 * radius, self.max_radius)
            if agreement > 0.1:
                sample = trial
            elif radius < 1e-12:
                return InnerResult(sample, norm, n_iter, InnerStatus.ROUNDING_LIMIT)
        norm = float(np.linalg.norm(manifold.project(sample.point, sample.gradient)))
        status = InnerStatus.GRADIENT_SMALL if norm <= gradient_tolerance else InnerStatus.MAX_ITERATIONS
        return InnerResult(sample, norm, self.max_iter, status)


@dataclass(frozen=True)
class ModelStep:
    """A step of the quadratic model, what it promises, and whether the radius cut it short."""

    tangent: FloatArray
    model_decrease: float
    on_boundary: bool


def truncated_cg(hessian: HessianProduct, gradient: FloatArray, radius: float, max_inner: int) -> ModelStep:
    """Minimise <g, eta> + <eta, H eta> / 2 in the ball by Steihaug's conjugate gradients.

    Parameters
    ----------
    hessian : callable
        eta -> H eta on the tangent space.
    gradient : ndarray
        g.
    radius : float
        Radius of the ball.
    max_inner : int
        Largest number of Hessian products.

    Returns
    -------
    step : ModelStep
        The minimiser, or a point on the boundary along which the model still falls.
    """
    eta, hessian_eta = np.zeros_like(gradient), np.zeros_like(gradient)
    residual, direction = gradient.copy(), -gradient
    squared = float(np.vdot(residual, residual))
    # Superlinear convergence: the residual shrinks with the gradient (kappa 0.1, theta 1 in the paper).
    target = math.sqrt(squared) * min(0.1, math.sqrt(squared))
    for _ in range(max_inner):
        product = hessian(direction)
        curvature = float(np.vdot(direction, product))
        alpha = squared / curvature if curvature > 0 else math.inf
        if curvature <= 0 or np.linalg.norm(eta + alpha * direction) >= radius:
            length = _to_boundary(eta, direction, radius)
            return _model_step(gradient, eta + length * direction, hessian_eta + length * product, True)
        eta, hessian_eta = eta + alpha * direction, hessian_eta + alpha * product
        residual = residual + alpha * product
        previous, squared = squared, float(np.vdot(residual, residual))
        if math.sqrt(squared) <= target:
            break
        direction = -residual + (squared / previous) * direction
    return _model_step(gradient, eta, hessian_eta, False)


def _hessian(objective: Objective, manifold: Frames, sample: Sample) -> HessianProduct:
    def product(tangent: FloatArray) -> FloatArray:
        euclidean = objective.hessian_product(sample.point, tangent)
        return manifold.riemannian_hessian(sample.point, sample.gradient, euclidean, tangent)

    return product


def _model_step(gradient: FloatArray, eta: FloatArray, hessian_eta: FloatArray, on_boundary: bool) -> ModelStep:
    decrease = -float(np.vdot(gradient, eta)) - 0.5 * float(np.vdot(eta, hessian_eta))
    return ModelStep(eta, decrease, on_boundary)


def _to_boundary(eta: FloatArray, direction: FloatArray, radius: float) -> float:
    a, b = float(np.vdot(direction, direction)), float(np.vdot(eta, direction))
    c = float(np.vdot(eta, eta)) - radius**2
    return (-b + math.sqrt(max(b * b - a * c, 0.0))) / a


def _agreement(before: float, after: float, model_decrease: float) -> float:
    """Return actual over promised decrease; both are padded so that rounding does not reject good last steps."""
    padding = 1e-14 * max(1.0, abs(before))
    return (before - after + padding) / (model_decrease + padding)
