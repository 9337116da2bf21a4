"""MMD^2 of everything that is compared, for attributes as they are and dealt out by lot, at several scales."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from fairpca._utils.progress import Say
from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.inference._compared_rows import ComparedRows
from fairpca.inference._features import SobolFeatures
from fairpca.inference._lots import dealt_columns

EXACT_ROWS = 5000
"""Rows up to which all pairs are compared."""

STRIP = 512
"""Rows of the kernel matrix at a time."""

DEALT_NUMBERS = 2**26
"""Weights, in single precision, that are held at a time: 256 MB."""

BLOCK_ROWS = 2**15
"""Rows of a block, within which attributes of many rows change places."""

N_FREQUENCIES = 128
"""Frequencies for each scale. A test by lot is calibrated however coarse its statistic is."""


def dealt_values(
    rows: ComparedRows, bandwidths: Sequence[float], n_draws: int, generator: np.random.Generator, say: Say
) -> FloatArray:
    """Return MMD^2 of each measure at each scale, as it is and after lots.

    Up to 5,000 rows they come from all pairs; of more, from cosines and sines at random frequencies, and attributes
    change places within random blocks of 32,768 rows.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidths : sequence of float
        The scales.
    n_draws : int
        Number of lots.
    generator : numpy.random.Generator
        Draws lots and frequencies.
    say : callable
        Told how far it is.

    Returns
    -------
    values : ndarray of shape (n_scales, n_measures, 1 + n_draws)
        First as it is. All come from the same arithmetic, so their order can be trusted.
    """
    squares = _by_pairs if rows.n_rows <= EXACT_ROWS else _by_features
    with blas_threads_for(rows.n_rows * (1 + n_draws)):
        by_column = squares(rows, bandwidths, n_draws, generator, say)
    values = np.zeros((len(bandwidths), rows.comparison.n_measures, 1 + n_draws))
    for column, owner in enumerate(rows.telling[1]):
        values[:, owner] += by_column[:, :, column]
    return values


def _by_pairs(
    rows: ComparedRows, bandwidths: Sequence[float], n_draws: int, generator: np.random.Generator, say: Say
) -> FloatArray:
    """Return w'Kw of shape (n_scales, 1 + n_draws, n_columns)."""
    mixing, owner = rows.telling
    at_once = max(1, DEALT_NUMBERS // (rows.n_rows * len(owner)))
    parts: list[FloatArray] = []
    for batch in gen_batches(n_draws, at_once):
        say(f"lots: {batch.start} of {n_draws}")
        columns = dealt_columns(rows, mixing, batch.stop - batch.start, generator)
        found = _squares(rows.Z, columns.reshape(rows.n_rows, -1), bandwidths)
        found = found.reshape(len(bandwidths), *columns.shape[1:])
        parts.append(found if not parts else found[:, 1:])
    return np.concatenate(parts, axis=1)


def _squares(Z: FloatArray, columns: AnyArray, bandwidths: Sequence[float]) -> FloatArray:
    """Return w'Kw for each column w and bandwidth, each pair of rows looked at once."""
    squares = np.zeros((len(bandwidths), columns.shape[1]))
    for strip in gen_batches(len(Z), STRIP):
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
    rows: ComparedRows, bandwidths: Sequence[float], n_draws: int, generator: np.random.Generator, say: Say
) -> FloatArray:
    """Return |sum_i w_i phi(z_i)|^2 of shape (n_scales, 1 + n_draws, n_columns)."""
    features = SobolFeatures.draw(rows.Z.shape[1], N_FREQUENCIES, generator)
    order = generator.permutation(rows.n_rows)
    shape = (1 + n_draws, len(rows.telling[1]))
    sums = np.zeros((len(bandwidths), 2 * N_FREQUENCIES, shape[0] * shape[1]))
    for batch in gen_batches(rows.n_rows, BLOCK_ROWS):
        say(f"lots: {batch.start} of {rows.n_rows} rows")
        block = order[batch]
        columns = _dealt_in_block(rows, block, n_draws, generator)
        for scale, bandwidth in enumerate(bandwidths):
            sums[scale] += features.of(rows.Z[block], bandwidth).T @ columns
    return np.einsum("sfc,sfc->sc", sums, sums).reshape(len(bandwidths), *shape)


def _dealt_in_block(rows: ComparedRows, block: AnyArray, n_draws: int, generator: np.random.Generator) -> AnyArray:
    """Return weights of a block of rows, of shape (n_rows_of_block, (1 + n_draws) * n_columns)."""
    if rows.has_masses:
        # Where masses stay and attributes move, so do the masses of groups: weights are those within the block.
        columns = dealt_columns(rows.chosen(block), rows.telling[0], n_draws, generator)
        columns *= np.float32(len(block) / rows.n_rows)
    else:
        within = ComparedRows(rows.Z[block], rows.attached[block], rows.comparison, rows.classes[block])
        columns = dealt_columns(within, rows.telling[0], n_draws, generator)
    return columns.reshape(len(block), -1)
