"""FPCA's objective optimised over orthonormal frames instead of its convex relaxation."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from fairpca._utils.typing import FloatArray
from fairpca.baselines._problem import FPCAProblem

_TEMPERATURES = 0.1 * 0.25 ** np.arange(9)
_MAX_ITER = 500


@dataclass(frozen=True)
class FrameObjective:
    """F(V) = tr(V'CV) - g(S+ VV', S- VV') for frames V, on the live axes and as many null axes as V can use.

    For P = VV' the spectral norms are eigenvalues of V'QV: |S+ P|^2 = a + lambda_max and |S- P|^2 = b - lambda_min.

    Attributes
    ----------
    axes : ndarray of shape (p, m)
        The axes.
    C : ndarray of shape (m, m)
        Variance term.
    q : ndarray of shape (m,)
        Diagonal of Q.
    f : ndarray of shape (m,)
        Difference of the means; 0 where no constraint is left.
    problem : FPCAProblem
        Where this came from.
    """

    axes: FloatArray
    C: FloatArray
    q: FloatArray
    f: FloatArray
    problem: FPCAProblem

    @classmethod
    def of(cls, problem: FPCAProblem) -> "FrameObjective":
        """Take the axes of a program."""
        null = problem.null_axes[:, : problem.fantope.n_components]
        n_live = problem.axes.shape[1]
        # As many null axes as a frame can use, each of its own.
        places = np.append(np.arange(n_live), np.full(null.shape[1], len(problem.q) - 1))
        f = problem.fantope.mean_difference
        return cls(
            axes=np.hstack([problem.axes, null]),
            C=problem.C[np.ix_(places, places)],
            q=problem.q[places],
            f=np.zeros(len(places)) if f is None else f[places],
            problem=problem,
        )

    def value(self, frame: FloatArray) -> float:
        """Return F(V)."""
        eigenvalues = np.linalg.eigvalsh(frame.T @ (self.q[:, None] * frame))
        a, b = self.problem.shifts
        squares = np.array([a + eigenvalues[-1], b - eigenvalues[0]])
        norm = squares.max() if self.problem.penalty.pooled else squares.sum()
        return float(np.vdot(frame, self.C @ frame) - self.problem.penalty.mu * norm)

    def smoothed(self, frame: FloatArray, temperature: float) -> tuple[float, FloatArray]:
        """Return -F(V) up to a constant, with maxima replaced by log-sum-exp, and its gradient."""
        image, CV = self.q[:, None] * frame, self.C @ frame
        eigenvalues, vectors = np.linalg.eigh(frame.T @ image)
        both = np.stack([eigenvalues, -eigenvalues]) / temperature
        # Pooled: one maximum over both signs; otherwise one maximum for each.
        axis = None if self.problem.penalty.pooled else 1
        largest = temperature * float(np.sum(logsumexp(both, axis=axis)))
        weights = softmax(both, axis=axis)
        mu = self.problem.penalty.mu
        gradient = mu * image @ (vectors * (weights[0] - weights[1])) @ vectors.T - CV
        return mu * largest - float(np.vdot(frame, CV)), 2.0 * gradient

    def excess(self, frame: FloatArray) -> float:
        """Return |V'f|^2 - delta^2, minus infinity without the constraint."""
        return float(np.sum((self.f @ frame) ** 2)) - self.problem.fantope.bound


def optimise_frame(problem: FPCAProblem, start: FloatArray) -> FloatArray:
    """Return a frame with a larger objective than `start`, a local maximiser of F subject to |V'f| <= delta.

    The maxima of eigenvalues are smoothed by a falling temperature, each level solved by L-BFGS; an augmented
    Lagrangian holds the constraint on the means, and a last rotation meets it exactly.

    Parameters
    ----------
    problem : FPCAProblem
        The program.
    start : ndarray of shape (p, d)
        Frame to start from.
    """
    objective = FrameObjective.of(problem)
    frame = meet_means(np.linalg.qr(objective.axes.T @ start)[0], objective)
    first = frame
    spread = sum(problem.shifts) or 1.0
    weight = problem.scale / problem.fantope.bound**2  # 0 without the constraint
    multiplier = 0.0
    for temperature in _TEMPERATURES * spread:
        frame = _descend(objective, frame, temperature, weight, multiplier)
        multiplier = max(0.0, multiplier + weight * objective.excess(frame)) if weight else 0.0
    frame = meet_means(frame, objective)
    best = frame if objective.value(frame) > objective.value(first) else first
    return objective.axes @ best


def _descend(
    objective: FrameObjective, frame: FloatArray, temperature: float, weight: float, multiplier: float
) -> FloatArray:
    """Minimise the smoothed augmented Lagrangian over all matrices whose columns span the subspace."""
    f, scale = objective.f, objective.problem.scale

    def evaluate(flat: FloatArray) -> tuple[float, FloatArray]:
        V, R = np.linalg.qr(flat.reshape(frame.shape))
        value, gradient = objective.smoothed(V, temperature)
        pull = max(0.0, multiplier + weight * objective.excess(V)) if weight else 0.0
        if pull:
            value += pull**2 / (2.0 * weight)
            gradient = gradient + 2.0 * pull * np.outer(f, f @ V)
        # The value depends on the span alone, so dV = (I - VV') dX R^-1.
        tangent = gradient - V @ (V.T @ gradient)
        return value / scale, np.linalg.solve(R, tangent.T).T.ravel() / scale

    options = {"maxiter": _MAX_ITER, "ftol": 1e-13, "gtol": 1e-8}
    solution = minimize(evaluate, frame.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.linalg.qr(solution.x.reshape(frame.shape))[0]


def meet_means(frame: FloatArray, objective: FrameObjective) -> FloatArray:
    """Turn the one direction of span(V) that sees the means until |V'f| = delta, if it is larger.

    Parameters
    ----------
    frame : ndarray of shape (m, d)
        V.
    objective : FrameObjective
        Gives f and delta.
    """
    if objective.excess(frame) <= 0.0:
        return frame
    f, delta = objective.f, np.sqrt(objective.problem.fantope.bound)
    seen = f @ frame
    size = float(np.linalg.norm(seen))
    rest = f - frame @ seen
    height = float(np.linalg.norm(rest))
    # Where f lies in the span, every direction outside leads away from it.
    away = -rest / height if height > 1e-12 * size else np.linalg.qr(frame, mode="complete")[0][:, -1]
    angle = np.arccos(delta / np.hypot(size, height)) - np.arctan2(height, size)
    weights = seen / size
    direction = frame @ weights
    turned = np.cos(angle) * direction + np.sin(angle) * away
    return frame + np.outer(turned - direction, weights)
