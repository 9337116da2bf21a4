"""The semidefinite program of FPCA, in axes in which its steps are cheap, and the multiplier method that solves it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.baselines._fantope import Fantope, Projection, SquaredSpectralNorm
from fairpca.data import ScaledMoments

_NEGLIGIBLE = 1e-12

_RELAXATION = 1.6

_CHECK_EVERY = 10

_ADAPT_EVERY = 50

_ADAPT_UNTIL = 2000

_SMALL = 1e-8


def _shifts(Q: FloatArray, form: str) -> tuple[float, float]:
    """Return a and b that make Q + a I and b I - Q positive semidefinite, also on null axes."""
    eigenvalues = np.linalg.eigvalsh(Q)
    a, b = max(0.0, -float(eigenvalues[0])), max(0.0, float(eigenvalues[-1]))
    return (a, b) if form == "published" else (max(a, b), max(a, b))


@dataclass(frozen=True)
class FPCAProblem:
    """Maximise <C, P> - g(S+ P, S- P) over the Fantope, in the axes that make Q diagonal.

    There S+ and S- are diagonal, with S+'S+ + S-'S- = (a + b) I, and a mean constraint with delta = 0 has become
    the absence of one axis.

    Attributes
    ----------
    axes : ndarray of shape (p, r)
        The axes on which P may be anything.
    null_axes : ndarray of shape (p, k)
        Axes without variance, on which P is a multiple of I: one more axis beside the r, where there are such.
    excluded_axes : ndarray of shape (p, 0) or (p, 1)
        The direction of f if delta = 0: P is 0 there.
    C : ndarray of shape (m, m)
        Variance term.
    q : ndarray of shape (m,)
        Eigenvalues of Q.
    shifts : tuple of float
        a and b.
    penalty : SquaredSpectralNorm
        g.
    fantope : Fantope
        The set.
    scale : float
        max <C, P> without any constraint, which plain PCA attains: the unit of objective and gap.
    distance : float
        Distance of the group means.
    """

    axes: FloatArray
    null_axes: FloatArray
    excluded_axes: FloatArray
    C: FloatArray
    q: FloatArray
    shifts: tuple[float, float]
    penalty: SquaredSpectralNorm
    fantope: Fantope
    scale: float
    distance: float

    @classmethod
    def of(cls, moments: ScaledMoments, n_components: int, delta: float, mu: float, form: str) -> "FPCAProblem":
        """Set up the program.

        Parameters
        ----------
        moments : ScaledMoments
            Of all rows and of two groups; without groups both fairness terms are left out.
        n_components, delta, mu, form
            As in `FPCA`.
        """
        principal = moments.axes
        live, null = np.split(principal.axes, [principal.rank], axis=1)
        variances = principal.variances[: principal.rank]
        C = np.diag(variances / np.sqrt(moments.mass * variances.sum()))
        Q, f = np.zeros_like(C), np.zeros(len(C))
        if len(moments.within):
            Q = live.T @ (moments.within[0] - moments.within[1]) @ live
            f = live.T @ (moments.cross @ (np.array([1.0, -1.0]) / moments.shares))
        norm = float(np.linalg.norm(f))
        has_means = norm > _NEGLIGIBLE * np.sqrt(principal.variances.sum())
        bounded = has_means and delta > 0.0
        excluded = f[:, None] / norm if has_means and not bounded else np.empty((principal.rank, 0))
        inside = np.linalg.qr(excluded, mode="complete")[0][:, excluded.shape[1] :]
        q, rotation = np.linalg.eigh(inside.T @ Q @ inside)
        basis = inside @ rotation
        some_null = (0, min(1, null.shape[1]))
        counts = np.append(np.ones(len(q)), np.full(some_null[1], null.shape[1]))
        return cls(
            axes=live @ basis,
            null_axes=null,
            excluded_axes=live @ excluded,
            C=np.pad(basis.T @ C @ basis, some_null),
            q=np.pad(q, some_null),
            shifts=_shifts(Q, form),
            penalty=SquaredSpectralNorm(mu, counts, pooled=form == "text"),
            fantope=Fantope(
                n_components,
                counts,
                mean_difference=np.pad(basis.T @ f, some_null) if bounded else None,
                bound=delta**2 if bounded else np.inf,
                exact_trace=form == "published",
            ),
            scale=float(np.sort(np.diag(C))[::-1][:n_components].sum()),
            distance=norm,
        )

    @property
    def is_linear(self) -> bool:
        """Whether the penalty is absent."""
        return self.penalty.mu == 0.0 or sum(self.shifts) <= _NEGLIGIBLE * self.scale

    @property
    def roots(self) -> FloatArray:
        """Diagonals of S+ and S-, shape (2, m)."""
        a, b = self.shifts
        return np.sqrt(np.maximum(np.stack([self.q + a, b - self.q]), 0.0))

    def images(self, matrix: FloatArray) -> FloatArray:
        """Return (S+ P, S- P)."""
        return self.roots[:, :, None] * matrix

    def adjoint(self, pair: FloatArray) -> FloatArray:
        """Return the symmetric part of S+'Z+ + S-'Z-."""
        total = np.einsum("si,sij->ij", self.roots, pair)
        return (total + total.T) / 2.0

    def squared_norm(self, matrices: FloatArray) -> float:
        """Return the squared Frobenius norm."""
        return float(np.sum(matrices**2 * self.fantope.counts))

    def objective(self, point: Projection) -> float:
        """Return <C, P> - g(S+ P, S- P)."""
        return float(np.vdot(self.C, point.matrix)) - self.penalty.value(self.images(point.matrix))

    def spectrum(self, point: Projection) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of P, decreasing, and its eigenvectors as columns; the excluded axis comes last."""
        n_live, n_null, n_excluded = (each.shape[1] for each in (self.axes, self.null_axes, self.excluded_axes))
        eigenvalues, vectors = np.linalg.eigh(point.matrix[:n_live, :n_live])
        values = np.concatenate([eigenvalues, np.full(n_null, point.matrix[-1, -1]), np.zeros(n_excluded)])
        axes = np.hstack([self.axes @ vectors, self.null_axes, self.excluded_axes])
        # Rounding must not decide between the excluded axis and others at 0.
        values = np.clip(values, 0.0, 1.0)
        order = np.argsort(-values, kind="stable")
        return values[order], axes[:, order]


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
    Z: FloatArray
    U: FloatArray
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
    point = problem.fantope.project(problem.C / epsilon)
    objective = problem.objective(point)
    gap = problem.fantope.upper_bound(problem.C, epsilon * point.multiplier) - objective
    return SDPResult(point, objective, max(gap, 0.0), 1, gap <= gap_tolerance * problem.scale)


def _start(problem: FPCAProblem) -> _State:
    point = problem.fantope.project(problem.C / (_SMALL * problem.scale))
    images = problem.images(point.matrix)
    rho = problem.scale / (problem.fantope.n_components * sum(problem.shifts))
    return _State(point, images, np.zeros_like(images), rho)


def _step(problem: FPCAProblem, state: _State) -> None:
    matrix = (problem.adjoint(state.Z - state.U) + problem.C / state.rho) / sum(problem.shifts)
    state.point = problem.fantope.project(matrix, state.point.multiplier)
    # Over-relaxation (Boyd et al. 2011, section 3.4.3) saves about a quarter of the iterations.
    target = _RELAXATION * problem.images(state.point.matrix) + (1.0 - _RELAXATION) * state.Z + state.U
    before = state.Z
    state.Z, state.U, state.conjugate = problem.penalty.split(target, 1.0 / state.rho)
    state.change = problem.squared_norm(problem.adjoint(state.Z - before))


def _dual_value(problem: FPCAProblem, state: _State) -> float:
    """Return an upper bound of the optimum from the multipliers Y = rho U and rho (a + b) lambda."""
    multiplier = state.rho * sum(problem.shifts) * state.point.multiplier
    matrix = problem.C - state.rho * problem.adjoint(state.U)
    return problem.fantope.upper_bound(matrix, multiplier) + state.conjugate


def _adapt(problem: FPCAProblem, state: _State, stalled: bool) -> None:
    """Choose rho so that primal and dual residual, each relative to its size, shrink alike (ibid., section 3.4.1)."""
    images = problem.images(state.point.matrix)
    primal = problem.squared_norm(images - state.Z)
    primal_size = max(problem.squared_norm(images), problem.squared_norm(state.Z))
    dual_size = problem.squared_norm(problem.adjoint(state.U))
    factor = 1.0
    if min(primal, primal_size, state.change, dual_size) > 0.0:
        factor = float(np.clip(((primal / primal_size) / (state.change / dual_size)) ** 0.25, 0.2, 5.0))
    if 1 / 1.5 < factor < 1.5:
        if not stalled:
            return  # a new rho disturbs the iterates: not for a small gain
        # Along axes of little variance P drifts by C / (rho (a + b)) per step, too little to show in the residuals.
        factor = 0.3
    state.rho *= factor
    state.U = state.U / factor
    state.point = replace(state.point, multiplier=state.point.multiplier / factor)
