"""What Hermite features leave out of MMD^2: the heaviest rows exactly, the others from a random sample."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from fairpca._typing import FloatArray, IntArray
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.mmd._gaussian import kernel_products
from fairpca.mmd._hermite_basis import HermiteBasis
from fairpca.mmd._hermite_heavy import HeavyRows, heaviness
from fairpca.mmd._hermite_passes import residuals_of_points
from fairpca.rows import StratifiedDraw, deal, strata

N_PARTS = 16
"""Parts of the sample; only pairs of rows within a part are compared."""

FEWEST_DEALT = 4 * N_PARTS
"""Rows of a group from which on they are dealt to the parts; fewer are in every part."""

CONFIDENCE = 0.999
"""Probability with which the error stays within the stated one."""


@dataclass(frozen=True)
class ResidualSample:
    r"""Random rows, every group with its share, that tell what features leave out.

    With D features Phi the kernel is k = Phi'Phi + R. The features give the part of h that belongs to Phi, and a pass
    over the rows the diagonal of R. What remains, sum_{i != j} w_i w_j R(z_i, z_j), is small and has no preferred sign:
    a few thousand rows know it far better than the bound (sum_i \|w_i\| sqrt(R_ii))^2 does.

    A sample does not know what few rows add, when these rows are far from the others but near each other. The rows
    that can add most, those with the largest \|w_i\| sqrt(R_ii), are therefore compared exactly with each
    other, and by the sample with the rest only.

    Attributes
    ----------
    data : MeasuredRows
        All rows.
    drawn : StratifiedDraw
        Those in the sample. Only their projections are ever in memory.
    order : ndarray of shape (k,)
        Positions in `drawn` in the random order in which they are dealt.
    """

    data: MeasuredRows
    drawn: StratifiedDraw
    order: IntArray

    @classmethod
    def draw(cls, data: MeasuredRows, generator: np.random.Generator, part_rows: int) -> "ResidualSample":
        """Draw rows.

        Parameters
        ----------
        data : MeasuredRows
            All rows.
        generator : numpy.random.Generator
            Draws them and deals them to the parts.
        part_rows : int
            Rows of each part, fewer where the table is short.
        """
        drawn = data.rows.stratified_draw(min(data.rows.n_rows, N_PARTS * part_rows), generator)
        return cls(data, drawn, generator.permutation(len(drawn.indices)))

    def estimate(self, V: FloatArray, basis: HermiteBasis, heavy: HeavyRows) -> tuple[FloatArray, FloatArray]:
        """Return sum_{i != j} w_ic w_jc R(z_i, z_j) for each column c, and how far the estimate may be off.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        basis : HermiteBasis
            The features.
        heavy : HeavyRows
            The heaviest of all rows.

        Returns
        -------
        values, errors : ndarray of shape (n_columns,)
            The estimates, and the half widths of their confidence intervals.
        """
        Z, weights = self.data.rows.sample(self.drawn.indices, self.data.along(V, basis.rotation).project)
        residuals = residuals_of_points(Z, basis)
        light = self.order[heaviness(weights, residuals)[self.order] <= heavy.level]
        exact = heavy.above_level()
        codes = np.unique(strata(weights))
        n_exact = np.bincount(np.searchsorted(codes, strata(exact.weights)), minlength=len(codes))
        sample = LightSample(
            Z[light],
            weights[light],
            residuals[light],
            self.drawn.strata[light],
            self.drawn.counts - n_exact,
            heavy.level,
        )
        left_out, errors = sample.estimate(basis, exact)
        return among_heavy_rows(exact, basis) + left_out, errors + sample.unseen()


@dataclass(frozen=True)
class LightSample:
    """Sampled rows that are not among the heaviest, in random order.

    Attributes
    ----------
    Z : ndarray of shape (k, d)
        Their positions in the axes of the basis.
    weights : ndarray of shape (k, n_columns)
        Their weights.
    residuals : ndarray of shape (k,)
        What the features leave of the kernel at each.
    strata : ndarray of shape (k,)
        Number of the stratum of each.
    counts : ndarray of shape (n_strata,)
        How many such rows each stratum of the table has.
    level : float
        How heavy they are at most.
    """

    Z: FloatArray
    weights: FloatArray
    residuals: FloatArray
    strata: IntArray
    counts: IntArray
    level: float

    def estimate(self, basis: HermiteBasis, heavy: HeavyRows) -> tuple[FloatArray, FloatArray]:
        """Return 2 w_H'R w + sum_{i != j} w_i w_j R_ij over all light rows i, j and heavy rows H, and its error.

        Every part gives an unbiased estimate, a U-statistic. The error is that of their mean, from the
        variance of the influence of single rows (twice what a row takes part in): with few pairs the estimates of
        parts are skewed, and their own variance would tell less.

        Parameters
        ----------
        basis : HermiteBasis
            The features.
        heavy : HeavyRows
            The heavy rows.
        """
        values, influences = np.zeros(self.weights.shape[1]), np.zeros_like(self.weights)
        if not len(self.Z):
            return values, values
        heavy_moments = basis.moments(np.ascontiguousarray(heavy.positions.T), heavy.weights.T).T
        parts = deal(self.strata, N_PARTS, FEWEST_DEALT)
        for part in parts:
            value, influence = self._of_part(part, basis, heavy, heavy_moments)
            values += value / len(parts)
            influences[part] += influence
        drawn = np.bincount(self.strata, minlength=len(self.counts))
        variances = np.zeros_like(values)
        for s in np.flatnonzero(drawn):
            of_stratum = influences[self.strata == s] / (1 if drawn[s] >= FEWEST_DEALT else len(parts))
            variances += of_stratum.var(axis=0) / max(drawn[s] - 1, 1)
        return values, student.ppf((1 + CONFIDENCE) / 2, N_PARTS - 1) * np.sqrt(variances)

    def unseen(self) -> FloatArray:
        """Return what rows can add of which a sample of this size need not have seen two in one part.

        With a share q of a stratum the sample has about (q k)^2 / (2 N_PARTS) such pairs; none with a probability
        of 1 - `CONFIDENCE` when this is log(1 / (1 - CONFIDENCE)). Together such rows add at most the square of their
        number times their heaviness.
        """
        doubt = -math.log(1 - CONFIDENCE)
        added = np.zeros(self.weights.shape[1])
        for s, count in enumerate(self.counts):
            of_stratum = np.abs(self.weights[self.strata == s])
            if len(of_stratum) == 0:
                continue
            if len(of_stratum) >= FEWEST_DEALT:
                share = math.sqrt(2 * doubt * N_PARTS) / len(of_stratum)
            else:
                share = doubt / len(of_stratum) if len(of_stratum) < count else 0.0
            added += min(share, 1.0) * count * np.minimum(of_stratum.max(axis=0), self.level)
        return added**2

    def _of_part(
        self, part: IntArray, basis: HermiteBasis, heavy: HeavyRows, heavy_moments: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the estimate of one part, and the influence of each of its rows."""
        Z, stratum, n_heavy, n_columns = self.Z[part], self.strata[part], len(heavy.weights), self.weights.shape[1]
        drawn = np.maximum(np.bincount(stratum, minlength=len(self.counts)), 1)
        weights = self.weights[part] * (self.counts / drawn)[stratum][:, None]
        # One block of columns for the heavy rows, then one for each stratum.
        blocks = np.zeros((n_heavy + len(part), 1 + len(self.counts), n_columns))
        blocks[:n_heavy, 0] = heavy.weights
        blocks[n_heavy + np.arange(len(part)), 1 + stratum] = weights
        operand = blocks.reshape(len(blocks), -1)
        features = basis.values(np.ascontiguousarray(Z.T))
        moments = features @ operand[n_heavy:]
        moments[:, :n_columns] = heavy_moments
        products = kernel_products(np.vstack([heavy.positions, Z]), operand, 1.0)[n_heavy:] - features.T @ moments
        felt = products.reshape(len(part), -1, n_columns)
        own = np.arange(len(part)), 1 + stratum
        felt[own] -= self.residuals[part][:, None] * weights
        # Of n (n - 1) pairs of a stratum the part has k (k - 1).
        pairs = (1 - 1 / np.maximum(self.counts, 1)) / np.maximum(1 - 1 / drawn, 0.5)
        felt[own] *= pairs[stratum][:, None]
        potential = felt.sum(axis=1)
        value = np.einsum("ic,ic->c", weights, potential + felt[:, 0])
        return value, 2 * drawn[stratum][:, None] * weights * potential


def among_heavy_rows(heavy: HeavyRows, basis: HermiteBasis) -> FloatArray:
    """Return sum_{i != j} w_ic w_jc R(z_i, z_j) over the heavy rows, for each column c.

    Parameters
    ----------
    heavy : HeavyRows
        The rows.
    basis : HermiteBasis
        The features.
    """
    if not len(heavy.weights):
        return np.zeros(heavy.weights.shape[1])
    moments = basis.moments(np.ascontiguousarray(heavy.positions.T), heavy.weights.T)
    products = kernel_products(heavy.positions, heavy.weights, 1.0) - heavy.residuals[:, None] * heavy.weights
    return np.einsum("ic,ic->c", heavy.weights, products) - np.einsum("cf,cf->c", moments, moments)
