"""Samples in which every group has its share."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._typing import AnyArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class StratifiedDraw:
    """Random rows of a table, every group with a fair share.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        Row numbers, increasing.
    strata : ndarray of shape (k,)
        Number of the stratum of each.
    factors : ndarray of shape (k,)
        How many rows of its stratum each stands for.
    counts : ndarray of shape (n_strata,)
        Rows of each stratum in the table.
    """

    indices: IntArray
    strata: IntArray
    factors: FloatArray
    counts: IntArray

    @classmethod
    def of(cls, indices: IntArray, strata: IntArray, counts: IntArray) -> "StratifiedDraw":
        """Describe a draw.

        Parameters
        ----------
        indices, strata : ndarray of shape (k,)
            Rows, in any order, and the number of the stratum of each.
        counts : ndarray of shape (n_strata,)
            Rows of each stratum in the table.
        """
        order = np.argsort(indices)
        drawn = np.bincount(strata, minlength=len(counts))
        return cls(indices[order], strata[order], (counts / np.maximum(drawn, 1))[strata[order]], counts)


def deal(strata: IntArray, n_parts: int, are_dealt: BoolArray) -> list[IntArray]:
    """Return the rows of each of some parts, every part with its share of every stratum.

    Parameters
    ----------
    strata : ndarray of shape (k,)
        Number of the stratum of each row; the rows are in random order.
    n_parts : int
        Number of parts.
    are_dealt : ndarray of bool of shape (n_strata,)
        Whether the rows of a stratum are dealt; otherwise every part has all of them.
    """
    by_stratum = [np.flatnonzero(strata == s) for s in range(len(are_dealt))]
    return [
        np.concatenate(
            [rows[part::n_parts] if dealt else rows for rows, dealt in zip(by_stratum, are_dealt, strict=True)]
        )
        for part in range(n_parts)
    ]


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
