"""Any pymanopt optimizer as sub-problem solver."""
# SPDX-License-Identifier: MIT

from copy import copy
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.solvers.unconstrained._objectives import Objective, Sample
from fairpca.solvers.unconstrained._unconstrained import InnerResult, InnerStatus


def is_pymanopt_optimizer(candidate: Any) -> bool:
    """Tell whether an object is a pymanopt optimizer, without importing pymanopt."""
    return any(base.__module__.startswith("pymanopt.optimizers") for base in type(candidate).__mro__)


class PymanoptSubsolver:
    """Runs a pymanopt optimizer on the Grassmann manifold.

    Parameters
    ----------
    optimizer : pymanopt.optimizers.optimizer.Optimizer
        The optimizer; its own settings are kept, but for the gradient norm to reach, which the outer method sets,
        and the printing, which is switched off.
    """

    def __init__(self, optimizer: Any) -> None:
        self._optimizer = optimizer

    def minimise(self, objective: Objective, manifold: Frames, start: Sample, gradient_tolerance: float) -> InnerResult:
        """Minimise until the norm of the Riemannian gradient is at most `gradient_tolerance`.

        Parameters
        ----------
        objective : Objective
            The function to minimise.
        manifold : Frames
            Used for the final gradient norm.
        start : Sample
            First point, already evaluated.
        gradient_tolerance : float
            Stop at this gradient norm.

        Returns
        -------
        result : InnerResult
            The last point and why the method stopped there.
        """
        import pymanopt

        start_norm = float(np.linalg.norm(manifold.project(start.point, start.gradient)))
        if start_norm <= gradient_tolerance:
            return InnerResult(start, start_norm, 0, InnerStatus.GRADIENT_SMALL)
        geometry = pymanopt.manifolds.Grassmann(*start.point.shape)
        last = _LastSample(objective, start)

        @pymanopt.function.numpy(geometry)
        def cost(point: FloatArray) -> float:
            return last.at(point).value

        @pymanopt.function.numpy(geometry)
        def gradient(point: FloatArray) -> FloatArray:
            return last.at(point).gradient

        @pymanopt.function.numpy(geometry)
        def hessian(point: FloatArray, tangent: FloatArray) -> FloatArray:
            return objective.hessian_product(point, tangent)

        problem = pymanopt.Problem(geometry, cost, euclidean_gradient=gradient, euclidean_hessian=hessian)
        optimizer = copy(self._optimizer)
        optimizer._min_gradient_norm = gradient_tolerance
        optimizer._verbosity = 0
        outcome = optimizer.run(problem, initial_point=start.point)
        sample = last.at(np.asarray(outcome.point))
        norm = float(np.linalg.norm(manifold.project(sample.point, sample.gradient)))
        status = InnerStatus.GRADIENT_SMALL if norm <= gradient_tolerance else InnerStatus.MAX_ITERATIONS
        return InnerResult(sample, norm, int(outcome.iterations), status)


class _LastSample:
    """Keeps the last evaluation: pymanopt asks for cost and gradient at the same point separately."""

    def __init__(self, objective: Objective, start: Sample) -> None:
        self._objective = objective
        self._sample = start

    def at(self, point: FloatArray) -> Sample:
        if not np.array_equal(point, self._sample.point):
            self._sample = self._objective.sample(point)
        return self._sample
