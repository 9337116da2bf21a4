"""Algorithm 1 of the paper: the Riemannian exact penalty method."""
# SPDX-License-Identifier: MIT

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fairpca._typing import FloatArray
from fairpca.geometry import Frames, Grassmann
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._objectives import Penalised
from fairpca.solvers._registry import subsolver_from
from fairpca.solvers._result import FitResult, OuterStep, Solution, Status
from fairpca.solvers._start import auxiliary_start
from fairpca.solvers._unconstrained import Subsolver

Callback = Callable[[OuterStep], None]


@dataclass(frozen=True)
class REPMS:
    r"""Riemannian exact penalty method (Algorithm 1).

    Outer step k minimises Q(V, rho_k) = f(V) + rho_k h(V), f = -tr(V'SV) / tr(S), from the last point until
    \|grad Q\| <= epsilon_k. It stops when the step is at most d_min, epsilon_k <= epsilon_min and h <= tau; else
    epsilon shrinks by theta_epsilon, and rho grows by theta_rho while h > tau.

    Parameters
    ----------
    subsolver : {"rbfgs", "trust-region", "gradient-descent"}, sub-solver or pymanopt optimizer, default="rbfgs"
        Minimises the penalty function.
    max_iter : int, default=100
        K, the largest index of an outer step.
    epsilon_0, epsilon_min : float, default=1e-1, 1e-6
        First and last gradient tolerance.
    theta_epsilon : float, default=None
        Factor of the gradient tolerance; None is (epsilon_min / epsilon_0)^(1/5).
    rho_scale : float, default=1.0
        rho_0 = rho_scale / h(PCA).
    theta_rho : float, default=2.0
        Factor of the penalty parameter.
    rho_max : float, default=1e10
        Largest penalty parameter.
    d_min : float, default=1e-6
        Step length that counts as no step.
    retraction : {"polar", "qr"}, default="polar"
        Retraction of the manifold.

    References
    ----------
    J. Lee, G. Kim, M. Olfat, M. Hasegawa-Johnson, C. D. Yoo, "Fast and Efficient MMD-based Fair PCA via
    Optimization over Stiefel Manifold", AAAI 2022.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> model = FairPCA(solver=REPMS(subsolver="trust-region", rho_max=1e8))
    """

    subsolver: Any = "rbfgs"
    max_iter: int = 100
    epsilon_0: float = 1e-1
    epsilon_min: float = 1e-6
    theta_epsilon: float | None = None
    rho_scale: float = 1.0
    theta_rho: float = 2.0
    rho_max: float = 1e10
    d_min: float = 1e-6
    retraction: str = "polar"
    name: str = field(default="repms", init=False)

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerance: float,
        init: str | FloatArray,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        problem : FairSubspaceProblem
            The problem.
        tolerance : float
            tau.
        init : {"auxiliary", "pca"} or ndarray of shape (p, d)
            First point.
        generator : numpy.random.Generator
            Draws the random frames of the auxiliary start.
        callback : callable, default=None
            Called with each `OuterStep`.

        Returns
        -------
        solution : Solution
            The last point and the record of the run.
        """
        began = time.perf_counter()
        pca = problem.evaluate(problem.pca())
        if pca.worst <= tolerance:
            return self._solution(problem, pca, Status.PCA_IS_FAIR, tolerance, [], began)
        manifold = Grassmann(self.retraction)
        subsolver = subsolver_from(self.subsolver)
        start = self._start(problem, manifold, subsolver, init, pca, generator)
        answer, status, steps = self._iterate(
            problem, manifold, subsolver, start, tolerance, self.rho_scale / pca.worst, callback
        )
        return self._solution(problem, answer, status, tolerance, steps, began)

    def _start(
        self,
        problem: FairSubspaceProblem,
        manifold: Frames,
        subsolver: Subsolver,
        init: str | FloatArray,
        pca: Evaluation,
        generator: np.random.Generator,
    ) -> Evaluation:
        if not isinstance(init, str):
            return problem.evaluate(init)
        if init == "pca":
            return pca
        return auxiliary_start(problem, manifold, subsolver, self.epsilon_min, generator)

    def _iterate(
        self,
        problem: FairSubspaceProblem,
        manifold: Frames,
        subsolver: Subsolver,
        here: Evaluation,
        tolerance: float,
        rho: float,
        callback: Callback | None,
    ) -> tuple[Evaluation, Status, list[OuterStep]]:
        theta = self.theta_epsilon or (self.epsilon_min / self.epsilon_0) ** 0.2
        epsilon, rho = self.epsilon_0, min(rho, self.rho_max)
        steps: list[OuterStep] = []
        for _ in range(self.max_iter + 1):
            step, there = _outer_step(problem, manifold, subsolver, here, rho, epsilon)
            steps.append(step)
            if callback is not None:
                callback(step)
            still = step.step_length <= self.d_min and epsilon <= self.epsilon_min
            here = there
            if still and step.mmd2 <= tolerance:
                return here, Status.CONVERGED, steps
            if still and rho >= self.rho_max:
                # Every further step would repeat this one.
                return here, Status.TOLERANCE_NOT_MET, steps
            epsilon = max(self.epsilon_min, theta * epsilon)
            if step.mmd2 > tolerance:
                rho = min(self.theta_rho * rho, self.rho_max)
        return here, Status.MAX_ITERATIONS, steps

    def _solution(
        self,
        problem: FairSubspaceProblem,
        answer: Evaluation,
        status: Status,
        tolerance: float,
        steps: list[OuterStep],
        began: float,
    ) -> Solution:
        result = FitResult(
            solver=self.name,
            status=status,
            tolerance=tolerance,
            mmd2=answer.worst,
            variance_kept=answer.variance,
            steps=tuple(steps),
            n_gradients=problem.counts.gradients,
            n_hessian_products=problem.counts.hessian_products,
            seconds=time.perf_counter() - began,
        )
        return Solution(answer.point, result)


def _outer_step(
    problem: FairSubspaceProblem,
    manifold: Frames,
    subsolver: Subsolver,
    here: Evaluation,
    rho: float,
    epsilon: float,
) -> tuple[OuterStep, Evaluation]:
    """Minimise the penalty function for one rho from the last point."""
    began = time.perf_counter()
    gradients, products = problem.counts.gradients, problem.counts.hessian_products
    penalised = Penalised(problem, rho)
    inner = subsolver.minimise(penalised, manifold, penalised.read(here), epsilon)
    there = inner.sample.evaluation
    step = OuterStep(
        rho=rho,
        mmd2=there.worst,
        variance_kept=there.variance,
        gradient_norm=inner.gradient_norm,
        gradient_tolerance=epsilon,
        step_length=float(np.linalg.norm(there.point - here.point)),
        n_iter=inner.n_iter,
        n_gradients=problem.counts.gradients - gradients,
        n_hessian_products=problem.counts.hessian_products - products,
        seconds=time.perf_counter() - began,
        message=inner.status.value,
    )
    return step, there
