"""Riemannian BFGS, which solves the sub-problems of Algorithm 1."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

import numpy as np
from scipy.linalg import eigh

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Grassmann
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._limits import MOST_DENSE
from fairpca.solvers._line_search import CurvedPair, Trial, quasi_newton_product, wolfe_search

ROUNDING_OF_DISCREPANCY = 1e-16
"""Absolute error of h, a sum of kernel values up to 1 that cancel: however small h is, a penalty multiplies it."""

MOST_ITERATIONS = 300
"""Largest number of iterations for one sub-problem, as in the paper."""

PATIENCE, REFRESH = 100, 20
"""Iterations before the first Hessian, and those after which it is computed again: it costs about as much as these."""

Pairs = list[CurvedPair]
"""Steps and the changes of the gradient along them, oldest first."""


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


class InnerStatus(StrEnum):
    """Why an unconstrained solver stopped."""

    GRADIENT_SMALL = "the gradient is below the tolerance"
    MAX_ITERATIONS = "the iteration limit was reached"
    ROUNDING_LIMIT = "no step improves the value beyond rounding"


@dataclass(frozen=True)
class InnerResult:
    """The last point, the norm of the Riemannian gradient there, the number of iterations, and why they ended."""

    sample: Sample
    gradient_norm: float
    n_iter: int
    status: InnerStatus


@dataclass(frozen=True)
class SaddleFreeMetric:
    """The inverse of |H|, the Hessian at a frame V with its eigenvalues made positive.

    Attributes
    ----------
    complement : ndarray of shape (p, q)
        Q, orthonormal, of the chart B -> V + QB.
    basis : ndarray of shape (d * q, d * q)
        Eigenvectors of the Hessian in that chart, the columns of B one after another.
    curvatures : ndarray of shape (d * q,)
        Magnitudes of their eigenvalues.
    """

    complement: FloatArray
    basis: FloatArray
    curvatures: FloatArray

    @classmethod
    def at(cls, here: Sample, objective: Penalised, flattest: float = 1e-6) -> "SaddleFreeMetric":
        """Decompose the Hessian at an evaluated frame.

        Curvatures below `flattest` of the largest are noise in single precision, and raised to it.
        """
        d = here.point.shape[1]
        complement = np.linalg.qr(here.point, mode="complete")[0][:, d:]
        hessian = objective.hessian(here, complement)
        eigenvalues, basis = eigh(hessian, overwrite_a=True, check_finite=False, driver="evd")
        sizes = np.abs(eigenvalues)
        return cls(complement, basis, np.maximum(sizes, max(flattest * float(sizes.max()), 1e-300)))

    def solve(self, tangent: FloatArray) -> FloatArray:
        """Return |H|^{-1} times a tangent vector of a frame nearby."""
        coefficients = (self.complement.T @ tangent).T.ravel() @ self.basis
        solution = self.basis @ (coefficients / self.curvatures)
        return self.complement @ solution.reshape(tangent.shape[1], -1).T


@dataclass(frozen=True)
class _Arrival:
    """Where a line search ended, and the velocity of its curve there."""

    sample: Sample
    velocity: FloatArray


@dataclass(frozen=True)
class RiemannianBFGS:
    """Limited-memory Riemannian BFGS with the cautious update of Huang, Absil and Gallivan (2018).

    Steps s_k and gradient changes y_k are carried from tangent space to tangent space by projection. A pair is
    kept only if <s, y> / <s, s> >= caution * |grad|, which keeps the metric positive definite where the function
    is not convex.

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of iterations.
    metric : SaddleFreeMetric, default=None
        Metric to begin with; by default the identity, scaled by the last pair.
    first_step : float, default=0.1
        Length of a step along the gradient, about six degrees, where nothing else is known.
    longest_step : float, default=0.5
        Length of the first step to try with a metric, about 30 degrees: beyond, a second-order model says little.
    memory : int, default=100
        Pairs kept. A short memory costs many times the iterations where the penalty is large.
    caution : float, default=1e-4
        Constant of the cautious update, as in the reference.

    References
    ----------
    W. Huang, P.-A. Absil, K. A. Gallivan, "A Riemannian BFGS method without differentiated retraction for
    nonconvex optimization problems", SIAM J. Optim. 28 (2018).
    """

    max_iter: int = MOST_ITERATIONS
    metric: SaddleFreeMetric | None = None
    first_step: float = 0.1
    longest_step: float = 0.5
    memory: int = 100
    caution: float = 1e-4

    def minimise(
        self, objective: Penalised, manifold: Grassmann, start: Sample, gradient_tolerance: float
    ) -> InnerResult:
        """Minimise until the norm of the Riemannian gradient is at most `gradient_tolerance`.

        Parameters
        ----------
        objective : Penalised
            The function to minimise.
        manifold : Grassmann
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
        sample = start
        pairs: Pairs = []
        gradient = manifold.project(sample.point, sample.gradient)
        norm = float(np.linalg.norm(gradient))
        for n_iter in range(self.max_iter):
            if norm <= gradient_tolerance:
                return InnerResult(sample, norm, n_iter, InnerStatus.GRADIENT_SMALL)
            trial = self._search(objective, manifold, sample, gradient, pairs)
            if trial is None and pairs:
                pairs = []  # stale curvature can spoil a direction; steepest descent cannot
                trial = self._search(objective, manifold, sample, gradient, pairs)
            if trial is None:
                return InnerResult(sample, norm, n_iter, InnerStatus.ROUNDING_LIMIT)
            before, sample = gradient, trial.at.sample
            gradient = manifold.project(sample.point, sample.gradient)
            pairs = self._updated(pairs, manifold, before, gradient, trial)
            norm = float(np.linalg.norm(gradient))
        status = InnerStatus.GRADIENT_SMALL if norm <= gradient_tolerance else InnerStatus.MAX_ITERATIONS
        return InnerResult(sample, norm, self.max_iter, status)

    def _search(
        self, objective: Penalised, manifold: Grassmann, here: Sample, gradient: FloatArray, pairs: Pairs
    ) -> Trial[_Arrival] | None:
        direction, first = self._direction(manifold, here, gradient, pairs)
        curve = manifold.curve(here.point, direction)

        def try_step(step: float) -> Trial[_Arrival]:
            point, velocity = curve(step)
            sample = objective.sample(point)
            return Trial(step, sample.value, float(np.vdot(sample.gradient, velocity)), _Arrival(sample, velocity))

        return wolfe_search(try_step, here.value, float(np.vdot(gradient, direction)), first, here.rounding)

    def _direction(
        self, manifold: Grassmann, here: Sample, gradient: FloatArray, pairs: Pairs
    ) -> tuple[FloatArray, float]:
        """Return a descent direction and the first step to try along it."""
        if self.metric is not None:
            direction = -manifold.project(here.point, quasi_newton_product(pairs, gradient, self.metric.solve))
            return direction, min(1.0, self.longest_step / float(np.linalg.norm(direction)))
        if not pairs:
            return -gradient, min(1.0, self.first_step / float(np.linalg.norm(gradient)))
        return -quasi_newton_product(pairs, gradient, partial(_scaled, pairs)), 1.0

    def _updated(
        self, pairs: Pairs, manifold: Grassmann, before: FloatArray, gradient: FloatArray, trial: Trial[_Arrival]
    ) -> Pairs:
        """Return the pairs known after a step, in the tangent space of the new point."""
        here = trial.at.sample.point
        if pairs:
            moved = manifold.transport(here, np.array([(pair.step, pair.change) for pair in pairs]))
            # Transport bends angles a little: a pair whose curvature it made negative is dropped.
            pairs = [pair for s, y in moved if (pair := CurvedPair.of(s, y)).curvature > 0]
        s = manifold.project(here, trial.step * trial.at.velocity)
        pair = CurvedPair.of(s, gradient - manifold.transport(here, before))
        if pair.curvature >= self.caution * float(np.linalg.norm(before)) * np.vdot(s, s):
            pairs = [*pairs, pair][-self.memory :]
        return pairs


def _scaled(pairs: Pairs, vector: FloatArray) -> FloatArray:
    """Return the vector times <s, y> / <y, y> of the last pair, the usual guess of the inverse curvature."""
    _, y, curvature = pairs[-1]
    return curvature / float(np.vdot(y, y)) * vector


def minimise(objective: Penalised, manifold: Grassmann, start: Sample, gradient_tolerance: float) -> InnerResult:
    """Minimise by Riemannian BFGS whose first metric, after some iterations without one, is the Hessian.

    A large penalty makes a function so ill conditioned that BFGS learns its metric too slowly, and columns that turn
    into the null space pass saddles. The eigenvalues of the Hessian with their signs removed are a metric in which
    steps are Newton's where the function is convex, and leave a saddle where it is not (Dauphin and others, 2014).

    Parameters
    ----------
    objective, manifold, start, gradient_tolerance
        As in `RiemannianBFGS.minimise`.

    References
    ----------
    Y. Dauphin, R. Pascanu, C. Gulcehre, K. Cho, S. Ganguli, Y. Bengio, "Identifying and attacking the saddle point
    problem in high-dimensional non-convex optimization", NeurIPS 2014.
    """
    if manifold.dimension(*start.point.shape) > MOST_DENSE:
        return RiemannianBFGS().minimise(objective, manifold, start, gradient_tolerance)
    result = RiemannianBFGS(PATIENCE).minimise(objective, manifold, start, gradient_tolerance)
    if result.status is InnerStatus.ROUNDING_LIMIT:
        return result
    while result.status is not InnerStatus.GRADIENT_SMALL and result.n_iter < MOST_ITERATIONS:
        cycle = RiemannianBFGS(REFRESH, SaddleFreeMetric.at(result.sample, objective))
        further = cycle.minimise(objective, manifold, result.sample, gradient_tolerance)
        further = replace(further, n_iter=result.n_iter + further.n_iter)
        if further.status is not InnerStatus.GRADIENT_SMALL and _stuck(result, further):
            return replace(further, status=InnerStatus.ROUNDING_LIMIT)
        result = further
    return result


def _stuck(before: InnerResult, after: InnerResult) -> bool:
    """Tell whether a cycle gained nothing that can be told from rounding."""
    gain = before.sample.value - after.sample.value
    return gain <= before.sample.rounding and after.gradient_norm > 0.5 * before.gradient_norm
