"""Equal rows as one row that counts as often."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import masses_of
from fairpca.data._hashes import row_hashes
from fairpca.rows import strata_of


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Rows of which no two are equal in all that is known of them.

    So a table with a row three times and one with that row and the weight 3 are one table from here on, to the last
    bit.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Raw rows. Two may be equal if they are in different strata.
    attached : ndarray of shape (n, k)
        Strata, and where they have them masses and attributes.
    place : ndarray of int of shape (n,)
        Number of the row among those that differ in `X`.
    """

    X: AnyArray
    attached: AnyArray
    place: IntArray

    @classmethod
    def of(cls, X: AnyArray, attached: AnyArray) -> "MergedRows":
        """Merge rows; those without mass are dropped.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Raw rows.
        attached : ndarray of shape (n, k)
            What is attached to them.
        """
        masses = masses_of(attached)
        if masses is not None and not masses.all():
            X, attached = X[masses > 0], attached[masses > 0]
        if attached.shape[1] == 2 and np.all(attached[:, 1] == 1.0):
            attached = attached[:, :1]
        place = places_of(X)
        if not _has_repetitions(place):
            return cls(X, attached, np.arange(len(X)))
        # All but the mass, which adds up; NaN equals nothing, not even itself.
        others = np.nan_to_num(attached[:, [0, *range(2, attached.shape[1])]], nan=-1.0)
        _, first, index = np.unique(np.column_stack([place, others]), axis=0, return_index=True, return_inverse=True)
        if len(first) == len(X):
            return cls(X, attached, place)
        masses = masses_of(attached)
        summed = np.bincount(index.ravel(), masses, minlength=len(first)).astype(np.float64)
        known = attached[first].astype(np.float64)
        merged = np.column_stack([known[:, :1], summed, known[:, 2:]])
        return cls(X[first], merged, place[first])

    @property
    def strata(self) -> IntArray:
        """The stratum of each row."""
        return strata_of(self.attached)

    @property
    def masses(self) -> FloatArray | None:
        """The mass of each row; None where all have the mass 1."""
        return masses_of(self.attached)

    @property
    def numbers(self) -> FloatArray | None:
        """What else is attached to rows than their stratum."""
        return self.attached[:, 1:] if self.attached.shape[1] > 1 else None

    def in_order(self, rows: IntArray, columns: IntArray) -> "MergedRows":
        """Return the same with rows and columns in another order."""
        # One axis after the other: a quarter of the time of both at once.
        return MergedRows(self.X[rows].take(columns, axis=1), self.attached[rows], self.place[rows])


def merge_by_place(X: FloatArray, weights: FloatArray, place: IntArray) -> tuple[FloatArray, FloatArray]:
    """Replace rows that are equal by one row with the sum of their weights; no discrepancy changes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    weights : ndarray of shape (n, k)
        Their weights.
    place : ndarray of int of shape (n,)
        The same number for equal rows.

    Returns
    -------
    X : ndarray of shape (n_distinct, p)
        The distinct rows, in the order in which they come first.
    weights : ndarray of shape (n_distinct, k)
        Their summed weights.
    """
    if not _has_repetitions(place):
        return X, weights
    _, first, index = np.unique(place, return_index=True, return_inverse=True)
    order = np.argsort(first)
    merged = np.zeros((len(first), weights.shape[1]))
    np.add.at(merged, np.argsort(order)[index], weights)
    return X[first[order]], merged


def merge_equal_rows(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find equal rows and merge them, see `merge_by_place`.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    weights : ndarray of shape (n, k)
        Their weights.
    """
    return merge_by_place(X, weights, places_of(X))


def places_of(X: AnyArray) -> IntArray:
    """Return a number for each row, the same for equal rows and for no others.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite numbers.
    """
    _, place, counts = np.unique(row_hashes(X), return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[place] > 1)
    if len(shared):
        # Equal hashes are no proof; most rows need none.
        place[shared] = len(counts) + np.unique(X[shared], axis=0, return_inverse=True)[1].ravel()
    return place


def _has_repetitions(place: IntArray) -> bool:
    """Tell whether a number, all of them small, occurs more than once."""
    return bool(np.bincount(place).max(initial=0) > 1)
