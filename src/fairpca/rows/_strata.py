"""Samples in which every group has its share."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._typing import AnyArray, FloatArray, IntArray


def strata(weights: AnyArray) -> IntArray:
    """Return a small number for each row that tells the signs of its weights, hence the groups it belongs to.

    Parameters
    ----------
    weights : ndarray of shape (n, c)
        Signed weights.
    """
    signs = (1 + np.sign(weights)).astype(np.int64)
    return np.asarray(signs @ 3 ** np.arange(weights.shape[1]))


def shares(counts: IntArray, size: int) -> IntArray:
    """Return how many rows to draw from each stratum: half of the sample is shared equally, half by size.

    Parameters
    ----------
    counts : ndarray of shape (n_strata,)
        Rows of each stratum.
    size : int
        Rows to draw in all.

    Examples
    --------
    >>> shares(np.array([10, 990]), 100)
    array([10, 75])
    """
    equal = size / (2 * len(counts))
    proportional = size / 2 * counts / counts.sum()
    return np.asarray(np.minimum(counts, np.ceil(equal + proportional)).astype(np.int64))


def normalised(weights: AnyArray) -> FloatArray:
    """Return the columns with their positive parts scaled to sum 1 and their negative parts to -1.

    Parameters
    ----------
    weights : ndarray of shape (n, c)
        Weights of a sample.
    """
    scaled = np.array(weights, dtype=np.float64)
    for column in scaled.T:
        for part in (column > 0, column < 0):
            column[part] /= np.abs(column[part]).sum() or 1.0
    return scaled
