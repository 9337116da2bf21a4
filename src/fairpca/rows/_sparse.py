"""Rows in a sparse table of scipy: compressed as they came, dense one block at a time."""
# SPDX-License-Identifier: MIT

from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse

from fairpca._utils.typing import AnyArray
from fairpca.rows._array import BLOCK_NUMBERS, ArrayRows


def is_sparse(table: Any) -> TypeGuard[Any]:
    """Return whether this is a sparse array or matrix of scipy, of any format.

    Parameters
    ----------
    table : object
        Anything.
    """
    return bool(sparse.issparse(table))


def compressed(X: Any, least_rows: int = 1) -> Any:
    """Return a checked table in compressed sparse rows: the table itself where it is one, so no copy.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, p)
        What a user passed; it is left as it is. Its entries are those of ``X.toarray()``: numbers stored twice are
        added up, stored zeros are zeros.
    least_rows : int, default=1
        Rows that are needed.
    """
    if X.ndim != 2 or X.shape[0] < least_rows or X.shape[1] < 1:
        raise ValueError(
            f"X is a sparse table of shape {X.shape}; it must be (n_samples, n_features) with at least {least_rows} "
            f"sample{'s' if least_rows > 1 else ''} and 1 feature."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X is a sparse table of dtype {X.dtype}, which is not a real number; use float64, float32, integers or "
            "booleans."
        )
    rows = X.tocsr()
    if rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8):
        rows = rows.astype(np.float64)
    _check_finite(rows)
    return rows


def dense(X: Any, selection: Any = None) -> AnyArray:
    """Return rows as an array, which of a sparse table should be few: float32 if they are stored so, else float64.

    Parameters
    ----------
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    selection : slice, ndarray of int or ndarray of bool, default=None
        Which; all by default.
    """
    rows = X if selection is None else X[selection]
    if not is_sparse(X):
        return np.asarray(rows)
    # In the type that they are stored in first: numbers stored twice add up as in X.toarray().
    return rows.toarray().astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)


def n_distinct(X: Any) -> int:
    """Return how many rows of a sparse table differ.

    Parameters
    ----------
    X : compressed sparse rows of shape (n, p)
        Finite numbers.
    """
    rows = X.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    edges, columns, numbers = rows.indptr.tolist(), rows.indices, rows.data
    return len({(columns[a:b].tobytes(), numbers[a:b].tobytes()) for a, b in pairwise(edges)})


class SparseRows(ArrayRows):
    """Rows of a sparse table of shape (n, p), of which a block at a time is made dense.

    The blocks are those of the same table in an array, so that every sum has the bits that it has there. Products of
    sparse blocks would be twice as fast where 5 % of the entries are stored, but round otherwise, and columns whose
    mean is large against their spread would lose digits.

    Parameters
    ----------
    X : compressed sparse rows of shape (n, p)
        The rows, see `compressed`. No copy of them is made.
    attached : ndarray of shape (n, k)
        What else is known of each row.
    """

    def _block(self, selection: Any) -> AnyArray:
        return dense(self._X, selection)


def rows_in_memory(X: Any, attached: AnyArray) -> ArrayRows:
    """Return rows in memory, of an array or a sparse table.

    Parameters
    ----------
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    attached : ndarray of shape (n, k)
        What else is known of each row.
    """
    return SparseRows(X, attached) if is_sparse(X) else ArrayRows(X, attached)


def _check_finite(rows: Any) -> None:
    for start in range(0, len(rows.data), BLOCK_NUMBERS):
        finite = np.isfinite(rows.data[start : start + BLOCK_NUMBERS])
        if not finite.all():
            place = start + int(finite.argmin())
            row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
            raise ValueError(
                f"X has {rows.data[place]} in row {row}, column {rows.indices[place]}; drop or impute rows that are "
                "not finite."
            )
