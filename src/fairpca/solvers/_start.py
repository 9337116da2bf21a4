"""Where solvers start."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray
from fairpca.geometry import Frames
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers._curvature import View
from fairpca.solvers._objectives import Penalised
from fairpca.solvers._unconstrained import Subsolver

STARTS = ("auxiliary", "mean-matched", "pca")
N_RANDOM = 10
N_PUBLISHED = 11


@dataclass(frozen=True)
class WarmStart:
    """The answer to a similar problem, whose tolerance plain PCA did not meet either.

    Attributes
    ----------
    frame : ndarray of shape (p, d)
        Its frame.
    multiplier : float
        A guess of the multiplier here.
    n_live : int
        How many of its components carried variance.
    pca_mmd2 : float
        MMD^2 of plain PCA.
    view : View, default=None
        The frame in a chart with the second-order model there, where both are known.
    settled : bool, default=False
        Whether neither other starts nor other numbers of live components need to be tried.
    """

    frame: FloatArray
    multiplier: float
    n_live: int
    pca_mmd2: float
    view: View | None = None
    settled: bool = False


def mean_matched_frame(problem: FairSubspaceProblem, n_axes: int) -> FloatArray:
    """Return the frame of most variance that is orthogonal to the differences of the means, X'w_c.

    On it the compared measures have equal means, which removes most of the discrepancy in closed form.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    n_axes : int
        The frame lies in the span of the first so many axes. Where these leave no room, fewer differences are removed.
    """
    p, d = problem.shape
    directions, sizes, _ = np.linalg.svd(problem.mean_differences[:n_axes])
    n_removed = min(int(np.sum(sizes > 1e-12 * max(sizes.max(), 1e-300))), n_axes - d)
    complement = directions[:, n_removed:]
    _, axes = np.linalg.eigh((complement * problem.variances[:n_axes, None]).T @ complement)
    frame = np.zeros((p, d))
    frame[:n_axes] = complement @ axes[:, : -d - 1 : -1]
    return frame


def fairest_frame(
    problem: FairSubspaceProblem,
    manifold: Frames,
    subsolver: Subsolver,
    gradient_tolerance: float,
    generator: np.random.Generator,
    n_axes: int,
) -> Evaluation:
    """Minimise the discrepancy alone, from the fairest of ten random frames.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    manifold : Frames
        Where frames live.
    subsolver : Subsolver
        Minimises sum_j h_j.
    gradient_tolerance : float
        Gradient norm at which to stop.
    generator : numpy.random.Generator
        Draws the frames.
    n_axes : int
        The frames lie in the span of the first so many axes.
    """
    auxiliary = Penalised(problem, rho=1.0, alpha=0.0)
    frames = [_random_frame(problem, manifold, generator, n_axes) for _ in range(N_RANDOM)]
    fairest = min(frames, key=lambda frame: float(problem.discrepancies(frame).sum()))
    return subsolver.minimise(auxiliary, manifold, auxiliary.sample(fairest), gradient_tolerance).sample.evaluation


def published_start(
    problem: FairSubspaceProblem,
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
    manifold : Frames
        Where frames live.
    subsolver : Subsolver
        Minimises sum_j h_j.
    gradient_tolerance : float
        Gradient norm at which to stop.
    generator : numpy.random.Generator
        Draws the frames.
    """
    auxiliary = Penalised(problem, rho=1.0, alpha=0.0)
    frames = [manifold.random_point(*problem.shape, generator) for _ in range(N_PUBLISHED)]
    widest = max(frames, key=lambda frame: float(problem.variances @ (frame**2).sum(axis=1)))
    return subsolver.minimise(auxiliary, manifold, auxiliary.sample(widest), gradient_tolerance).sample.evaluation


def _random_frame(
    problem: FairSubspaceProblem, manifold: Frames, generator: np.random.Generator, n_axes: int
) -> FloatArray:
    frame = np.zeros(problem.shape)
    frame[:n_axes] = manifold.random_point(n_axes, problem.n_components, generator)
    return frame
