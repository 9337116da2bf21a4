"""Quadratic forms: from products of a few weights to the measures that they make up."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._kernel import NEGLIGIBLE


def weighted_form(forms: FloatArray, multipliers: FloatArray | None) -> FloatArray:
    """Return sum_j lambda_j P_j.

    Parameters
    ----------
    forms : ndarray of shape (n_measures, k, k)
        P_j.
    multipliers : ndarray of shape (n_measures,) or None
        The lambda_j; None takes 1 for all.
    """
    if multipliers is None:
        return forms.sum(axis=0)
    return np.einsum("j,jab->ab", multipliers, forms)


def factor(form: FloatArray) -> FloatArray:
    """Return L with as few columns as possible and L L' = P, for a positive semidefinite P.

    Parameters
    ----------
    form : ndarray of shape (k, k)
        P.
    """
    sizes, axes = np.linalg.eigh(form)
    kept = sizes > NEGLIGIBLE * max(float(sizes[-1]), 0.0)
    return axes[:, kept] * np.sqrt(sizes[kept])


@dataclass(frozen=True, eq=False)
class Factors:
    """Forms P_j as sums over few columns, P_j = sum_{c in j} a_c a_c'.

    Attributes
    ----------
    columns : ndarray of shape (n_columns, k)
        a_c, those of each form one after the other.
    ends : tuple of int
        Where the columns of each form end.
    """

    columns: FloatArray
    ends: tuple[int, ...]

    @classmethod
    def of(cls, forms: FloatArray) -> "Factors":
        """Factor forms, of shape (n_forms, k, k)."""
        factors = [factor(form).T for form in forms]
        return cls(np.vstack(factors), tuple(np.cumsum([len(columns) for columns in factors]).tolist()))

    def diagonals(self, weights: FloatArray) -> FloatArray:
        """Return w_i'P_j w_i of each form and row, of shape (n_forms, n), for weights of shape (k, n)."""
        squares = (self.columns @ weights) ** 2
        starts = (0, *self.ends[:-1])
        return np.stack([squares[start:end].sum(axis=0) for start, end in zip(starts, self.ends, strict=True)])

    def forces(self, felt: FloatArray, weights: FloatArray) -> FloatArray:
        """Return sum_ab w_ia P_ab felt_b(i) for each form P.

        Parameters
        ----------
        felt : ndarray of shape (d, k, n)
            What a unit of weight at row i feels of the weight b of all rows, in each coordinate.
        weights : ndarray of shape (k, n)
            w.

        Returns
        -------
        forces : ndarray of shape (n_forms, d, n)
            For each form those of all coordinates.
        """
        terms = np.matmul(self.columns, felt)
        terms *= self.columns @ weights
        starts = (0, *self.ends[:-1])
        return np.stack([terms[:, start:end].sum(axis=1) for start, end in zip(starts, self.ends, strict=True)])
