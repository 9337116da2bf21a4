"""The tolerances that are tried where none are given."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2
from fairpca.fitting import Fitter
from fairpca.solvers import Solver

N_TOLERANCES = 10

SHARE_OF_CHANCE = 1.0 / 16.0
"""Of what chance shows: far below half of it variance falls and new people show no less."""


def default_tolerances(fitter: Fitter, solver: Solver) -> FloatArray:
    """Return decreasing tolerances, from one that plain PCA meets on any rows to a sixteenth of what chance shows.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : Solver
        Solves.
    """
    pca = fitter.fit(LARGEST_MMD2, solver, "pca")
    levels = fitter.chance.levels(pca.components.rows[: pca.components.n_live])
    strictest = SHARE_OF_CHANCE * float(levels.min())
    loosest = max(float(pca.result.mmd2s.max()), 2.0 * float(levels.max()))
    tolerances = np.geomspace(loosest, strictest, N_TOLERANCES)
    # Plain PCA shows more on some folds than on all rows.
    tolerances[0] = LARGEST_MMD2
    return tolerances
