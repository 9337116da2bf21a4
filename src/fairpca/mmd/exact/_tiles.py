"""Products with symmetric n x n matrices that are made tile by tile and never stored."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from fairpca._utils.threads import LANES, run_all, run_lanes, single_threaded_blas
from fairpca._utils.typing import FloatArray

TILE = 256
"""Largest tile edge: a float64 tile of this size (512 kB) stays in the L2 cache of one core."""

STRIP, STRIP_LENGTH = 128, 4096
"""Height and greatest length of a strip of K, 4 MB."""

FillTiles = Callable[[slice, slice, Sequence[FloatArray]], None]


def symmetric_products(fill: FillTiles, operands: Sequence[FloatArray]) -> list[FloatArray]:
    """Return K_q @ operand_q for symmetric matrices K_q given by their tiles.

    Only the tiles on and above the diagonal are made: tile (I, J) serves rows I and, transposed, rows J.
    Memory is O(LANES * n * columns).

    Parameters
    ----------
    fill : callable
        ``fill(rows, columns, tiles)`` writes the tile of each K_q into ``tiles[q]``. It runs in several threads.
    operands : sequence of ndarray of shape (n, n_columns_q)
        Right-hand sides, one for each matrix.

    Returns
    -------
    products : list of ndarray of shape (n, n_columns_q)
        The products K_q @ operand_q.
    """
    blocks = _blocks(operands[0].shape[0])
    tiles = [(rows, columns) for i, rows in enumerate(blocks) for columns in blocks[i:]]
    n_lanes = min(LANES, len(tiles))
    sums = [np.zeros((n_lanes, *operand.shape)) for operand in operands]
    lanes = [
        _lane(fill, operands, [lane_sums[lane] for lane_sums in sums], tiles[lane::n_lanes]) for lane in range(n_lanes)
    ]
    with single_threaded_blas():
        run_lanes(lanes)
    return [lane_sums.sum(axis=0) for lane_sums in sums]


def strip_products(fill: FillTiles, operands: Sequence[FloatArray]) -> list[FloatArray]:
    """Return K_q @ operand_q for many right-hand sides, strip by strip of the matrices.

    With many columns the product costs more than K itself: making all of K, not its upper half, saves the partial
    sums and leaves BLAS with large blocks.

    Parameters
    ----------
    fill : callable
        ``fill(rows, columns, tiles)`` writes a block of each K_q into ``tiles[q]``. It runs in several threads.
    operands : sequence of ndarray of shape (n, n_columns_q)
        Right-hand sides, one for each matrix.
    """
    n = len(operands[0])
    products = [np.empty_like(operand) for operand in operands]
    strips = _blocks(n, STRIP)
    pieces = _blocks(n, STRIP_LENGTH)
    with single_threaded_blas():
        run_all([partial(_work_on_strip, fill, operands, products, rows, pieces) for rows in strips])
    return products


def _work_on_strip(
    fill: FillTiles,
    operands: Sequence[FloatArray],
    products: Sequence[FloatArray],
    rows: slice,
    pieces: Sequence[slice],
) -> None:
    height = rows.stop - rows.start
    for product in products:
        product[rows] = 0
    for columns in pieces:
        shape = height, columns.stop - columns.start
        blocks = [np.empty(shape, dtype=operand.dtype) for operand in operands]
        fill(rows, columns, blocks)
        for block, operand, product in zip(blocks, operands, products, strict=True):
            product[rows] += block @ operand[columns]


def _blocks(n: int, largest: int = TILE) -> list[slice]:
    n_blocks = max(1, math.ceil(n / largest))
    edges = np.linspace(0, n, n_blocks + 1).astype(int)
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


def _lane(
    fill: FillTiles,
    operands: Sequence[FloatArray],
    sums: Sequence[FloatArray],
    tiles: Sequence[tuple[slice, slice]],
) -> Iterator[Callable[[], None]]:
    """Yield a task for each tile of a lane; they share buffers and sums."""
    buffers = [np.empty(TILE * TILE) for _ in operands]
    for rows, columns in tiles:
        yield partial(_work_on_tile, fill, operands, sums, buffers, rows, columns)


def _work_on_tile(
    fill: FillTiles,
    operands: Sequence[FloatArray],
    sums: Sequence[FloatArray],
    buffers: Sequence[FloatArray],
    rows: slice,
    columns: slice,
) -> None:
    shape = (rows.stop - rows.start, columns.stop - columns.start)
    views = [buffer[: shape[0] * shape[1]].reshape(shape) for buffer in buffers]
    fill(rows, columns, views)
    for tile, operand, total in zip(views, operands, sums, strict=True):
        total[rows] += tile @ operand[columns]
        if rows != columns:
            total[columns] += tile.T @ operand[rows]
