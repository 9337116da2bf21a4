"""Quadratic forms: from products of a few weights to the measures that they make up."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray

NEGLIGIBLE = 1e-14
"""Share of the largest eigenvalue below which another is rounding."""


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


def forces_on_weights(felt: FloatArray, weights: FloatArray, forms: FloatArray) -> FloatArray:
    """Return sum_ab w_ia P_ab felt_b(i) for each form P.

    Parameters
    ----------
    felt : ndarray of shape (d, k, n)
        What a unit of weight at row i feels of the weight b of all rows, in each coordinate.
    weights : ndarray of shape (k, n)
        w.
    forms : ndarray of shape (n_forms, k, k)
        P.

    Returns
    -------
    forces : ndarray of shape (n_forms * d, n)
        For each form those of all coordinates.
    """
    return np.concatenate([(felt * (form @ weights)).sum(axis=1) for form in forms])
