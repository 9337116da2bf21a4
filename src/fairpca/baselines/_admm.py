"""Alternating direction method of multipliers for the semidefinite program of FPCA."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca.baselines._fantope import Projection
from fairpca.baselines._problem import FPCAProblem
from fairpca.baselines._spectral import Pair

_RELAXATION = 1.6
_CHECK_EVERY = 10
_ADAPT_EVERY = 50
_ADAPT_UNTIL = 2000
_SMALL = 1e-8


@dataclass(frozen=True)
class SDPResult:
    """Where the solver stopped.

    Attributes
    ----------
    point : Projection
        P*, feasible.
    objective : float
        Its value.
    gap : float
        Dual value minus objective: the optimum is at most this much higher.
    n_iter : int
        Iterations.
    converged : bool
        Whether the gap met the tolerance.
    """

    point: Projection
    objective: float
    gap: float
    n_iter: int
    converged: bool


@dataclass
class _State:
    """The iterates: Z = (S+ P, S- P) in the limit, scaled duals U, step rho, and g*(rho U)."""

    point: Projection
    Z: Pair
    U: Pair
    rho: float
    conjugate: float = 0.0
    change: float = np.inf
    gap: float = np.inf


def solve_fpca(problem: FPCAProblem, max_iter: int, gap_tolerance: float) -> SDPResult:
    """Solve the program to a duality gap.

    The split is P against Z = (S+ P, S- P). Because S+'S+ + S-'S- = (a + b) I, the step in P is a projection on the
    Fantope; the step in Z clips singular values. P is feasible and rho U gives a dual value, so both ends of the
    gap are known whenever it is computed.

    Parameters
    ----------
    problem : FPCAProblem
        The program.
    max_iter : int
        Largest number of iterations.
    gap_tolerance : float
        Stop when the gap is at most this multiple of `problem.scale` or of the objective, whichever is larger.

    Returns
    -------
    result : SDPResult
        P* and how good it is.
    """
    if problem.is_linear:
        return _solve_linear(problem, gap_tolerance)
    state = _start(problem)
    for n_iter in range(1, max_iter + 1):
        _step(problem, state)
        if n_iter % _CHECK_EVERY and n_iter < max_iter:
            continue
        objective = problem.objective(state.point)
        gap = _dual_value(problem, state) - objective
        if gap <= gap_tolerance * max(problem.scale, abs(objective)):
            return SDPResult(state.point, objective, max(gap, 0.0), n_iter, True)
        if n_iter % _ADAPT_EVERY == 0 and n_iter <= _ADAPT_UNTIL:
            _adapt(problem, state, stalled=gap > 0.5 * state.gap)
            state.gap = gap
    return SDPResult(state.point, objective, gap, max_iter, False)


def _solve_linear(problem: FPCAProblem, gap_tolerance: float) -> SDPResult:
    """Without a penalty the projection of C / epsilon, which maximises <C, P> - epsilon |P|^2 / 2, is enough."""
    epsilon = _SMALL * problem.scale / problem.fantope.n_components
    point = problem.fantope.project(problem.C / epsilon, 0.0)
    objective = problem.objective(point)
    gap = problem.fantope.upper_bound(problem.C, 0.0, epsilon * point.multiplier) - objective
    return SDPResult(point, objective, max(gap, 0.0), 1, gap <= gap_tolerance * problem.scale)


def _start(problem: FPCAProblem) -> _State:
    q = len(problem.q)
    point = problem.fantope.project(problem.C / (_SMALL * problem.scale), 0.0)
    zero = Pair(np.zeros((2, q, q)), np.zeros(2))
    rho = problem.scale / (problem.fantope.n_components * sum(problem.shifts))
    return _State(point, problem.images(point), zero, rho)


def _step(problem: FPCAProblem, state: _State) -> None:
    curvature = sum(problem.shifts)
    matrix, scalar = problem.adjoint(state.Z - state.U)
    matrix = (matrix + problem.C / state.rho) / curvature
    state.point = problem.fantope.project(matrix, scalar / curvature, state.point.multiplier)
    images = problem.images(state.point)
    # Over-relaxation (Boyd et al. 2011, section 3.4.3) saves about a quarter of the iterations.
    target = images * _RELAXATION + state.Z * (1.0 - _RELAXATION) + state.U
    before = state.Z
    state.Z, state.U, state.conjugate = problem.penalty.split(target, 1.0 / state.rho)
    matrix, scalar = problem.adjoint(state.Z - before)
    state.change = float(np.sqrt(np.vdot(matrix, matrix) + problem.fantope.n_null * scalar**2))


def _dual_value(problem: FPCAProblem, state: _State) -> float:
    """Return an upper bound of the optimum from the multipliers Y = rho U and rho (a + b) lambda."""
    matrix, scalar = problem.adjoint(state.U * state.rho)
    multiplier = state.rho * sum(problem.shifts) * state.point.multiplier
    return problem.fantope.upper_bound(problem.C - matrix, -scalar, multiplier) + state.conjugate


def _adapt(problem: FPCAProblem, state: _State, stalled: bool) -> None:
    """Choose rho so that primal and dual residual, each relative to its size, shrink alike (ibid., section 3.4.1)."""
    n_null = problem.fantope.n_null
    images = problem.images(state.point)
    primal = (images - state.Z).squared_norm(n_null)
    primal_size = max(images.squared_norm(n_null), state.Z.squared_norm(n_null))
    matrix, scalar = problem.adjoint(state.U)
    dual_size = float(np.vdot(matrix, matrix) + n_null * scalar**2)
    factor = 1.0
    if min(primal, primal_size, state.change, dual_size) > 0.0:
        ratio = (primal / primal_size) / (state.change**2 / dual_size)
        factor = float(np.clip(ratio**0.25, 0.2, 5.0))
    if 1 / 1.5 < factor < 1.5:
        if not stalled:
            return  # a new rho disturbs the iterates: not for a small gain
        # Along axes of little variance P drifts by C / (rho (a + b)) per step, too little to show in the residuals.
        factor = 0.3
    state.rho *= factor
    state.U = state.U * (1.0 / factor)
    state.point = replace(state.point, multiplier=state.point.multiplier / factor)
