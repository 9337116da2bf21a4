"""Sums of rows."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray


def sum_of_block(X: AnyArray, attached: AnyArray) -> FloatArray:
    """Return the sum of the rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    """
    return X.sum(axis=0, dtype=np.float64)
