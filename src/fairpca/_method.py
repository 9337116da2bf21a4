"""How the discrepancy of all rows is computed."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._checks import MOST_FOURIER
from fairpca._typing import AnyArray

EXACT_ROWS = 5000
"""Rows up to which comparing all pairs is as fast as anything else."""

MOST_HERMITE = 16
"""Components up to which some thousand Hermite features are of use."""


def choose_method(mmd: str, X: AnyArray, n_components: int) -> str:
    """Return "exact", "fourier" or "hermite".

    Parameters
    ----------
    mmd : {"auto", "exact", "fourier", "hermite"}
        What was asked for.
    X : ndarray of shape (n, p)
        Rows.
    n_components : int
        d.
    """
    if mmd != "auto":
        return mmd
    if n_components > MOST_HERMITE or len(X) <= EXACT_ROWS or _few_are_distinct(X):
        return "exact"
    return linear_method(mmd, n_components)


def _few_are_distinct(X: AnyArray) -> bool:
    """Tell whether few rows remain when equal ones are merged, as in tables of counts and categories."""
    return len(X) <= 4 * EXACT_ROWS and len(np.unique(X, axis=0)) <= EXACT_ROWS


def linear_method(mmd: str, n_components: int) -> str:
    """Return "fourier" or "hermite".

    Parameters
    ----------
    mmd : {"auto", "fourier", "hermite"}
        What was asked for; "exact", which needs the rows in memory, is refused.
    n_components : int
        d.
    """
    if mmd == "exact":
        raise ValueError(
            'mmd="exact" compares all pairs of rows and needs them in memory, which Dask tables are not; use '
            'mmd="auto", whose answer is measured exactly up to 60,000 rows, or fit(X.compute(), ...).'
        )
    if mmd != "auto":
        return mmd
    return "fourier" if n_components <= MOST_FOURIER else "hermite"
