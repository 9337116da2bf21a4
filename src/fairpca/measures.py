"""Signed measures: who must look alike, as weights on the rows."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._checks import distinct
from fairpca._typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class SignedMeasures:
    """Columns of signed row weights, grouped into measures.

    Column c puts the weight w_ic on row i, and its discrepancy is w_c' K w_c. Measure j has the value
    h_j = sum of its columns' discrepancies.

    Attributes
    ----------
    weights : ndarray of shape (n_rows, n_columns)
        The weights w; every column sums to zero.
    owner : ndarray of shape (n_columns,)
        Index j of the measure that each column belongs to.
    names : tuple of str
        What each measure compares.
    """

    weights: FloatArray
    owner: IntArray
    names: tuple[str, ...]

    @property
    def n_measures(self) -> int:
        """Number of measures, the length of the vector h."""
        return len(self.names)


def demographic_parity(groups: AnyArray) -> SignedMeasures:
    """Compare two groups: +1/m on the rows of the first label, -1/n on the rows of the second.

    Parameters
    ----------
    groups : ndarray of shape (n_rows,)
        Labels with exactly two distinct values.

    Returns
    -------
    measures : SignedMeasures
        One column, one measure.

    Examples
    --------
    >>> import numpy as np
    >>> demographic_parity(np.array(["a", "b", "a", "a"])).weights.ravel()
    array([ 0.33333333, -1.        ,  0.33333333,  0.33333333])
    """
    (first, second), (n_first, n_second) = distinct(groups)
    weights = np.where(groups == first, 1.0 / n_first, -1.0 / n_second)
    return SignedMeasures(weights[:, None], np.zeros(1, dtype=np.int64), (f"{first} against {second}",))


def merge_equal_rows(X: FloatArray, measures: SignedMeasures) -> tuple[FloatArray, SignedMeasures]:
    """Replace rows that are equal by one row with the sum of their weights; no discrepancy changes.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    measures : SignedMeasures
        Their weights.

    Returns
    -------
    X : ndarray of shape (n_distinct, p)
        The distinct rows.
    measures : SignedMeasures
        Their summed weights.
    """
    distinct, index = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) == len(X):
        return X, measures
    weights = np.zeros((len(distinct), measures.weights.shape[1]))
    np.add.at(weights, index.ravel(), measures.weights)
    return distinct, SignedMeasures(weights, measures.owner, measures.names)
