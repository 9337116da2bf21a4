"""What features leave out of MMD^2: the heaviest rows exactly, the others from a random sample."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.stats import t as student
from sklearn.utils import gen_batches

from fairpca._utils.threads import BLOCK_NUMBERS, single_threaded_blas
from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.mmd._approximation import Measurement
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.mmd.exact import kernel_products
from fairpca.mmd.hermite._basis import HermiteBasis
from fairpca.mmd.hermite._passes import HeavyRows, Residuals, heaviness, residuals_at
from fairpca.rows import PILOT_ROWS, StratifiedDraw, stratified_parts

N_PARTS = 16
"""Parts of the sample: only pairs of rows within a part are compared, a sixteenth of all."""

CONFIDENCE = 0.999
"""Probability with which the error stays within the stated one."""

PART_ROWS = PILOT_ROWS // 4, PILOT_ROWS, 4 * PILOT_ROWS
"""Rows of the parts of the sample by which it is estimated what features leave out: the next where one is too few."""


@dataclass(frozen=True)
class ResidualSample:
    r"""Random rows, every group with its share, on which it is estimated what features leave out.

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
        Positions in `drawn` in the random order in which they are split.
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
            Draws them and splits them into parts.
        part_rows : int
            Rows of each part, fewer where the table is short.
        """
        drawn = data.rows.stratified_draw(min(data.rows.n_rows, N_PARTS * part_rows), generator)
        return cls(data, drawn, generator.permutation(len(drawn.indices)))

    @single_threaded_blas()
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
        Z, attached = self.data.rows.sample(self.drawn.indices, self.data.along(V, basis.rotation).project)
        weights = self.data.comparison.columns.of(attached)
        exact = heavy.above_level()
        n_light = self.drawn.counts - np.bincount(exact.strata, minlength=len(self.drawn.counts))
        order = self.order
        largest = self.data.comparison.largest_weights
        strata = self.drawn.strata[order]
        Z, weights, residuals = Z[order], weights[order], residuals_at(basis, Z[order])
        sample = _Sample(Z, weights, residuals, strata, n_light, exact, heavy.level, largest, basis)
        left_out, errors = sample.estimate(self._parts(n_light))
        return among_heavy_rows(exact, basis) + left_out, errors

    def _parts(self, n_light: IntArray) -> list[IntArray]:
        """Return the rows of each part; strata that may have few light rows are in all of them."""
        strata = self.drawn.strata[self.order]
        light = np.bincount(strata, minlength=len(n_light)) * n_light / self.drawn.counts
        # Parts have 16 rows of a stratum that is split; a smaller one is in all of them.
        return stratified_parts(strata, N_PARTS, light >= 16 * N_PARTS)


@dataclass(frozen=True)
class _Sample:
    """Sampled rows in random order, beside the heavy ones.

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
        How many rows of each stratum of the table are not among the heavy ones.
    heavy : HeavyRows
        The heavy rows.
    level : float
        How heavy all others are at most.
    largest : ndarray of shape (n_strata, n_columns)
        No less than the largest weight of a row of each stratum.
    basis : HermiteBasis
        The features.
    """

    Z: FloatArray
    weights: FloatArray
    residuals: FloatArray
    strata: IntArray
    counts: IntArray
    heavy: HeavyRows
    level: float
    largest: FloatArray
    basis: HermiteBasis

    def estimate(self, parts: list[IntArray]) -> tuple[FloatArray, FloatArray]:
        """Return 2 w_H'R w + sum_{i != j} w_i w_j R_ij over all light rows i, j and heavy rows H, and its error.

        Every part gives an unbiased estimate, a U-statistic. The error is that of their mean, from the
        variance of the influence of single rows (twice what a row takes part in): with few pairs the estimates of
        parts are skewed, and their own variance would say less.

        Parameters
        ----------
        parts : list of ndarray of int
            The rows of each part.
        """
        n_columns = self.weights.shape[1]
        values, influences, times = np.zeros(n_columns), np.zeros_like(self.weights), np.zeros(len(self.Z), dtype=int)
        for part in parts:
            light, value, influence = self._of_part(part)
            values += value / len(parts)
            influences[light] += influence
            times[light] += 1
        variances, unseen = np.zeros(n_columns), np.zeros(n_columns)
        for s, count in enumerate(self.counts):
            of_stratum = (times > 0) & (self.strata == s)
            if of_stratum.any():
                mean_influences = influences[of_stratum] / times[of_stratum, None]
                variances += mean_influences.var(axis=0) / max(len(mean_influences) - 1, 1)
                heaviest = np.minimum(self.largest[s], self.level)
                in_every_part = bool(times[of_stratum].max() > 1)
                unseen += _unseen_share(len(mean_influences), count, in_every_part) * count * heaviest
        quantile = student.ppf((1 + CONFIDENCE) / 2, N_PARTS - 1)
        return values, quantile * np.sqrt(variances) + unseen**2

    def _of_part(self, part: IntArray) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the light rows of one part, its estimate, and the influence of each of these rows."""
        part = part[np.argsort(self.strata[part], kind="stable")]
        stratum, features = self.strata[part], _Features(self.basis, self.Z[part])
        light, moments = self._light(part, features)
        drawn = np.maximum(np.bincount(stratum[light], minlength=len(self.counts)), 1)
        # Heavy rows that were drawn stay, without weight.
        stand_for = self.counts / drawn
        weights = self.weights[part] * (light * stand_for[stratum])[:, None]
        smooth = self._feature_products(stratum, features, stand_for[:, None, None] * moments)
        of_heavy, of_light, own = self._kernel_products(part, weights) - smooth
        without_self = own - self.residuals[part][:, None] * weights
        # Of n (n - 1) pairs of a stratum the part has k (k - 1).
        pairs = (1 - 1 / np.maximum(self.counts, 1)) / np.maximum(1 - 1 / drawn, 0.5)
        potential = of_heavy + of_light - own + pairs[stratum][:, None] * without_self
        value = np.einsum("ic,ic->c", weights, potential + of_heavy)
        return part[light], value, (2 * drawn[stratum][:, None] * weights * potential)[light]

    def _light(self, part: IntArray, features: "_Features") -> tuple[BoolArray, FloatArray]:
        """Return which rows of a part are light, and the moments of those, of shape (n_strata, D, c)."""
        weights = self.weights[part]
        light = heaviness(weights, self.residuals[part]) <= self.level
        weights = weights * light[:, None]
        moments = np.zeros((len(self.counts), self.basis.n_features, self.weights.shape[1]))
        for piece, values in features:
            for s, own in _runs(self.strata[part[piece]]):
                moments[s] += values[:, own] @ weights[piece][own]
        return light, moments

    def _kernel_products(self, part: IntArray, weights: FloatArray) -> FloatArray:
        """Return K w at the rows of a part for heavy rows, for those of the part, and for those of their own stratum.

        The rows are sorted by strata; the result has the shape (3, n, n_columns).
        """
        n_columns, n_heavy = weights.shape[1], len(self.heavy.weights)
        operand = np.zeros((n_heavy + len(part), 2 * n_columns))
        operand[:n_heavy, :n_columns] = self.heavy.weights
        operand[n_heavy:, n_columns:] = weights
        products = kernel_products(np.vstack([self.heavy.positions, self.Z[part]]), operand, 1.0)[n_heavy:]
        own_products = np.empty_like(weights)
        for _, own in _runs(self.strata[part]):
            own_products[own] = kernel_products(self.Z[part[own]], weights[own], 1.0)
        return np.stack([*np.hsplit(products, 2), own_products])

    def _feature_products(self, stratum: IntArray, features: "_Features", moments: FloatArray) -> FloatArray:
        """Return what the features have of `_kernel_products`, given the moments of each stratum."""
        products = np.empty((3, len(stratum), moments.shape[2]))
        together = np.hstack([self._heavy_moments, moments.sum(axis=0)])
        for piece, values in features:
            products[0, piece], products[1, piece] = np.hsplit(values.T @ together, 2)
            for s, own in _runs(stratum[piece]):
                products[2, piece][own] = values[:, own].T @ moments[s]
        return products

    @cached_property
    def _heavy_moments(self) -> FloatArray:
        return self.basis.moments(np.ascontiguousarray(self.heavy.positions.T), self.heavy.weights.T).T


@dataclass(frozen=True)
class _Features:
    """Features of rows, some rows at a time; where rows are more than one piece they are made anew for each use.

    Attributes
    ----------
    basis : HermiteBasis
        The features.
    Z : ndarray of shape (n, d)
        The rows.
    """

    basis: HermiteBasis
    Z: FloatArray

    def __iter__(self) -> Iterator[tuple[slice, FloatArray]]:
        # 32 MB: all of a small part, with the features that there are by default.
        most = max(1, 16 * BLOCK_NUMBERS // self.basis.n_features)
        if len(self.Z) <= most:
            yield slice(0, len(self.Z)), self._all
            return
        for piece in gen_batches(len(self.Z), most):
            yield piece, self._of(piece)

    @cached_property
    def _all(self) -> FloatArray:
        return self._of(slice(None))

    def _of(self, piece: slice) -> FloatArray:
        return self.basis.values(np.ascontiguousarray(self.Z[piece].T))


def _runs(strata: IntArray) -> Iterator[tuple[int, slice]]:
    """Yield each stratum of sorted rows and where its rows are."""
    found, starts = np.unique(strata, return_index=True)
    for s, (start, end) in zip(found.tolist(), pairwise([*starts.tolist(), len(strata)]), strict=True):
        yield s, slice(start, end)


def _unseen_share(n_drawn: int, count: int, in_every_part: bool) -> float:
    """Return the share of a stratum of which the parts need not have seen a pair: it may add to h unnoticed.

    Of a share q there are about (q n_drawn)^2 / (2 N_PARTS) pairs within parts; none with a probability of
    1 - `CONFIDENCE` when this is its logarithm.
    """
    doubt = -math.log(1 - CONFIDENCE)
    if in_every_part:
        return 0.0 if n_drawn >= count else min(1.0, doubt / n_drawn)
    return min(1.0, math.sqrt(2 * doubt * N_PARTS) / n_drawn)


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


class Remainder:
    """What features leave out of the discrepancies of rows: bounded, or estimated on samples that are drawn once.

    Parameters
    ----------
    data : MeasuredRows
        The rows.
    seed : int
        Draws the samples.
    """

    def __init__(self, data: MeasuredRows, seed: int) -> None:
        self._data = data
        self._seed = seed
        self._samples: dict[int, ResidualSample] = {}

    def value_and_bound(self, sums: Residuals) -> tuple[FloatArray, FloatArray]:
        r"""Return the best estimate of the vector h without a sample and bounds on its errors.

        With the residual r_i = 1 - \|Phi(z_i)\|^2 of the kernel at each row the estimate is h_D + sum_i w_i^2 r_i,
        exact on the diagonal. Since the rest of the kernel is positive semidefinite, the exact h is at least h_D and at
        most h_D + (sum_i \|w_i\| sqrt(r_i))^2.

        Parameters
        ----------
        sums : Residuals
            Those of all rows, for each column.
        """
        least, diagonal, most = self._range(sums)
        estimate = least + diagonal
        return estimate, np.maximum(estimate - least, most - estimate)

    def value_and_error(
        self, V: FloatArray, basis: HermiteBasis, sums: Residuals, sample: ResidualSample
    ) -> tuple[FloatArray, FloatArray]:
        """Return the vector h and its errors, exceeded with a probability of about one in a thousand.

        What the features leave out off the diagonal is computed for the rows where it can be most, and estimated on a
        sample for the others.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        basis : HermiteBasis
            The features there.
        sums : Residuals
            Those of all rows, for each column.
        sample : ResidualSample
            Drawn from these rows.
        """
        least, diagonal, most = self._range(sums)
        left_out, errors = map(self._data.sum_of_columns, sample.estimate(V, basis, sums.heavy))
        values = np.clip(least + diagonal + left_out, least, most)
        return values, np.minimum(errors, np.maximum(values - least, most - values))

    def measured(self, V: FloatArray, basis: HermiteBasis, sums: Residuals, error: FloatArray) -> Measurement:
        """Return the vector h with its errors, from a larger sample where they exceed `error`; see `value_and_error`.

        Parameters
        ----------
        V, basis, sums
            See `value_and_error`.
        error : ndarray of shape (n_measures,)
            What errors are small enough.
        """
        for part_rows in PART_ROWS:
            measured = Measurement(*self.value_and_error(V, basis, sums, self._sample(part_rows)))
            if np.all(measured.errors <= error):
                break
        return measured

    def _sample(self, part_rows: int) -> ResidualSample:
        """Return the sample with so many rows in a part."""
        if part_rows not in self._samples:
            generator = np.random.default_rng([self._seed, part_rows])
            self._samples[part_rows] = ResidualSample.draw(self._data, generator, part_rows)
        return self._samples[part_rows]

    def _range(self, sums: Residuals) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the least each h_j can be, what the residual's diagonal adds, and the most it can be."""
        least = self._data.sum_of_columns(np.einsum("cf,cf->c", sums.moments, sums.moments))
        most = least + self._data.sum_of_columns(sums.spread**2)
        return least, self._data.sum_of_columns(sums.diagonal), most
