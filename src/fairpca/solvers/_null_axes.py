"""Columns in the null space: how they get there, and that they are there exactly."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import Grassmann, split_null
from fairpca.problem import Evaluation, FairSubspaceProblem
from fairpca.solvers.unconstrained import Penalised, Sample

LEAST_GAIN = 1e-10
"""Gain, relative to the value, below which a saddle is left alone: rounding would decide."""

ALL_BUT_NULL = 1e-4
"""Length of the live part of a unit column below which it is taken to be null: at most 1e-8 of the variance."""


def with_exact_null_columns(problem: FairSubspaceProblem, answer: Evaluation, tolerances: FloatArray) -> Evaluation:
    """Return the answer with the columns that are all but null exactly in the null space, evaluated again.

    A solver stops at a small gradient, not at zero. What is left of a null column is of no use, but scaled up it can
    tell the groups apart.

    Parameters
    ----------
    problem : FairSubspaceProblem
        Knows which axes are null.
    answer : Evaluation
        A frame.
    tolerances : ndarray of shape (n_measures,)
        tau; an answer that meets them is not exchanged for one that does not.
    """
    live, null = split_null(answer.point, problem.rank, ALL_BUT_NULL)
    if null.shape[1] == 0:
        return answer
    exact = problem.evaluate(np.hstack([live, null]))
    return answer if answer.meets(tolerances) and not exact.meets(tolerances) else exact


def leave_saddle(penalised: Penalised, manifold: Grassmann, here: Sample, gradient_tolerance: float) -> Sample | None:
    """Turn live columns towards unused null axes, where that lowers the function at second order.

    Rows do not move along a null axis n, so there the Euclidean gradient G and the Euclidean Hessian are 0, and turning
    the column V u by an angle a changes the function by -a^2 u'V'G u / 2. At a stationary point the eigenvectors u of
    sym(V'G) with an eigenvalue other than 0 have no part in the null space: no gradient shows the way there, and where
    the eigenvalue is positive the point is a saddle.

    Parameters
    ----------
    penalised : Penalised
        The function.
    manifold : Grassmann
        Where its argument lives.
    here : Sample
        A point, stationary or nearly.
    gradient_tolerance : float
        Gradient norm that counts as stationary; smaller eigenvalues mean nothing.

    Returns
    -------
    there : Sample or None
        A lower point, or None if there is none to be found this way.
    """
    tangent = _descent_into_null_axes(here, penalised.problem.rank, gradient_tolerance)
    if tangent is None:
        return None
    curve = manifold.curve(here.point, tangent)
    # From a tenth of a radian down to where rounding decides.
    for angle in 0.1 * 0.5 ** np.arange(20):
        there = penalised.sample(curve(angle)[0])
        if there.value < here.value - _least_gain(here):
            return there
    return None


def _descent_into_null_axes(here: Sample, rank: int, gradient_tolerance: float) -> FloatArray | None:
    """Return the tangent that turns each column of negative curvature towards a null axis of its own, or None."""
    V = here.point
    if len(V) == rank:
        return None
    gains, columns = np.linalg.eigh(_symmetric(V.T @ here.gradient))
    rising = gains > max(gradient_tolerance, _least_gain(here))
    axes = _unused_null_axes(V, rank)
    # The last ones gain most.
    n_turned = min(int(rising.sum()), axes.shape[1])
    if n_turned == 0:
        return None
    return axes[:, :n_turned] @ columns[:, -n_turned:].T


def _least_gain(here: Sample) -> float:
    return max(LEAST_GAIN * max(1.0, abs(here.value)), here.rounding)


def _unused_null_axes(V: FloatArray, rank: int) -> FloatArray:
    """Return an orthonormal basis, as columns, of the null directions that are orthogonal to V."""
    n_null = V.shape[0] - rank
    axes = np.zeros((V.shape[0], n_null))
    directions, sizes, _ = np.linalg.svd(V[rank:])
    n_used = int(np.sum(sizes > 1e-8))
    axes[rank:] = directions
    return axes[:, n_used:]


def _symmetric(matrix: FloatArray) -> FloatArray:
    return (matrix + matrix.T) / 2.0
