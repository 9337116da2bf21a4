"""How the published code starts."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Frames
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers.unconstrained import Penalised, Subsolver

N_PUBLISHED = 11


def published_start(
    problem: FairSubspaceProblem,
    weights: FloatArray,
    manifold: Frames,
    subsolver: Subsolver,
    gradient_tolerance: float,
    generator: np.random.Generator,
) -> Evaluation:
    """Minimise the discrepancy alone, from the random frame of most variance among eleven, in all axes.

    This is how the published code starts. Null axes take part: where the tolerance is strict the answer needs them.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    weights : ndarray of shape (n_measures,)
        lambda.
    manifold : Frames
        Where frames live.
    subsolver : Subsolver
        Minimises sum_j lambda_j h_j.
    gradient_tolerance : float
        Gradient norm at which to stop.
    generator : numpy.random.Generator
        Draws the frames.
    """
    auxiliary = Penalised(problem, weights, alpha=0.0)
    frames = [manifold.random_point(*problem.shape, generator) for _ in range(N_PUBLISHED)]
    widest = max(frames, key=lambda frame: float(problem.variances @ (frame**2).sum(axis=1)))
    return subsolver.minimise(auxiliary, manifold, auxiliary.sample(widest), gradient_tolerance).sample.evaluation
