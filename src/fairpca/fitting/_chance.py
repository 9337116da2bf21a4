"""Chance levels of projections of the rows of a fit."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import Compared
from fairpca.data import ColumnScaling
from fairpca.inference import (
    ComparedRows,
    FeatureRows,
    PermutationTest,
    chance_levels,
    exchange_classes,
    with_masses_of_all,
)
from fairpca.mmd import EXACT_ROWS, Coordinates
from fairpca.rows import Rows, strata_of

SAMPLE_ROWS = 4096
"""Rows that are enough to know the level of chance to a percent."""

N_PERMUTATIONS = 999

DIGITS = 1e-9
"""Projections that agree to this part of the bandwidth come in any order."""


@dataclass(frozen=True, eq=False)
class Chance:
    """What random groups would show, on all rows of a fit or, where they are many, on a sample of them.

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
        With which permutations and samples are drawn.
    """

    rows: Rows
    compared: Compared
    scaling: ColumnScaling
    bandwidth: float
    factors: tuple[float, ...]
    seed: int

    def levels(self, components: FloatArray) -> FloatArray:
        """Return b_j, what each measure of a projection is on average for random groups.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            V', in the scaled features.
        """
        return chance_levels(self._measured(components), self.bandwidth, self.factors)

    def p_value(self, components: FloatArray, mmd2s: FloatArray) -> float:
        """Return how likely random groups would differ as much, for all measures together.

        By permutations up to 5,000 rows, by the limit law of the measures beyond, see `Spectrum`. The projection must
        not depend on the groups: that of plain PCA does not.

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
            by_scale = PermutationTest.of(measured, self.bandwidth, N_PERMUTATIONS, generator, scales=self.factors)
            # MMD^2 of a mean of kernels is the mean of theirs.
            return replace(by_scale, values=by_scale.values.mean(axis=0, keepdims=True)).family_wise()
        features = FeatureRows.draw(measured, self.bandwidth, generator, self.factors)
        p_values = [features.by_chance(j).p_value(mmd2) for j, mmd2 in enumerate(mmd2s.tolist())]
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
    """Return rows in an order that depends on the projections alone, not on the table: permutations follow it.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        The unit up to which projections differ.
    """
    keys = np.rint(rows.Z / (DIGITS * bandwidth)).T
    return rows.chosen(np.lexsort([strata_of(rows.attached), *keys[::-1]]))
