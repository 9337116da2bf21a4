"""What becomes of rows, a block at a time."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.rows import Transform, dense

BLOCK_NUMBERS = 2**21
"""Numbers in a block of rows that is projected at once, 16 MB."""


@dataclass(frozen=True, eq=False)
class Projection:
    """z = V'((x - mean) / scale), which may travel to where the rows are.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        What is subtracted from and divides the columns.
    components : ndarray of shape (d, p)
        V'.
    """

    mean: FloatArray
    scale: FloatArray
    components: FloatArray

    def __call__(self, X: AnyArray) -> AnyArray:
        """Project rows, an array of shape (n, p)."""
        return ((X - self.mean) / self.scale) @ self.components.T


@dataclass(frozen=True, eq=False)
class Residual(Projection):
    """|x - VV'x|^2 of the centred, scaled rows, in a column."""

    def __call__(self, X: AnyArray) -> AnyArray:
        """Return the squared distances of rows, an array of shape (n, p), from their reconstructions."""
        rows = (X - self.mean) / self.scale
        rows -= (rows @ self.components.T) @ self.components
        return np.einsum("ij,ij->i", rows, rows)[:, None]


def by_blocks(transform: Transform, X: Any, width: int, dtype: Any = None) -> AnyArray:
    """Return what becomes of rows, a block at a time: no second copy of a table that is large, mapped or sparse.

    Parameters
    ----------
    transform : callable
        From rows to as many others.
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    width : int
        Columns of the result.
    dtype : dtype, default=None
        Of the result; by default float32 if `X` is, else float64.
    """
    n, p = X.shape
    Z = np.empty((n, width), dtype=dtype or (np.float32 if X.dtype == np.float32 else np.float64))
    for block in gen_batches(n, max(1, BLOCK_NUMBERS // p)):
        Z[block] = transform(dense(X, block))
    return Z
