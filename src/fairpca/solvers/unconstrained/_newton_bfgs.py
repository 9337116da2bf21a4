"""Riemannian BFGS that looks at the Hessian where steps alone do not teach it fast enough."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import eigh

from fairpca._utils.checks import check_integer
from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers._two_loop import quasi_newton_product
from fairpca.solvers.unconstrained._objectives import Objective, Sample
from fairpca.solvers.unconstrained._rbfgs import RiemannianBFGS
from fairpca.solvers.unconstrained._unconstrained import DescentState, InnerResult, InnerStatus, Pairs

MOST_DENSE = 1500
"""Dimensions of the manifold up to which the Hessian is built."""

FLATTEST = 1e-6
"""Least curvature that a metric knows, relative to the largest: below it single precision is noise."""

LONGEST_STEP = 0.5
"""Length of the first step to try at most, about 30 degrees: beyond, a second-order model says little."""


@dataclass(frozen=True)
class NewtonBFGS:
    """Cautious Riemannian BFGS whose first metric, after some iterations without one, is the Hessian.

    A large penalty makes a function so ill conditioned that BFGS learns its metric too slowly, and columns that turn
    into the null space pass saddles. The eigenvalues of the Hessian with their signs removed are a metric in which
    steps are Newton's where the function is convex, and leave a saddle where it is not (Dauphin and others, 2014).

    Parameters
    ----------
    max_iter : int, default=300
        Largest number of iterations.
    patience : int, default=100
        Iterations before the first Hessian. On manifolds of more than 1500 dimensions there is none.
    refresh : int, default=20
        Iterations after which the Hessian is built anew.

    References
    ----------
    Y. Dauphin, R. Pascanu, C. Gulcehre, K. Cho, S. Ganguli, Y. Bengio, "Identifying and attacking the saddle point
    problem in high-dimensional non-convex optimization", NeurIPS 2014.
    """

    max_iter: int = 300
    patience: int = 100
    refresh: int = 20

    def __post_init__(self) -> None:
        check_integer("max_iter", self.max_iter, 1)
        check_integer("patience", self.patience, 1)
        check_integer("refresh", self.refresh, 1)

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
        if manifold.dimension(*start.point.shape) > MOST_DENSE:
            return RiemannianBFGS().minimise(objective, manifold, start, gradient_tolerance)
        plain = RiemannianBFGS(max_iter=self.patience)
        result = plain.minimise(objective, manifold, start, gradient_tolerance)
        if result.status is InnerStatus.ROUNDING_LIMIT:
            return result
        while result.status is not InnerStatus.GRADIENT_SMALL and result.n_iter < self.max_iter:
            cycle = _BFGSInMetric(max_iter=self.refresh, metric=SaddleFreeMetric.at(result.sample, objective))
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
    def at(cls, here: Sample, objective: Objective) -> "SaddleFreeMetric":
        """Decompose the Hessian at an evaluated frame."""
        d = here.point.shape[1]
        complement = np.linalg.qr(here.point, mode="complete")[0][:, d:]
        hessian = objective.hessian(here, complement)
        eigenvalues, basis = eigh(hessian, overwrite_a=True, check_finite=False, driver="evd")
        sizes = np.abs(eigenvalues)
        return cls(complement, basis, np.maximum(sizes, max(FLATTEST * float(sizes.max()), 1e-300)))

    def solve(self, tangent: FloatArray) -> FloatArray:
        """Return |H|^{-1} times a tangent vector of a frame nearby."""
        coefficients = (self.complement.T @ tangent).T.ravel() @ self.basis
        solution = self.basis @ (coefficients / self.curvatures)
        return self.complement @ solution.reshape(tangent.shape[1], -1).T


@dataclass(frozen=True)
class _BFGSInMetric(RiemannianBFGS):
    """BFGS from a metric that is known at a frame nearby."""

    metric: SaddleFreeMetric = field(kw_only=True)

    def _direction(self, pairs: Pairs, manifold: Frames, state: DescentState) -> tuple[FloatArray, float]:
        product = quasi_newton_product(pairs, state.gradient, self.metric.solve)
        direction = -manifold.project(state.sample.point, product)
        return direction, min(1.0, LONGEST_STEP / float(np.linalg.norm(direction)))
