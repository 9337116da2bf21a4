"""What chance shows of projections of the rows of a fit, and the tolerance that follows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import LARGEST_MMD2, Compared
from fairpca.data import ColumnScaling
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.inference import (
    EXACT_ROWS,
    ComparedRows,
    FeatureRows,
    PermutationTest,
    chance_levels,
    exchange_classes,
    with_masses_of_all,
)
from fairpca.mmd import Coordinates
from fairpca.rows import Rows, strata_of
from fairpca.solvers import Solver

SAMPLE_ROWS = 4096
"""Rows that are enough to know the level of chance to a percent."""

N_LOTS = 999

DIGITS = 1e-9
"""Projections that agree to this part of the bandwidth come in any order."""

SIGNIFICANCE = 0.05
"""Plain PCA is kept where random groups would differ as much with more than this probability."""

SHARE_OF_CHANCE = 0.5
"""Below half of the chance level variance falls fast, and what new people show hardly changes."""

FLOOR = 1e-4
"""MMD = 0.01 says that no smooth score, a function of the kernel with values between -1 and 1, has group means more
than 0.01 apart: one point. Chance levels shrink like 1 / n; asking for less costs variance for nothing relevant."""

SETTLED = 0.1
"""The chance level depends on the subspace: it is computed again until tolerances move by less than this share."""

MOST_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Chance:
    """What groups drawn by lot would show, on all rows of a fit or, where they are many, on a sample of them.

    Attributes
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    compared : Compared
        Who is compared with whom.
    scaling : ColumnScaling
        How rows are scaled.
    bandwidth : float
        sigma.
    factors : tuple of float
        The kernel is the mean of those of bandwidths sigma times these.
    seed : int
        With which lots and samples are drawn.
    """

    rows: Rows
    compared: Compared
    scaling: ColumnScaling
    bandwidth: float
    factors: tuple[float, ...]
    seed: int

    def levels(self, components: FloatArray) -> FloatArray:
        """Return b_j, what each measure of a projection shows if groups are drawn by lot.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            V', in the scaled features.
        """
        return chance_levels(self._measured(components), self.bandwidth, self.factors)

    def p_value(self, components: FloatArray, mmd2s: FloatArray) -> float:
        """Return how likely groups drawn by lot would differ as much, for all measures together.

        By lots up to 5,000 rows, by the limit law of the measures beyond, see `Spectrum`. The projection must not
        depend on the groups: that of plain PCA does not.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            V', in the scaled features.
        mmd2s : ndarray of shape (n_measures,)
            MMD^2 of all rows.
        """
        generator = np.random.default_rng([self.seed, 1])
        measured = self._measured(components)
        if self._has_all:
            measured = in_own_order(measured, self.bandwidth)
            by_scale = PermutationTest.of(measured, self.bandwidth, N_LOTS, generator, scales=self.factors)
            # MMD^2 of a mean of kernels is the mean of theirs.
            return replace(by_scale, values=by_scale.values.mean(axis=0, keepdims=True)).family_wise()
        features = FeatureRows.draw(measured, self.bandwidth, generator, self.factors)
        p_values = [features.by_chance(j)[0].p_value(mmd2) for j, mmd2 in enumerate(mmd2s.tolist())]
        return min(1.0, len(p_values) * min(p_values))

    @property
    def _has_all(self) -> bool:
        return self.rows.n_rows <= EXACT_ROWS

    def _measured(self, components: FloatArray) -> ComparedRows:
        assert self.compared.comparison is not None
        varying = np.where(self.scaling.constant, 0.0, components)
        along = Coordinates(self.scaling.mean, varying.T / self.scaling.scale[:, None])
        rows, attached, stands_for = self._drawn
        Z, _ = rows.sample(np.arange(rows.n_rows), along.project)
        classes = exchange_classes(attached, self.compared.exchangeable)
        return ComparedRows(Z, attached, self.compared.comparison.sampled(attached), classes, stands_for)

    @cached_property
    def _drawn(self) -> tuple[Rows, AnyArray, FloatArray | None]:
        """Rows, what is attached to them, and how many each stands for: they have the masses of those."""
        if self._has_all:
            rows = self.rows.taken(np.arange(self.rows.n_rows))
            return rows, rows.attached, None
        draw = self.rows.stratified_draw(SAMPLE_ROWS, np.random.default_rng([self.seed, 2]))
        rows = self.rows.taken(draw.indices)
        return rows, *with_masses_of_all(rows.attached, draw)


def in_own_order(rows: ComparedRows, bandwidth: float) -> ComparedRows:
    """Return rows in an order that depends on the projections alone, so that lots do not depend on that of the table.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        The unit in which projections are told apart.
    """
    keys = np.rint(rows.Z / (DIGITS * bandwidth)).T
    return rows.chosen(np.lexsort([strata_of(rows.attached), *keys[::-1]]))


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
