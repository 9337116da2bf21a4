"""Hashes of the cells, rows and columns of tables.

The compiled loops make them where they were built, numpy otherwise (see `compiled`): they are the same to the last bit.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import numpy.typing as npt

from fairpca import compiled
from fairpca._utils.typing import AnyArray

Hashes = npt.NDArray[np.uint64]

FRACTION = 52
"""Bits of the fraction of a float64."""

HASHED_CELLS = 2**16
"""Cells that are worked on at a time, half a megabyte."""


def cell_hashes(by_column: AnyArray, largest: AnyArray, n_bits: int) -> Hashes:
    """Return hashes of numbers in units of the largest of their column, rounded so that units do not show.

    Parameters
    ----------
    by_column : ndarray of shape (p, n)
        Finite numbers, column by column.
    largest : ndarray of shape (p,)
        Size of the largest number of each.
    n_bits : int
        How many bits of the fraction tell numbers apart.
    """
    units = np.where(largest > 0, largest, 1.0).astype(np.float64, copy=False)
    if compiled.is_compiled():
        hashes = np.empty(by_column.shape, np.uint64)
        numbers = np.ascontiguousarray(by_column, dtype=np.float64)
        compiled.native.cell_hashes(numbers, units, FRACTION - n_bits, hashes)
        return hashes
    in_units = np.divide(by_column, units[:, None], dtype=np.float64)
    in_units += 0.0  # -0.0 equals 0.0
    bits = in_units.view(np.uint64)
    last = np.uint64(1 << (FRACTION - n_bits))
    bits += last >> np.uint64(1)
    bits &= ~(last - np.uint64(1))
    return mixed(bits)


def sums_along_columns(cells: Hashes, rows: Hashes) -> Hashes:
    """Return for each column j the sum over its cells of the hashes of cell_ij + row_i.

    Parameters
    ----------
    cells : ndarray of uint64 of shape (p, n)
        Hashes of cells, column by column: sums along long lines take a third of the time of those along short ones.
    rows : ndarray of uint64 of shape (n,)
        Hashes of rows.
    """
    sums = np.zeros(len(cells), np.uint64)
    if compiled.is_compiled():
        compiled.native.sums_along_columns(cells, rows, sums)
        return sums
    for some in column_blocks(cells):
        sums[some] = mixed(cells[some] + rows).sum(axis=1, dtype=np.uint64)
    return sums


def sums_along_rows(cells: Hashes, columns: Hashes) -> Hashes:
    """Return for each row i the sum over its cells of the hashes of cell_ij + column_j.

    Parameters
    ----------
    cells : ndarray of uint64 of shape (p, n)
        Hashes of cells, column by column.
    columns : ndarray of uint64 of shape (p,)
        Hashes of columns.
    """
    sums = np.zeros(cells.shape[1], np.uint64)
    if compiled.is_compiled():
        compiled.native.sums_along_rows(cells, columns, sums)
        return sums
    for some in column_blocks(cells):
        sums += mixed(cells[some] + columns[some, None]).sum(axis=0, dtype=np.uint64)
    return sums


def row_hashes(X: AnyArray) -> Hashes:
    """Return hashes of rows: those of equal rows are equal, and those of others nearly never.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite numbers, float32 or float64.
    """
    odd = np.asarray(np.random.default_rng(0).integers(2**64 - 1, size=X.shape[1], dtype=np.uint64) | np.uint64(1))
    hashes = np.empty(len(X), dtype=np.uint64)
    if compiled.is_compiled() and X.dtype == np.float64 and X.flags.c_contiguous:
        compiled.native.row_hashes(X, odd, hashes)
        return hashes
    height = max(1, 4 * HASHED_CELLS // X.shape[1])
    for start in range(0, len(X), height):
        # -0.0 equals 0.0. Whole numbers have their bits at the upper end, which products would carry away.
        bits = (X[start : start + height] + X.dtype.type(0)).view(f"u{X.itemsize}").astype(np.uint64, copy=False)
        bits ^= bits >> np.uint64(32)
        bits *= odd
        hashes[start : start + height] = bits.sum(axis=1, dtype=np.uint64)
    return hashes


def mixed(numbers: Hashes) -> Hashes:
    """Overwrite numbers by the finalizer of SplitMix64, in which every bit moves every other, and return them.

    Parameters
    ----------
    numbers : ndarray of uint64
        Numbers.
    """
    shifted = numbers >> np.uint64(30)
    numbers ^= shifted
    numbers *= np.uint64(0xBF58476D1CE4E5B9)
    numbers ^= np.right_shift(numbers, np.uint64(27), out=shifted)
    numbers *= np.uint64(0x94D049BB133111EB)
    numbers ^= np.right_shift(numbers, np.uint64(31), out=shifted)
    return numbers


def column_blocks(cells: Hashes) -> list[slice]:
    """Return columns in blocks that stay in the cache.

    Parameters
    ----------
    cells : ndarray of uint64 of shape (p, n)
        Hashes of cells, column by column.
    """
    width = max(1, HASHED_CELLS // cells.shape[1])
    return [slice(start, start + width) for start in range(0, len(cells), width)]
