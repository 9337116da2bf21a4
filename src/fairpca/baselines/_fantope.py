"""The Fantope with a bound on the group means, and the alternating direction method of multipliers over it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.baselines._problem import FPCAProblem, Pair

_MAX_NEWTON = 100

_RELAXATION = 1.6

_CHECK_EVERY = 10

_ADAPT_EVERY = 50

_ADAPT_UNTIL = 2000

_SMALL = 1e-8


@dataclass(frozen=True)
class Projection:
    """A point of the set: `matrix` on the live axes, `scalar` times the identity on the null axes.

    Attributes
    ----------
    matrix : ndarray of shape (q, q)
        Live block.
    scalar : float
        Value on every null axis.
    multiplier : float
        lambda >= 0 of the constraint f'Pf <= delta^2; 0 where it is slack.
    """

    matrix: FloatArray
    scalar: float
    multiplier: float


@dataclass(frozen=True)
class Fantope:
    """The set {P : 0 <= P <= I, tr P = d, f'Pf <= delta^2}, for P that is a multiple of I on the null axes.

    Rows of data carry no information about their null space, so an optimal P may be averaged over its rotations: one
    number stands for all null axes, however many there are.

    Parameters
    ----------
    n_components : int
        d.
    n_null : int
        Number of null axes.
    mean_difference : ndarray of shape (q,) or None
        f on the live axes; None leaves out its constraint.
    bound : float
        delta^2, greater than 0 if there is a mean difference.
    exact_trace : bool, default=True
        Whether tr P = d; otherwise tr P <= d.
    """

    n_components: int
    n_null: int
    mean_difference: FloatArray | None = None
    bound: float = np.inf
    exact_trace: bool = True

    def project(self, matrix: FloatArray, scalar: float, guess: float = 0.0) -> Projection:
        """Return the nearest point of the set in the Frobenius norm.

        P(lambda), the projection of A - lambda ff' without the mean constraint, has a non-increasing f'Pf, so lambda is
        the root of one monotone function of one variable.

        Parameters
        ----------
        matrix : ndarray of shape (q, q)
            Symmetric live block.
        scalar : float
            Value on the null axes.
        guess : float, default=0.0
            Where to look for the multiplier first.
        """
        f = self.mean_difference
        if f is None:
            return self._spectral(matrix, scalar).point(0.0)
        outer = np.outer(f, f)
        low, high, multiplier = -1.0, np.inf, guess  # below 0: that 0 itself is slack has not been ruled out
        for _ in range(_MAX_NEWTON):
            spectrum = self._spectral(matrix - multiplier * outer, scalar)
            excess, slope = spectrum.along(f)
            excess -= self.bound
            slack = multiplier == 0.0 and excess <= 0.0
            exhausted = np.isfinite(high) and high - low <= 1e-15 * high
            if slack or exhausted or abs(excess) <= 1e-13 * self.bound:
                break
            low, high = (multiplier, high) if excess > 0 else (low, multiplier)
            multiplier = _safeguarded(multiplier, excess, slope, low, high, float(f @ f))
        return spectrum.point(multiplier)

    def upper_bound(self, matrix: FloatArray, scalar: float, multiplier: float) -> float:
        """Return a bound on max <M, P> over the set, attained for the optimal multiplier of the mean constraint.

        Parameters
        ----------
        matrix : ndarray of shape (q, q)
            Symmetric live block of M.
        scalar : float
            Value of M on the null axes.
        multiplier : float
            Any number >= 0: max <M, P> <= (sum of the d largest eigenvalues of M - lambda ff') + lambda delta^2.
        """
        offset = 0.0
        if self.mean_difference is not None:
            matrix = matrix - multiplier * np.outer(self.mean_difference, self.mean_difference)
            offset = multiplier * self.bound
        eigenvalues = np.linalg.eigvalsh(matrix)[::-1][: self.n_components]
        values = np.concatenate([eigenvalues, np.full(min(self.n_null, self.n_components), scalar)])
        largest = np.sort(values)[::-1][: self.n_components]
        return float(np.sum(largest if self.exact_trace else np.maximum(largest, 0.0))) + offset

    def _spectral(self, matrix: FloatArray, scalar: float) -> "_Clipped":
        eigenvalues, vectors = np.linalg.eigh(matrix)
        counts = np.ones(len(eigenvalues) + 1)
        counts[-1] = self.n_null
        shift = trace_shift(np.append(eigenvalues, scalar), counts, self.n_components, self.exact_trace)
        return _Clipped(eigenvalues, vectors, scalar, shift, self.n_null, self.exact_trace)


def trace_shift(values: FloatArray, counts: FloatArray, total: float, exact: bool = True) -> float:
    """Return theta such that sum_i counts_i clip(values_i - theta, 0, 1) = total.

    Parameters
    ----------
    values, counts : ndarray of shape (m,)
        Eigenvalues and how often each occurs; the counts sum to at least `total`.
    total : float
        The trace.
    exact : bool, default=True
        False asks for a sum of at most `total`, so that theta = 0 is enough where the clipped values sum to less.
    """
    if not exact and float(counts @ np.clip(values, 0.0, 1.0)) <= total:
        return 0.0
    # The sum is piecewise linear in theta: find the piece, then solve on it.
    breakpoints = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.clip(values - breakpoints[:, None], 0.0, 1.0) @ counts
    after = int(np.argmax(sums <= total))
    if after == 0 or sums[after] == total:
        return float(breakpoints[after])
    fraction = (sums[after - 1] - total) / (sums[after - 1] - sums[after])
    return float(breakpoints[after - 1] + fraction * (breakpoints[after] - breakpoints[after - 1]))


@dataclass(frozen=True)
class _Clipped:
    """Eigenvalues shifted by theta and clipped to [0, 1], with what Newton's method needs."""

    eigenvalues: FloatArray
    vectors: FloatArray
    scalar: float
    shift: float
    n_null: int
    exact_trace: bool

    @property
    def clipped(self) -> FloatArray:
        return np.clip(self.eigenvalues - self.shift, 0.0, 1.0)

    def point(self, multiplier: float) -> Projection:
        matrix = (self.vectors * self.clipped) @ self.vectors.T
        return Projection(matrix, float(np.clip(self.scalar - self.shift, 0.0, 1.0)), multiplier)

    def along(self, f: FloatArray) -> tuple[float, float]:
        """Return f'P(lambda)f and its derivative, -<D(ff'), ff'> with D the derivative of the projection."""
        squares = (self.vectors.T @ f) ** 2
        clipped = self.clipped
        inside = (clipped > 0.0) & (clipped < 1.0)
        gaps = self.eigenvalues[:, None] - self.eigenvalues
        same = np.abs(gaps) <= 1e-14 * (1.0 + np.abs(self.eigenvalues).max())
        differences = clipped[:, None] - clipped
        ratios = np.where(same, inside[:, None] & inside, differences / np.where(same, 1.0, gaps))
        slope = -float(squares @ ratios @ squares)
        scalar_inside = 0.0 < self.scalar - self.shift < 1.0
        n_inside = int(inside.sum()) + (self.n_null if scalar_inside else 0)
        if n_inside and (self.exact_trace or self.shift > 0.0):
            slope += float(squares[inside].sum()) ** 2 / n_inside
        return float(squares @ clipped), slope


def _safeguarded(current: float, excess: float, slope: float, low: float, high: float, scale: float) -> float:
    """Return Newton's next multiplier if it stays in the bracket, else halve the bracket or double the multiplier."""
    newton = current - excess / slope if slope < 0.0 else np.inf  # a flat piece tells nothing
    if newton <= 0.0 and low < 0.0:
        return 0.0
    if low < newton < high:
        return newton
    if np.isinf(high):
        return max(2.0 * current, 1.0 / scale)
    return max(0.0, (low + high) / 2.0)


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
