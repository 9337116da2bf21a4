"""Rows in memory as a user passed them, checked."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from fairpca.rows import compressed, is_sparse


def checked_rows(estimator: Any, X: Any, *, least_rows: int = 1, reset: bool = False) -> Any:
    """Return finite numbers, float32 or float64 in an array, or compressed sparse rows as they are stored.

    Parameters
    ----------
    estimator : BaseEstimator
        Who asks.
    X : array-like, or sparse array or matrix, of shape (n, p)
        What the user passed.
    least_rows : int, default=1
        Rows that are needed.
    reset : bool, default=False
        Whether the estimator learns the number of features and their names, or compares them with what it has learned.
    """
    if not is_sparse(X):
        dtypes = [np.float64, np.float32]
        return validate_data(estimator, X, dtype=dtypes, ensure_min_samples=least_rows, reset=reset)
    rows = compressed(X, least_rows)
    validate_data(estimator, rows, skip_check_array=True, reset=reset)
    return rows
