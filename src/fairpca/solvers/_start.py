"""Where solvers start."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import FairSubspaceProblem

STARTS = ("auxiliary", "mean-matched", "pca")


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
