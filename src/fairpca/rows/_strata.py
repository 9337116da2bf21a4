"""Samples in which every stratum has its share."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, IntArray


def strata_of(attached: AnyArray) -> IntArray:
    """Return the stratum of each row, the first number attached to it; negative where it is in none.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    """
    codes = attached[:, 0]
    return codes if codes.dtype.kind == "i" else codes.astype(np.intp)


@dataclass(frozen=True, eq=False)
class StratifiedDraw:
    """Random rows of a table, every stratum with a fair share.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        Row numbers, increasing.
    strata : ndarray of shape (k,)
        The stratum of each.
    counts : ndarray of shape (n_strata,)
        Rows of each stratum in the table.
    """

    indices: IntArray
    strata: IntArray
    counts: IntArray

    @classmethod
    def of(cls, indices: IntArray, strata: IntArray, counts: IntArray) -> "StratifiedDraw":
        """Describe a draw.

        Parameters
        ----------
        indices, strata : ndarray of shape (k,)
            Rows, in any order, and the stratum of each.
        counts : ndarray of shape (n_strata,)
            Rows of each stratum in the table.
        """
        order = np.argsort(indices)
        return cls(indices[order], strata[order], counts)

    @property
    def drawn(self) -> IntArray:
        """Rows of each stratum in the draw."""
        return np.bincount(self.strata, minlength=len(self.counts))


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
    equal = size / (2 * max(1, int(np.count_nonzero(counts))))
    proportional = size / 2 * counts / max(1, int(counts.sum()))
    return np.asarray(np.minimum(counts, np.ceil(equal + proportional)).astype(np.int64))
