"""The tolerance that asks for what matters: half of the chance level, but not less than one point."""
# SPDX-License-Identifier: MIT

from dataclasses import replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.solvers import Solver

SIGNIFICANCE = 0.05
"""Plain PCA is kept where random groups would differ as much with more than this probability."""

SHARE_OF_CHANCE = 0.5
"""Below half of the chance level variance falls fast, and what new people show hardly changes."""

FLOOR = 1e-4
"""MMD = 0.01 says that no smooth score, a function of the kernel with values between -1 and 1, has group means more
than 0.01 apart: one point. Chance levels shrink like 1 / n; asking for less costs variance for nothing relevant."""

STRICT = 0.05
"""Share of the chance level below which a tolerance fits single rows: of many optima it finds one, and new people show
no less."""

SETTLED = 0.1
"""The chance level depends on the subspace: it is computed again until tolerances move by less than this share."""

MOST_ROUNDS = 3


def fit_to_chance(fitter: Fitter, solver: Solver) -> Fit:
    r"""Fit with the tolerance tau_j = max(b_j / 2, 1e-4), or keep plain PCA where random groups would differ as much.

    b_j is the chance level of measure j, its mean over random groups of the same sizes: for two of them
    (1/m + 1/n)(1 - \bar k) at the answer.

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
    tolerances = _tolerances(chance.levels(live))
    mmd2s = pca.result.mmd2s[fitter.essential]
    if np.all(mmd2s <= tolerances) or chance.p_value(live, mmd2s) > SIGNIFICANCE:
        return _at(pca, fitter, np.maximum(mmd2s, tolerances))
    found = pca
    for _ in range(MOST_ROUNDS):
        warm = None if found is pca else found.warm.for_tolerances(found.result.mmd2s, fitter.strictest(tolerances))
        found = fitter.fit(tolerances, solver, warm)
        before, tolerances = tolerances, _tolerances(chance.levels(found.components.rows[: found.components.n_live]))
        if not found.result.meets or np.all(np.abs(tolerances - before) <= SETTLED * before):
            break
    return found


def _tolerances(levels: FloatArray) -> FloatArray:
    """Return half of the chance levels, but not less than the floor."""
    return np.maximum(SHARE_OF_CHANCE * levels, FLOOR)


def _at(fit: Fit, fitter: Fitter, tolerances: FloatArray) -> Fit:
    """Return a fit as the answer for tolerances that it meets."""
    return replace(fit, result=replace(fit.result, tolerances=fitter.loosest(tolerances)))
