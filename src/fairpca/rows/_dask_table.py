"""Tables of Dask, checked and brought into one form: finite numbers in blocks of known height."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca._utils.typing import AnyArray
from fairpca.rows._dask_blocks import compute, is_dask_frame, is_dask_series

_WAY_OUT = "drop or impute rows that are not finite."


@dataclass(frozen=True)
class NotFinite:
    """Where the first number that is not finite is; of a sum of two the first.

    Attributes
    ----------
    block : int or None
        Number of the block; None if all numbers are finite.
    row, column : int
        Row number in the block, and column number.
    value : float
        The number.
    """

    block: int | None = None
    row: int = 0
    column: int = 0
    value: float = 0.0

    def __add__(self, other: "NotFinite") -> "NotFinite":
        return other if self.block is None else self


def refuse_first(first: NotFinite, chunks: Sequence[int], column_names: AnyArray | None) -> None:
    """Raise an error that says where the first NaN or infinity of a table is, if there is one.

    Parameters
    ----------
    first : NotFinite
        Where it is.
    chunks : sequence of int
        Rows of each block.
    column_names : ndarray of shape (p,) or None
        Names of the columns; without them the error has the number.
    """
    if first.block is None:
        return
    start = sum(chunks[: first.block])
    raise ValueError(
        f"X has {first.value} in block {first.block} (rows {start} to {start + chunks[first.block] - 1}), column "
        f"{_column(first, column_names)}, first in row {start + first.row}; {_WAY_OUT}"
    )


def refuse_not_finite(X: AnyArray, block: int, feature_names: Sequence[str] | AnyArray | None = None) -> None:
    """Raise an error that says where the first NaN or infinity of a block is, if there is one.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    block : int
        Number of the block.
    feature_names : sequence of p str, default=None
        Names of the columns; without them the error has the number.
    """
    first = not_finite_of_block(X, X, block)
    if first.block is not None:
        raise ValueError(
            f"X has {first.value} in block {block}, column {_column(first, feature_names)}, first in row {first.row} "
            f"of the block; {_WAY_OUT}"
        )


def _column(first: NotFinite, feature_names: Sequence[str] | AnyArray | None) -> str:
    return str(first.column) if feature_names is None else repr(str(feature_names[first.column]))


def not_finite_of_block(X: AnyArray, attached: AnyArray, block: int) -> NotFinite:
    """Return where the first number of a block that is not finite is.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    block : int
        Number of the block.
    """
    height = max(256, BLOCK_NUMBERS // X.shape[1])
    for start in range(0, len(X), height):
        finite = np.isfinite(X[start : start + height])
        if not finite.all():
            row, column = divmod(int(finite.argmin()), X.shape[1])
            return NotFinite(block, start + row, column, float(X[start + row, column]))
    return NotFinite()


def check_table(X: Any) -> None:
    """Refuse what has not rows and columns; nothing is computed.

    Parameters
    ----------
    X : Dask array, frame or series
        What a user passed.
    """
    if X.ndim != 2:
        one_column = "X.to_frame()" if is_dask_series(X) else "X[:, None]"
        raise ValueError(
            f"X has {X.ndim} dimension{'s' if X.ndim != 1 else ''}; it must be a table of shape (n_samples, "
            f"n_features). One column of features is {one_column}."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns; it must be a table with at least one.")


def header(X: Any) -> Any:
    """Return a table in memory with the columns of a Dask table and no rows; nothing is computed.

    Names and number of columns are checked on it by the rules that hold for tables in memory.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.

    Returns
    -------
    empty : ndarray or pandas.DataFrame of shape (0, p)
        With names if `X` is a frame.
    """
    check_table(X)
    if is_dask_frame(X):
        return require("pandas", "dask").DataFrame(columns=X.columns)
    return np.empty((0, X.shape[1]))


def number_blocks(X: Any) -> Any:
    """Return the rows as a Dask array with one column chunk and known row chunks, float32 or float64.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Numbers; integers and booleans become float64. Whether they are finite is not checked here, see
        `Rows.check_finite`.
    """
    check_table(X)
    dtype = number_dtype(X)
    if is_dask_frame(X):
        X = X.astype(dtype).to_dask_array()
    X = X.rechunk({1: -1})
    rows = X.map_blocks(partial(np.asarray, dtype=dtype), dtype=dtype, chunks=(_heights(X), X.chunks[1]))
    if rows.shape[0] == 0:
        raise ValueError("X has no rows.")
    return rows


def _heights(X: Any) -> tuple[int, ...]:
    """Return the rows of each block, counted where they are unknown.

    Of whole blocks: when fewer columns of a Parquet file are read, Dask may make fewer and larger blocks.
    """
    if not any(np.isnan(X.chunks[0])):
        return X.chunks[0]
    return compute(*map(require("dask", "dask").delayed(len), X.to_delayed()[:, 0]))


def number_dtype(X: Any) -> "np.dtype[Any]":
    """Return float32 if all columns are, else float64.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Rows; columns that hold no numbers are refused.
    """
    kinds = list(X.dtypes) if is_dask_frame(X) else [X.dtype]
    names = X.columns.tolist() if is_dask_frame(X) else []
    other = [position for position, kind in enumerate(kinds) if getattr(kind, "kind", "O") not in "fiub"]
    if other and names:
        listed = ", ".join(f"{names[position]!r} ({kinds[position]})" for position in other)
        raise ValueError(f"X has columns that are not numbers: {listed}; encode them first, for example one-hot.")
    if other:
        raise ValueError(
            f"X has dtype {X.dtype}, which is not a number; encode its columns first, for example one-hot."
        )
    return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)
