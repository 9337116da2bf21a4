"""Where solvers start."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Grassmann
from fairpca.problem import FairSubspaceProblem
from fairpca.solvers.unconstrained import Penalised, RiemannianBFGS

STARTS = ("auxiliary", "mean-matched", "pca")

MOST_DENSE = 500
"""Axes up to which eigenvectors come from a decomposition of a whole matrix."""


def fairest_frame(
    problem: FairSubspaceProblem, weights: FloatArray, generator: np.random.Generator, n_frames: int = 10
) -> FloatArray:
    """Minimise sum_j lambda_j h_j on the live axes, from the fairest of some random frames.

    Parameters
    ----------
    problem : FairSubspaceProblem
        The problem.
    weights : ndarray of shape (n_measures,)
        lambda.
    generator : numpy.random.Generator
        Draws the frames.
    n_frames : int, default=10
        How many.
    """
    manifold, auxiliary = Grassmann(), Penalised(problem, weights, alpha=0.0)
    frames = np.zeros((n_frames, *problem.shape))
    for frame in frames:
        frame[: problem.rank] = manifold.random_point(problem.rank, problem.n_components, generator)
    fairest = min(frames, key=lambda frame: float(weights @ problem.discrepancies(frame)))
    bfgs = RiemannianBFGS(max_iter=60)
    return bfgs.minimise(auxiliary, manifold, auxiliary.sample(fairest), gradient_tolerance=1e-5).sample.point


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
    is_small = n_axes <= max(MOST_DENSE, 4 * d)
    directions, sizes, _ = np.linalg.svd(problem.mean_differences[:n_axes], full_matrices=is_small)
    n_removed = min(int(np.sum(sizes > 1e-12 * max(sizes.max(), 1e-300))), n_axes - d)
    frame = np.zeros((p, d))
    if is_small:
        complement = directions[:, n_removed:]
        _, axes = np.linalg.eigh((complement * problem.variances[:n_axes, None]).T @ complement)
        frame[:n_axes] = complement @ axes[:, : -d - 1 : -1]
    else:
        frame[:n_axes] = _leading_outside(directions[:, :n_removed], problem.variances[:n_axes], d)
    return frame


def _leading_outside(removed: FloatArray, variances: FloatArray, d: int) -> FloatArray:
    """Return the d directions of most variance, which axes have, among those orthogonal to some, by Lanczos' method.

    Parameters
    ----------
    removed : ndarray of shape (r, c)
        Orthonormal directions.
    variances : ndarray of shape (r,)
        Diagonal of S.
    d : int
        How many.
    """
    r = len(variances)

    def outside(x: FloatArray) -> FloatArray:
        return x - removed @ (removed.T @ x)

    def product(x: FloatArray) -> FloatArray:
        return outside(variances * outside(x.ravel()))

    operator = LinearOperator((r, r), matvec=product, dtype=np.float64)
    _, axes = eigsh(operator, d, which="LA", v0=outside(np.sqrt(variances)), ncv=min(r, max(2 * d + 1, 60)))
    # Eigenvalues that are close to each other leave vectors that are orthogonal only about.
    return np.linalg.qr(outside(axes[:, ::-1]))[0]
