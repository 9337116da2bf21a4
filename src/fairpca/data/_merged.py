"""Equal rows as one row that counts as often."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison import masses_of


@dataclass(frozen=True, eq=False)
class MergedRows:
    """Rows of which no two are equal in all that is known of them, in an order of their own.

    So a table with a row three times and one with that row and the weight 3 are one table from here on, to the last
    bit, and so are tables that differ by the order of their rows.

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
        # All but the mass, which adds up; NaN equals nothing, not even itself.
        others = np.nan_to_num(attached[:, [0, *range(2, attached.shape[1])]], nan=-1.0)
        _, first, index = np.unique(np.column_stack([place, others]), axis=0, return_index=True, return_inverse=True)
        if len(first) == len(X):
            return cls(X[first], attached[first], place[first])
        masses = masses_of(attached)
        summed = np.bincount(index.ravel(), masses, minlength=len(first)).astype(np.float64)
        known = attached[first].astype(np.float64)
        merged = np.column_stack([known[:, :1], summed, known[:, 2:]])
        return cls(X[first], merged, place[first])

    @property
    def masses(self) -> FloatArray | None:
        """The mass of each row; None where all have the mass 1."""
        return masses_of(self.attached)


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
        The distinct rows, in the order of their places.
    weights : ndarray of shape (n_distinct, k)
        Their summed weights.
    """
    _, first, index = np.unique(place, return_index=True, return_inverse=True)
    if len(first) == len(X):
        return X, weights
    merged = np.zeros((len(first), weights.shape[1]))
    np.add.at(merged, index, weights)
    return X[first], merged


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
    """Return a number for each row, the same for equal rows and for no others, whatever the order of the rows.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite numbers.
    """
    rows = np.ascontiguousarray(X + X.dtype.type(0))  # -0.0 equals 0.0
    return np.unique(rows.view((np.void, X.itemsize * X.shape[1])).ravel(), return_inverse=True)[1]
