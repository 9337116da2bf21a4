"""One order of rows and columns for all tables that differ by order alone."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.data._hashes import (
    FRACTION,
    Hashes,
    cell_hashes,
    column_blocks,
    mixed,
    sums_along_columns,
    sums_along_rows,
)

SYMMETRIC_ROWS = 200
"""Rows up to which ties between rows of regular designs are broken one by one."""

KEPT = 24
"""Bits of the fraction of a number that tell entries apart: rounding moves the last two or three, and reaches those
that are kept once in a hundred million entries."""


@dataclass(frozen=True)
class CanonicalOrder:
    """Rows and columns in an order that does not depend on the order in which they came.

    Sums in another order differ in their last bits, and at strict tolerances an optimiser on a rugged function
    may answer another last bit with another local optimum: a table with its columns exchanged would get another
    answer. Here the work is done in one order for all of them.

    The order is by hashes: of a column the hash of the multiset of its cells and their rows' hashes, of a row that
    of its cells and their columns' hashes, in turns. Sums of integers modulo 2^64 do not depend on order. Neither the
    names of the groups nor constant columns, which come last, enter; nor do units, but where their rounding is all that
    tells rows apart.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        Indices of the rows in the order of the work.
    columns : ndarray of shape (p,)
        Indices of the columns in that order.
    """

    rows: IntArray
    columns: IntArray

    @classmethod
    def of(cls, X: AnyArray, groups: AnyArray | None, numbers: FloatArray | None = None) -> "CanonicalOrder":
        """Find the order.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Finite numbers.
        groups : ndarray of shape (n,) or None
            Labels.
        numbers : ndarray of shape (n, k), default=None
            What else is known of each row, such as its mass; NaN where it is not.
        """
        cells, varies, largest = _cells(X, KEPT)
        codes = np.zeros(len(X), int) if groups is None else np.unique(groups, return_inverse=True)[1]
        marks = np.zeros(len(X), np.uint64) if numbers is None else _marks(numbers)
        rows, columns = _hashed(cells, codes, marks)
        if len(X) <= SYMMETRIC_ROWS:
            while (tied := _first_tied(cells, rows)) is not None:
                # In a regular design it is of no matter which of the rows that look alike comes first.
                marks[tied] = marks.max() + np.uint64(1)
                rows, columns = _hashed(cells, codes, marks)
        # Columns of one shape in several units are told apart by these: standardised they are the same.
        row_keys, column_keys = [rows], [largest, columns]
        if _are_tied(rows) or _are_tied(columns):
            # Told apart by bits that are not kept, if at all.
            exact_rows, exact_columns = _hashed(_cells(X, FRACTION)[0], codes, rows)
            row_keys, column_keys = [exact_rows, *row_keys], [exact_columns, *column_keys]
        varying = np.flatnonzero(varies)[np.lexsort(column_keys)]
        return cls(np.lexsort(row_keys), np.concatenate([varying, np.flatnonzero(~varies)]))

    @property
    def places(self) -> IntArray:
        """Where each column of the caller is in the order of the work."""
        return np.argsort(self.columns)


def _marks(numbers: FloatArray) -> Hashes:
    """Return a hash of the numbers of each row, with room above for the marks that break ties."""
    known = np.nan_to_num(numbers, nan=-1.0)
    hashes = cell_hashes(known.T, np.abs(known).max(axis=0, initial=0.0), KEPT)
    columns = mixed(hashes + np.arange(len(hashes), dtype=np.uint64)[:, None])
    marks: Hashes = mixed(columns.sum(axis=0, dtype=np.uint64)) >> np.uint64(1)
    return marks


def _hashed(cells: Hashes, codes: IntArray, marks: Hashes) -> tuple[Hashes, Hashes]:
    """Return hashes of rows, which begin as they are marked, and of columns.

    A second round tells apart what the first could not; tables with more symmetry than two see are regular designs.
    """
    rows = mixed(marks.copy())
    columns = sums_along_columns(cells, rows)
    rows = _of_rows(cells, rows, columns, codes)
    if _are_tied(rows):
        columns = sums_along_columns(cells, rows)
        return _of_rows(cells, rows, columns, codes), columns
    return rows, sums_along_columns(cells, rows) if _are_tied(columns) else columns


def _of_rows(cells: Hashes, rows: Hashes, columns: Hashes, codes: IntArray) -> Hashes:
    """Return hashes of rows, given those that they had and those of columns."""
    rows = mixed(rows + sums_along_rows(cells, columns))
    return mixed(rows + _of_groups(rows, codes)[codes])


def _are_tied(hashes: Hashes) -> bool:
    ordered = np.sort(hashes)
    return bool(np.any(ordered[1:] == ordered[:-1]))


def _cells(X: AnyArray, n_bits: int) -> tuple[Hashes, BoolArray, FloatArray]:
    """Return the hashes of the cells of columns that vary, column by column, which these are, and their largest.

    Cells are in units of the largest of their column, to so many bits.
    """
    cells, varies, sizes = np.empty(X.shape[::-1], np.uint64), np.empty(X.shape[1], bool), np.empty(X.shape[1])
    for some in column_blocks(cells):
        by_column = np.ascontiguousarray(X[:, some].T)
        smallest, largest = by_column.min(axis=1), by_column.max(axis=1)
        varies[some] = smallest < largest
        sizes[some] = np.maximum(-smallest, largest)
        cells[some] = cell_hashes(by_column, sizes[some], n_bits)
    return (cells, varies, sizes) if varies.all() else (cells[varies], varies, sizes[varies])


def _first_tied(cells: Hashes, rows: Hashes) -> int | None:
    """Return a row of the least hash that rows with other cells share, or None."""
    _, first, index = np.unique(rows, return_index=True, return_inverse=True)
    like_others = np.flatnonzero(first[index] != np.arange(len(rows)))
    differs = like_others[np.any(cells[:, like_others] != cells[:, first[index[like_others]]], axis=0)]
    return int(first[index[differs].min()]) if len(differs) else None


def _of_groups(rows: Hashes, codes: IntArray) -> Hashes:
    hashes = np.zeros(codes.max() + 1, np.uint64)
    np.add.at(hashes, codes, mixed(rows.copy()))
    return hashes
