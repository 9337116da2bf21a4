"""Permutation tests: MMD^2 of everything that is compared, for attributes as they are and permuted."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from fairpca._utils.progress import Say, say_with
from fairpca._utils.threads import BLOCK_NUMBERS, MEMORY_NUMBERS, blas_threads_for
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import MASS
from fairpca.inference._compared_rows import SAMPLE_ROWS, ComparedRows
from fairpca.inference._spectrum import N_FREQUENCIES, SobolFeatures
from fairpca.mmd import EXACT_ROWS, FOUR_SCALES
from fairpca.rows import Rows, strata_of

BLOCK_ROWS = 2**15
"""Rows of a block, within which attributes of many rows are permuted: all permutations of a block fit into memory."""


def permuted_columns(rows: ComparedRows, mixing: FloatArray, n_draws: int, generator: np.random.Generator) -> AnyArray:
    """Return combinations of the weights as they are, and after each of `n_draws` permutations, in single precision.

    The masses of rows stay where they are: what is permuted are attributes.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    mixing : ndarray of shape (n_columns, k)
        The combinations.
    n_draws : int
        How many permutations.
    generator : numpy.random.Generator
        Draws them.

    Returns
    -------
    columns : ndarray of shape (n, 1 + n_draws, k)
        The weights.
    """
    own = rows.columns @ mixing
    columns = np.empty((rows.n_rows, 1 + n_draws, own.shape[1]), dtype=np.float32)
    columns[:, 0] = own
    members = [np.flatnonzero(rows.classes == each) for each in np.unique(rows.classes)]
    order = np.arange(rows.n_rows)
    for draw in range(1, 1 + n_draws):
        for alike in members:
            order[alike] = generator.permutation(alike)
        if not rows.has_masses:
            columns[:, draw] = own[order]
            continue
        attached = rows.attached[order]
        attached[:, MASS] = rows.attached[:, MASS]
        columns[:, draw] = rows.comparison.sampled(attached).columns.of(attached) @ mixing
    return columns


def _by_pairs(
    rows: ComparedRows, bandwidths: Sequence[float], n_draws: int, generator: np.random.Generator, say: Say
) -> FloatArray:
    """Return w'Kw of shape (n_scales, 1 + n_draws, n_columns)."""
    mixing, owner = rows.informative
    # In single precision, half as long.
    at_once = max(1, 2 * MEMORY_NUMBERS // (rows.n_rows * len(owner)))
    parts: list[FloatArray] = []
    for batch in gen_batches(n_draws, at_once):
        say(f"permutations: {batch.start} of {n_draws}")
        columns = permuted_columns(rows, mixing, batch.stop - batch.start, generator)
        found = _squares(rows.Z, columns.reshape(rows.n_rows, -1), bandwidths)
        found = found.reshape(len(bandwidths), *columns.shape[1:])
        parts.append(found if not parts else found[:, 1:])
    return np.concatenate(parts, axis=1)


def _squares(Z: FloatArray, columns: AnyArray, bandwidths: Sequence[float]) -> FloatArray:
    """Return w'Kw for each column w and bandwidth, each pair of rows looked at once."""
    squares = np.zeros((len(bandwidths), columns.shape[1]))
    for strip in gen_batches(len(Z), max(1, 8 * BLOCK_NUMBERS // len(Z))):
        here = columns[strip]
        height = len(here)
        # Distances in double precision: those of far rows would cancel.
        distances = cdist(Z[strip], Z[strip.start :], "sqeuclidean")
        for scale, bandwidth in enumerate(bandwidths):
            kernel = np.exp((distances * (-0.5 / bandwidth**2)).astype(np.float32))
            kernel[:, height:] *= np.float32(2.0)
            squares[scale] += np.einsum("ic,ic->c", here, kernel @ columns[strip.start :])
    return squares


def _by_features(
    rows: ComparedRows,
    bandwidths: Sequence[float],
    n_draws: int,
    generator: np.random.Generator,
    say: Say,
    features: SobolFeatures | None = None,
) -> FloatArray:
    """Return |sum_i w_i phi(z_i)|^2 of shape (n_scales, 1 + n_draws, n_columns)."""
    features = _coarse_features(rows.Z.shape[1], generator) if features is None else features
    order = generator.permutation(rows.n_rows)
    shape = (1 + n_draws, len(rows.informative[1]))
    sums = np.zeros((len(bandwidths), N_FREQUENCIES, shape[0] * shape[1]))
    for batch in gen_batches(rows.n_rows, BLOCK_ROWS):
        say(f"permutations: {batch.start} of {rows.n_rows} rows")
        block = order[batch]
        columns = _permuted_in_block(rows, block, n_draws, generator)
        for scale, bandwidth in enumerate(bandwidths):
            sums[scale] += features.of(rows.Z[block], bandwidth).T @ columns
    return np.einsum("sfc,sfc->sc", sums, sums).reshape(len(bandwidths), *shape)


def _coarse_features(d: int, generator: np.random.Generator) -> SobolFeatures:
    """Return half as many as deviations need: a permutation test is calibrated however coarse its statistic is."""
    return SobolFeatures.draw(d, N_FREQUENCIES // 2, generator)


def feature_sums_of_block(
    X: AnyArray, attached: AnyArray, features: SobolFeatures, bandwidths: Sequence[float], centre: FloatArray
) -> FloatArray:
    """Return sums of features over the rows of two strata, of shape (n_scales, 2, n_features).

    Parameters
    ----------
    X : ndarray of shape (n_block, d)
        Rows.
    attached : ndarray of shape (n_block, k)
        Their strata, 0 or 1.
    features : SobolFeatures
        The features.
    bandwidths : sequence of float
        The scales.
    centre : ndarray of shape (d,)
        Near the middle of all rows, so that features lose no digits to an offset.
    """
    sums = np.zeros((len(bandwidths), 2, 2 * features.frequencies.shape[1]))
    for batch in gen_batches(len(X), SAMPLE_ROWS):
        Z, codes = X[batch] - centre, strata_of(attached[batch])
        for scale, bandwidth in enumerate(bandwidths):
            phi = features.of(Z, bandwidth)
            sums[scale] += [phi[codes == code].sum(axis=0, dtype=np.float64) for code in (0, 1)]
    return sums


def _permuted_in_block(rows: ComparedRows, block: AnyArray, n_draws: int, generator: np.random.Generator) -> AnyArray:
    """Return weights of a block of rows, of shape (n_rows_of_block, (1 + n_draws) * n_columns)."""
    if rows.has_masses:
        # Where masses stay and attributes move, so do the masses of groups: weights are those within the block.
        columns = permuted_columns(rows.chosen(block), rows.informative[0], n_draws, generator)
        columns *= np.float32(len(block) / rows.n_rows)
    else:
        within = ComparedRows(rows.Z[block], rows.attached[block], rows.comparison, rows.classes[block])
        columns = permuted_columns(within, rows.informative[0], n_draws, generator)
    return columns.reshape(len(block), -1)


@dataclass(frozen=True, eq=False)
class PermutationTest:
    r"""Values of measures at several scales, beside those after attributes were permuted.

    Under the hypothesis that nothing depends on the attributes, given label and segment, all values of a measure are
    equally likely to be the largest: p = (1 + #{h_\pi \ge h}) / (1 + #\pi) is exact for any number of rows. Maxima over
    scales and measures are of values studentised by mean and deviation over the same permutations (Westfall and Young).

    Attributes
    ----------
    values : ndarray of shape (n_scales, n_measures, 1 + n_draws)
        MMD^2, first as it is.
    scales : tuple of float
        Multiples of the bandwidth, 1 among them.
    """

    values: FloatArray
    scales: tuple[float, ...]

    @classmethod
    def of(
        cls,
        rows: ComparedRows,
        bandwidth: float,
        n_draws: int,
        generator: np.random.Generator,
        scales: Sequence[float] = FOUR_SCALES,
        say: Say | None = None,
    ) -> "PermutationTest":
        """Permute attributes and measure.

        Up to 5,000 rows values come from all pairs; of more, from random features, and attributes change places within
        random blocks of 32,768 rows. All come from the same arithmetic, so their order can be trusted.

        Parameters
        ----------
        rows : ComparedRows
            Rows that were used neither to fit nor to choose what is tested; plain PCA may be tested on its own.
        bandwidth : float
            sigma.
        n_draws : int
            Number of permutations.
        generator : numpy.random.Generator
            Draws them.
        scales : sequence of float, default=(2, 1, 0.5, 0.25)
            Multiples of the bandwidth, 1 among them.
        say : callable, default=None
            Called with how far it is.
        """
        bandwidths = [scale * bandwidth for scale in scales]
        squares = _by_pairs if rows.n_rows <= EXACT_ROWS else _by_features
        with blas_threads_for(rows.n_rows * (1 + n_draws)):
            by_column = squares(rows, bandwidths, n_draws, generator, say_with(say))
        values = np.zeros((len(bandwidths), rows.comparison.n_measures, 1 + n_draws))
        for column, owner in enumerate(rows.informative[1]):
            values[:, owner] += by_column[:, :, column]
        return cls(values, tuple(scales))

    @classmethod
    def of_two_samples(
        cls,
        rows: Rows,
        seen: ComparedRows,
        bandwidth: float,
        n_draws: int,
        generator: np.random.Generator,
        scales: Sequence[float] = FOUR_SCALES,
    ) -> "PermutationTest":
        """Test two samples of many rows by the permuted statistics of some of them, in the unit of these.

        If nothing differs, (1/m + 1/n)^(-1) times the statistic has one law for all large m and n.

        Parameters
        ----------
        rows : Rows
            All rows, with their strata attached, 0 or 1.
        seen : ComparedRows
            Random rows of both strata, of mass 1.
        bandwidth, n_draws, generator, scales
            As above.
        """
        bandwidths = [scale * bandwidth for scale in scales]
        features, centre = _coarse_features(rows.n_columns, generator), np.median(seen.Z, axis=0)
        with blas_threads_for(seen.n_rows * (1 + n_draws)):
            near = replace(seen, Z=seen.Z - centre)
            values = _by_features(near, bandwidths, n_draws, generator, say_with(None), features)[:, :, 0]
        sums = rows.total(feature_sums_of_block, features, bandwidths, centre)
        sizes = np.bincount(strata_of(rows.attached_column(0)[:, None])).astype(np.float64)
        own = np.sum((sums[:, 0] / sizes[0] - sums[:, 1] / sizes[1]) ** 2, axis=1)
        values[:, 0] = own * np.sum(1.0 / seen.comparison.sizes) / np.sum(1.0 / sizes)
        return cls(values[:, None], tuple(scales))

    @property
    def studentised(self) -> FloatArray:
        """The values less their means, in units of their deviations, over all permutations and what is."""
        deviations = self.values.std(axis=2, keepdims=True)
        # Values that rounding in single precision tells apart, as of constant projections, are equal.
        informative = deviations > np.finfo(np.float32).eps
        centred = np.where(informative, self.values - self.values.mean(axis=2, keepdims=True), 0.0)
        return centred / np.where(informative, deviations, 1.0)

    def at_bandwidth(self) -> FloatArray:
        """Return the p-value of each measure at the bandwidth itself."""
        return self.by_scale()[self.scales.index(1.0)]

    def by_scale(self) -> FloatArray:
        """Return the p-values of shape (n_scales, n_measures)."""
        return np.array([_p_values(each) for each in self.studentised])

    def over_scales(self) -> FloatArray:
        """Return the p-value of each measure, for the maximum over scales."""
        return _p_values(self.studentised.max(axis=0))

    def adjusted(self) -> FloatArray:
        """Return the p-value of each measure over scales that holds for all measures together."""
        largest = self.studentised.max(axis=0)
        return _p_values(np.broadcast_to(largest.max(axis=0), largest.shape), largest[:, :1])

    def family_wise(self) -> float:
        """Return the p-value of all measures and scales together."""
        return float(self.adjusted().min())


def _p_values(values: FloatArray, own: FloatArray | None = None) -> FloatArray:
    """Return the shares of values, of shape (n_measures, 1 + n_draws), that are at least the first or another.

    Values that differ by rounding in single precision count as equal, in favour of chance.
    """
    least = (values[:, :1] if own is None else own) - 8.0 * float(np.finfo(np.float32).eps)
    return np.asarray(np.mean(values >= least, axis=1))
