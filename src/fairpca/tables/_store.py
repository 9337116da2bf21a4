"""Where encoded rows are kept: in memory, or beyond some size in a file that is mapped."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray

BLOCK_BYTES = 16 * 2**20


class RowStore:
    """A matrix that is filled from its first row to its last.

    Parameters
    ----------
    shape : (int, int)
        Of the matrix.
    dtype : dtype
        Of its numbers.
    path : Path or None
        The file, or None to keep the matrix in memory.
    """

    def __init__(self, shape: tuple[int, int], dtype: "np.dtype[Any]", path: Path | None) -> None:
        self._shape, self._dtype = shape, dtype
        # An empty file cannot be mapped.
        self._path = path if shape[0] else None
        self._rows: AnyArray | None = np.empty(shape, dtype) if self._path is None else None
        self._file = self._path.open("wb") if self._path is not None else None
        self._filled = 0

    @property
    def n_rows(self) -> int:
        """Rows of the matrix."""
        return self._shape[0]

    def append(self, rows: AnyArray) -> None:
        """Add the next rows.

        Parameters
        ----------
        rows : ndarray of shape (k, n_features)
            The rows.
        """
        if self._file is not None:
            # Written, not mapped: pages of a mapping would count as memory of this process.
            self._file.write(np.ascontiguousarray(rows, dtype=self._dtype).data)
        elif self._rows is not None:
            self._rows[self._filled : self._filled + len(rows)] = rows
        self._filled += len(rows)

    def finish(self) -> None:
        """End the filling."""
        if self._file is not None:
            self._file.close()

    def blocks(self) -> Iterator[AnyArray]:
        """Yield blocks of rows that can be read and written."""
        n_rows, n_features = self._shape
        size = max(1, BLOCK_BYTES // max(1, n_features * self._dtype.itemsize))
        for start in range(0, n_rows, size):
            count = min(size, n_rows - start)
            if self._rows is not None:
                yield self._rows[start : start + count]
            else:
                offset = start * n_features * self._dtype.itemsize
                yield np.memmap(str(self._path), self._dtype, mode="r+", offset=offset, shape=(count, n_features))

    def every(self, step: int) -> AnyArray:
        """Return every so-many-th row, in memory; mapped pages are let go of block by block.

        Parameters
        ----------
        step : int
            From one to the next.
        """
        parts, start = [], 0
        for block in self.blocks():
            parts.append(np.array(block[-start % step :: step]))
            start += len(block)
        return np.concatenate(parts)

    def matrix(self) -> AnyArray:
        """Return the matrix; one in a file can only be read."""
        if self._rows is not None:
            return self._rows
        return np.memmap(str(self._path), self._dtype, mode="r", shape=self._shape)


def column_means(store: RowStore, columns: IntArray) -> AnyArray:
    """Return the means of columns over rows in which they are no NaN; NaN where all are.

    Parameters
    ----------
    store : RowStore
        The rows.
    columns : ndarray of int
        Which columns.
    """
    total, count = np.zeros(len(columns)), np.zeros(len(columns))
    for block in store.blocks():
        part = block[:, columns].astype(np.float64)
        # Divided first: the sum of numbers near the largest would overflow.
        total += np.nansum(part / store.n_rows, axis=0)
        count += (~np.isnan(part)).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return total * (store.n_rows / count)


def fill_columns(store: RowStore, columns: IntArray, values: AnyArray) -> None:
    """Put values in place of NaN.

    Parameters
    ----------
    store : RowStore
        The rows.
    columns : ndarray of int
        Which columns.
    values : ndarray of float
        One for each of them.
    """
    for block in store.blocks():
        part = block[:, columns]
        block[:, columns] = np.where(np.isnan(part), values, part)
