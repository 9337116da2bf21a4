"""The tolerance that asks for no more than chance shows."""
# SPDX-License-Identifier: MIT

from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.solvers import Solver

SIGNIFICANCE = 0.05
"""Plain PCA is kept where groups drawn by lot would differ as much with more than this probability."""

SHARE_OF_CHANCE = 0.5
"""Below half of what chance shows variance falls fast, and what new people show hardly changes."""

SETTLED = 0.1
"""The level of chance depends on the subspace: it is asked again until it moves by less than this share."""

MOST_ROUNDS = 3


def fit_to_chance(fitter: Fitter, solver: Solver) -> Fit:
    r"""Fit with the tolerance tau_j = b_j / 2, or keep plain PCA where groups drawn by lot would differ as much.

    b_j is what measure j shows when attributes are dealt out by lot, for two groups (1/m + 1/n)(1 - \bar k) at the
    answer.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : Solver
        Solves.
    """
    pca = fitter.fit(LARGEST_MMD2, solver, "pca")
    chance = fitter.chance
    live = pca.components.rows[: pca.components.n_live]
    levels = chance.levels(live)
    mmd2s = pca.result.mmd2s[fitter.essential]
    if chance.p_value(live, mmd2s) > SIGNIFICANCE:
        return _at(pca, fitter, np.maximum(mmd2s, SHARE_OF_CHANCE * levels))
    found = pca
    for _ in range(MOST_ROUNDS):
        tolerances = SHARE_OF_CHANCE * levels
        warm = None if found is pca else found.warm.for_tolerances(found.result.mmd2s, fitter.strictest(tolerances))
        found = fitter.fit(tolerances, solver, warm)
        before, levels = levels, chance.levels(found.components.rows[: found.components.n_live])
        if not found.result.meets or np.all(np.abs(levels - before) <= SETTLED * before):
            break
    return found


def _at(fit: Fit, fitter: Fitter, tolerances: FloatArray) -> Fit:
    """Return a fit as the answer for tolerances that it meets."""
    return replace(fit, result=replace(fit.result, tolerances=fitter.loosest(tolerances)))
