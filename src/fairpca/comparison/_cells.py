"""Cells of rows: those that have all their labels in common."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod
from operator import add
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.comparison._columns import MOST_CELLS, LabelColumn, smallest_codes
from fairpca.rows import compute, is_dask


@dataclass(frozen=True, eq=False)
class CellSums:
    """Rows of cells; a sum of two holds the cells of both.

    Attributes
    ----------
    keys : ndarray of int of shape (n_cells,)
        Numbers of the cells, increasing.
    rows : ndarray of int of shape (n_cells,)
        Rows with a mass above 0.
    masses, heaviest : ndarray of shape (n_cells,)
        Sum and maximum of their masses.
    """

    keys: IntArray
    rows: IntArray
    masses: FloatArray
    heaviest: FloatArray

    def __add__(self, other: "CellSums") -> "CellSums":
        keys, index = np.unique(np.concatenate([self.keys, other.keys]), return_inverse=True)
        rows, masses, heaviest = np.zeros(len(keys), np.int64), np.zeros(len(keys)), np.zeros(len(keys))
        np.add.at(rows, index, np.concatenate([self.rows, other.rows]))
        np.add.at(masses, index, np.concatenate([self.masses, other.masses]))
        np.maximum.at(heaviest, index, np.concatenate([self.heaviest, other.heaviest]))
        return CellSums(keys, rows, masses, heaviest)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that occur, and which of them each row is in.

    Attributes
    ----------
    labels : ndarray of int of shape (n_cells, n_columns)
        The number of the label in each column; -1 where there is none.
    sums : CellSums
        Their rows.
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The cell of each row; -1 for rows without mass.
    """

    labels: IntArray
    sums: CellSums
    codes: Any

    @classmethod
    def of(cls, columns: Sequence[LabelColumn], masses: Any, like: Any) -> "Cells":
        """Sort rows into cells.

        Parameters
        ----------
        columns : sequence of LabelColumn
            Any number of columns, none included.
        masses : ndarray, or dask.array.Array, of shape (n, 1), or None
            Masses of rows.
        like : ndarray of shape (n, 1), or dask.array.Array
            Zeros, in the blocks that the result shall have.
        """
        sizes = [len(column.labels) + 1 for column in columns]
        strides = [prod(sizes[:k]) for k in range(len(sizes))]
        if prod(sizes) > np.iinfo(np.int64).max // 2:
            raise ValueError(f"the columns have {prod(sizes):.2g} combinations of values; compare fewer at a time.")
        keys = like
        for column, stride in zip(columns, strides, strict=True):
            keys = keys + stride * (column.codes.astype(np.int64) + 1)
        sums = _summed(keys, masses)
        if len(sums.keys) > MOST_CELLS:
            raise ValueError(
                f"the rows have {len(sums.keys)} different combinations of values; at most {MOST_CELLS} can be kept "
                "apart. Use fewer columns, or merge some of their values."
            )
        labels = [sums.keys // stride % size - 1 for stride, size in zip(strides, sizes, strict=True)]
        of_cells = np.stack(labels, axis=1) if labels else np.zeros((len(sums.keys), 0), dtype=np.int64)
        return cls(of_cells, sums, _coded(keys, masses, sums.keys))


def distinct_cells(labels: AnyArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of labels of cells, in order, and which of them each cell has.

    Cells are few: they are compared as tuples, in a tenth of the time that `numpy.unique` needs to begin.

    Parameters
    ----------
    labels : ndarray of int of shape (n_cells, n_columns)
        Numbers of labels; there may be no columns.
    """
    cells = [tuple(row) for row in labels.tolist()]
    found = sorted(set(cells))
    number = {cell: position for position, cell in enumerate(found)}
    index = np.array([number[cell] for cell in cells], dtype=np.int64)
    return np.array(found, dtype=np.int64).reshape(len(found), labels.shape[1]), index


def _summed(keys: Any, masses: Any) -> CellSums:
    if not is_dask(keys):
        return sums_of_cells(keys, masses)
    delayed = require("dask", "dask").delayed(sums_of_cells)
    blocks = keys.to_delayed()[:, 0]
    of_masses = [None] * len(blocks) if masses is None else masses.to_delayed()[:, 0]
    return reduce(add, compute(*(delayed(*pair) for pair in zip(blocks, of_masses, strict=True))))


def sums_of_cells(keys: IntArray, masses: FloatArray | None) -> CellSums:
    """Return the cells of some rows.

    Parameters
    ----------
    keys : ndarray of int of shape (n, 1)
        The number of the cell of each row.
    masses : ndarray of shape (n, 1) or None
        Their masses; None where all are 1. Rows without mass count as absent.
    """
    flat = keys[:, 0]
    if masses is None:
        if len(flat) and flat.max() <= 64 * MOST_CELLS:
            # Without sorting where they are few.
            counts = np.bincount(flat)
            found = np.flatnonzero(counts)
            rows = counts[found]
        else:
            found, rows = np.unique(flat, return_counts=True)
        return CellSums(found, rows, rows.astype(np.float64), np.ones(len(found)))
    present = masses[:, 0] > 0
    weights = masses[present, 0]
    found, index = np.unique(flat[present], return_inverse=True)
    heaviest = np.zeros(len(found))
    np.maximum.at(heaviest, index, weights)
    rows = np.bincount(index, minlength=len(found))
    summed = np.bincount(index, weights, minlength=len(found)).astype(np.float64)
    return CellSums(found, rows, summed, heaviest)


def _coded(keys: Any, masses: Any, known: IntArray) -> Any:
    code = partial(codes_of_cells, known=known)
    if not is_dask(keys):
        return code(keys, masses)
    arguments = [keys] if masses is None else [keys, masses]
    return require("dask.array", "dask").map_blocks(code, *arguments, dtype=smallest_codes(len(known)))


def codes_of_cells(keys: IntArray, masses: FloatArray | None = None, *, known: IntArray) -> AnyArray:
    """Return the position of each row's cell among the known ones, of shape (n, 1); -1 for rows without mass.

    Parameters
    ----------
    keys : ndarray of int of shape (n, 1)
        The number of the cell of each row.
    masses : ndarray of shape (n, 1), default=None
        Their masses.
    known : ndarray of int of shape (n_cells,)
        The numbers of cells, increasing.
    """
    codes = np.searchsorted(known, keys).astype(smallest_codes(len(known)))
    return codes if masses is None else np.where(masses > 0, codes, codes.dtype.type(-1))
