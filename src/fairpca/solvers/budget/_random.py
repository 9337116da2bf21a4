"""Random starts."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Grassmann
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers.unconstrained import Penalised, RiemannianBFGS

N_RANDOM = 10


def fairest_frame(
    problem: FairSubspaceProblem, weights: FloatArray, generator: np.random.Generator, n_axes: int
) -> Evaluation:
    """Minimise sum_j lambda_j h_j, from the fairest of ten random frames.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    weights : ndarray of shape (n_measures,)
        lambda.
    generator : numpy.random.Generator
        Draws the frames.
    n_axes : int
        The frames lie in the span of the first so many axes.
    """
    manifold, auxiliary = Grassmann(), Penalised(problem, weights, alpha=0.0)
    frames = [random_frame(problem, generator, n_axes) for _ in range(N_RANDOM)]
    fairest = min(frames, key=lambda frame: float(weights @ problem.discrepancies(frame)))
    bfgs = RiemannianBFGS(max_iter=60)
    return bfgs.minimise(auxiliary, manifold, auxiliary.sample(fairest), gradient_tolerance=1e-5).sample.evaluation


def random_frame(problem: FairSubspaceProblem, generator: np.random.Generator, n_axes: int) -> FloatArray:
    """Return a random frame in the span of the first so many axes.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    generator : numpy.random.Generator
        Draws it.
    n_axes : int
        Number of axes.
    """
    frame = np.zeros(problem.shape)
    frame[:n_axes] = Grassmann().random_point(n_axes, problem.n_components, generator)
    return frame


def varied_frame(problem: FairSubspaceProblem, generator: np.random.Generator) -> FloatArray:
    """Return a random frame on the live axes that leans to those of much variance, by the standard deviation of each.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    generator : numpy.random.Generator
        Draws it.
    """
    rank = problem.rank
    frame = np.zeros(problem.shape)
    drawn = generator.normal(size=(rank, problem.n_components)) * np.sqrt(problem.shares[:rank, None])
    frame[:rank] = np.linalg.qr(drawn)[0]
    return frame


def turned_frame(problem: FairSubspaceProblem, frame: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return a frame that has all but one dimension in common with another, and a varied direction instead of that.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    frame : ndarray of shape (p, d)
        The other frame, on the live axes.
    generator : numpy.random.Generator
        Draws both.
    """
    d = frame.shape[1]
    kept = frame @ np.linalg.qr(generator.normal(size=(d, d)))[0][:, 1:]
    return np.linalg.qr(np.hstack([kept, varied_frame(problem, generator)[:, :1]]))[0]
