"""Finding numbers that are not finite in a Dask table."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.rows._array import BLOCK_NUMBERS

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
