"""Algorithm 1 of the paper: the Riemannian exact penalty method."""
# SPDX-License-Identifier: MIT

import math
import time
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import BaseEstimator

from fairpca._utils.checks import check_integer, check_name, check_number
from fairpca._utils.typing import FloatArray
from fairpca.geometry import RETRACTIONS, Grassmann, split_null
from fairpca.problem import Evaluation, FairSubspaceProblem, largest_ratio
from fairpca.solvers._null_axes import leave_saddle, with_exact_null_columns
from fairpca.solvers._result import Callback, FitResult, OuterStep, Solution, Status
from fairpca.solvers._start import mean_matched_frame
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.unconstrained import Penalised, Sample, minimise

N_RANDOM = 11
"""Random frames from which the published code takes the one of most variance."""


@dataclass(frozen=True)
class Run:
    """Where a run of the algorithm ended, why, and its steps."""

    answer: Evaluation
    status: Status
    steps: tuple[OuterStep, ...]


@dataclass
class REPMS(BaseEstimator):
    r"""Riemannian exact penalty method (Algorithm 1), on the Grassmann manifold.

    Outer step k minimises Q(V, rho_k) = f(V) + rho_k h(V), f = -tr(V'SV) / tr(S), from the last point until
    \|grad Q\| <= epsilon_k. It stops when the step is at most d_min, epsilon_k <= epsilon_min and h <= tau; else
    epsilon shrinks by theta_epsilon, and rho grows by theta_rho while h > tau. With several measures each has a
    penalty rho_j of its own, which is 0 until h_j is above tau_j for the first time.

    The paper writes it on the Stiefel manifold; Q(VO) = Q(V) for every rotation O, so that subspaces are enough. Q is
    minimised by the cautious Riemannian BFGS of the paper for 100 iterations, and where they are not enough by the same
    with the Hessian as its metric.

    Parameters
    ----------
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
    n_restarts : int, default=5
        When a run ends above the tolerance, minimise h alone from this many random starts and, if one of them is
        fairer, run again from there. 0 keeps to the letter of Algorithm 1.
    retraction : {"polar", "qr"}, default="polar"
        Retraction of the manifold.

    References
    ----------
    J. Lee, G. Kim, M. Olfat, M. Hasegawa-Johnson, C. D. Yoo, "Fast and Efficient MMD-based Fair PCA via
    Optimization over Stiefel Manifold", AAAI 2022.

    Examples
    --------
    >>> from fairpca import FairPCA
    >>> model = FairPCA(solver=REPMS(max_iter=50, rho_max=1e8))
    """

    max_iter: int = 100
    epsilon_0: float = 1e-1
    epsilon_min: float = 1e-6
    theta_epsilon: float | None = None
    rho_scale: float = 1.0
    theta_rho: float = 2.0
    rho_max: float = 1e10
    d_min: float = 1e-6
    n_restarts: int = 5
    retraction: str = "polar"
    name: str = field(default="repms", init=False)

    def __post_init__(self) -> None:
        for parameter in ("epsilon_0", "epsilon_min", "rho_scale", "rho_max", "d_min"):
            check_number(parameter, getattr(self, parameter), 0)
        check_number("theta_epsilon", self.theta_epsilon, 0, 1, or_none=True)
        check_number("theta_rho", self.theta_rho, 1)
        check_integer("max_iter", self.max_iter, 1)
        check_integer("n_restarts", self.n_restarts, 0)
        check_name("retraction", self.retraction, RETRACTIONS)

    time_limit = None

    def within(self, seconds: float) -> "REPMS":
        """Return the solver as it is: it knows no limit of time."""
        return self

    def roughly(self) -> "REPMS":
        """Return the solver as it is: the published algorithm."""
        return self

    def check_tolerances(self, tolerances: FloatArray) -> None:
        """Accept any tolerances: with 0 the method stops where its penalty ends."""

    def solve(
        self,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        init: str | FloatArray | WarmStart,
        generator: np.random.Generator,
        callback: Callback | None = None,
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        problem : FairSubspaceProblem
            The problem.
        tolerances : ndarray of shape (n_measures,)
            tau.
        init : {"auxiliary", "mean-matched", "pca"}, ndarray of shape (p, d) or WarmStart
            First point.
        generator : numpy.random.Generator
            Draws random frames.
        callback : callable, default=None
            Called with each `OuterStep`.

        Returns
        -------
        solution : Solution
            The last point and the record of the run.
        """
        self.__post_init__()
        began = time.perf_counter()
        pca = problem.evaluate(problem.pca())
        if pca.meets(tolerances):
            return self._solution(problem, Run(pca, Status.PCA_IS_FAIR, ()), tolerances, began)
        if problem.shape[0] == problem.n_components:
            # There is one subspace only; steps would follow rounding.
            return self._solution(problem, Run(pca, Status.TOLERANCE_NOT_MET, ()), tolerances, began)
        penalty = _PenaltyMethod(self, problem, tolerances, pca, callback)
        run = penalty.run(self._start(penalty, init, pca, generator))
        if not run.answer.meets(tolerances):
            run = self._restart(penalty, run, tolerances, generator)
        return self._solution(problem, run, tolerances, began)

    def _start(
        self,
        penalty: "_PenaltyMethod",
        init: str | FloatArray | WarmStart,
        pca: Evaluation,
        generator: np.random.Generator,
    ) -> Evaluation:
        if not isinstance(init, str):
            return penalty.problem.evaluate(init.frame if isinstance(init, WarmStart) else init)
        if init == "pca":
            return pca
        if init == "mean-matched":
            return penalty.problem.evaluate(mean_matched_frame(penalty.problem, penalty.problem.shape[0]))
        return penalty.fairest(generator)

    def _restart(
        self, penalty: "_PenaltyMethod", run: Run, tolerances: FloatArray, generator: np.random.Generator
    ) -> Run:
        """Go on from the fairest of several frames if it is fairer than where the run ended."""
        candidates = [penalty.fairest(generator) for _ in range(self.n_restarts)]
        ratios = [candidate.largest_ratio(tolerances) for candidate in candidates]
        if min(ratios, default=math.inf) >= 0.9 * run.answer.largest_ratio(tolerances):
            return run
        fairest = candidates[ratios.index(min(ratios))]
        again = penalty.run(fairest)
        return Run(again.answer, again.status, run.steps + again.steps)

    def _solution(self, problem: FairSubspaceProblem, run: Run, tolerances: FloatArray, began: float) -> Solution:
        answer = with_exact_null_columns(problem, run.answer, tolerances)
        n_live = split_null(answer.point, problem.rank)[0].shape[1]
        passed = [answer.discrepancies, *(step.mmd2s for step in run.steps)]
        result = FitResult(
            solver=self.name,
            status=run.status,
            tolerances=tolerances,
            mmd2s=answer.discrepancies,
            fairest_mmd2s=min(passed, key=lambda mmd2s: largest_ratio(mmd2s, tolerances)),
            variance_kept=answer.variance,
            steps=run.steps,
            n_values=problem.counts.values,
            n_gradients=problem.counts.gradients,
            n_hessian_products=0,
            n_hessians=problem.counts.hessians,
            seconds=time.perf_counter() - began,
            n_live_components=n_live,
        )
        return Solution(answer.point, result, WarmStart(answer.point, problem.n_components))


class _PenaltyMethod:
    """The loop of Algorithm 1 for one problem."""

    def __init__(
        self,
        settings: REPMS,
        problem: FairSubspaceProblem,
        tolerances: FloatArray,
        pca: Evaluation,
        callback: Callback | None,
    ) -> None:
        self.problem = problem
        self._settings = settings
        self._tolerances = tolerances
        self._first_rho = np.minimum(
            settings.rho_scale / np.maximum(pca.discrepancies, np.finfo(float).tiny), settings.rho_max
        )
        self._rho_0 = np.where(pca.discrepancies > tolerances, self._first_rho, 0.0)
        self._callback = callback
        self._manifold = Grassmann(settings.retraction)

    def fairest(self, generator: np.random.Generator) -> Evaluation:
        """Minimise the discrepancy alone, from the random frame of most variance among eleven, in all axes.

        This is how the published code starts. Null axes take part: where the tolerance is strict the answer needs them.
        """
        strictest = self._tolerances.min()
        weights = strictest / self._tolerances if strictest > 0 else np.ones_like(self._tolerances)
        auxiliary = Penalised(self.problem, weights, alpha=0.0)
        frames = [self._manifold.random_point(*self.problem.shape, generator) for _ in range(N_RANDOM)]
        widest = max(frames, key=lambda frame: float(self.problem.variances @ (frame**2).sum(axis=1)))
        start = auxiliary.sample(widest)
        return minimise(auxiliary, self._manifold, start, self._settings.epsilon_min).sample.evaluation

    def run(self, here: Evaluation) -> Run:
        """Run Algorithm 1 from a point."""
        settings = self._settings
        theta = settings.theta_epsilon or (settings.epsilon_min / settings.epsilon_0) ** 0.2
        epsilon, rho = settings.epsilon_0, self._rho_0
        steps: list[OuterStep] = []
        for _ in range(settings.max_iter + 1):
            penalised = Penalised(self.problem, rho)
            before = penalised.read(here)
            step, after = _outer_step(penalised, self._manifold, before, epsilon)
            here = after.evaluation
            steps.append(step)
            if self._callback is not None:
                self._callback(step)
            still = step.step_length <= settings.d_min and epsilon <= settings.epsilon_min
            violated = here.discrepancies > self._tolerances
            if still and not violated.any():
                return Run(here, Status.CONVERGED, tuple(steps))
            at_rest = still or before.value - after.value <= before.rounding
            if at_rest and violated.any() and np.all(rho[violated] >= settings.rho_max):
                # Every further step would repeat this one, or follow rounding.
                return Run(here, Status.TOLERANCE_NOT_MET, tuple(steps))
            epsilon = max(settings.epsilon_min, theta * epsilon)
            larger = np.where(rho > 0, np.minimum(settings.theta_rho * rho, settings.rho_max), self._first_rho)
            rho = np.where(violated, larger, rho)
        return Run(here, Status.MAX_ITERATIONS, tuple(steps))


def _outer_step(penalised: Penalised, manifold: Grassmann, here: Sample, epsilon: float) -> tuple[OuterStep, Sample]:
    """Minimise the penalty function for one rho from the last point, and leave the saddles that it ends at."""
    began = time.perf_counter()
    problem = penalised.problem
    gradients = problem.counts.gradients
    inner = minimise(penalised, manifold, here, epsilon)
    n_iter = inner.n_iter
    for _ in range(problem.n_components):
        lower = leave_saddle(penalised, manifold, inner.sample, epsilon)
        if lower is None:
            break
        inner = minimise(penalised, manifold, lower, epsilon)
        n_iter += inner.n_iter
    there = inner.sample
    step = OuterStep(
        penalties=penalised.rho,
        mmd2s=there.evaluation.discrepancies,
        variance_kept=there.evaluation.variance,
        gradient_norm=inner.gradient_norm,
        gradient_tolerance=epsilon,
        step_length=float(np.linalg.norm(there.point - here.point)),
        n_iter=n_iter,
        n_gradients=problem.counts.gradients - gradients,
        n_hessian_products=0,
        seconds=time.perf_counter() - began,
        message=inner.status.value,
    )
    return step, there
