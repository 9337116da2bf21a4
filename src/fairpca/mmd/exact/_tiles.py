"""Products with symmetric n x n matrices that are made tile by tile and never stored."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from fairpca._utils.threads import BLOCK_NUMBERS, LANES, run_all, run_lanes, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray

TILE = 256
"""Largest tile edge: a float64 tile of this size (512 kB) stays in the L2 cache of one core."""


FillTiles = Callable[[slice, slice, Sequence[AnyArray]], None]


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


def strip_products(
    fill: FillTiles, operands: Sequence[AnyArray], halved_operand: AnyArray | None = None
) -> list[AnyArray]:
    """Return K_q @ operand_q for many right-hand sides, strip by strip of the matrices.

    With many columns the product costs more than K itself: making all of K, not its upper half, saves the partial
    sums and leaves BLAS with large blocks.

    Parameters
    ----------
    fill : callable
        ``fill(rows, columns, tiles)`` writes a block of each K_q into ``tiles[q]``. It runs in several threads.
    operands : sequence of ndarray of shape (n, n_columns_q)
        Right-hand sides, one for each matrix.
    halved_operand : ndarray of shape (n, n_columns), default=None
        Another, U, of the first matrix, of which half a product will do: LU with L + L' = K is the last that is
        returned. U'KU, for one, is U'LU and its transpose.
    """
    products = [np.empty_like(operand) for operand in operands]
    half = None if halved_operand is None else (halved_operand, np.empty_like(halved_operand))
    with single_threaded_blas():
        # The last strip of L is the longest, and begun first.
        strips = reversed(_strips(len(operands[0])))
        run_all([partial(_work_on_strip, fill, operands, products, half, rows) for rows in strips])
    return products if half is None else [*products, half[1]]


def _work_on_strip(
    fill: FillTiles,
    operands: Sequence[AnyArray],
    products: Sequence[AnyArray],
    half: tuple[AnyArray, AnyArray] | None,
    rows: slice,
) -> None:
    for columns in _blocks(len(operands[0]), 4 * BLOCK_NUMBERS // TILE):
        shape = rows.stop - rows.start, columns.stop - columns.start
        blocks = [np.empty(shape, dtype=operand.dtype) for operand in operands]
        fill(rows, columns, blocks)
        for block, operand, product in zip(blocks, operands, products, strict=True):
            _add_product(block, operand[columns], product[rows], columns.start == 0)
        if half is not None and columns.start < rows.stop:
            below = slice(columns.start, min(columns.stop, rows.stop))
            _add_product(_lower(blocks[0], rows, columns), half[0][below], half[1][rows], columns.start == 0)


def _lower(block: AnyArray, rows: slice, columns: slice) -> AnyArray:
    """Return what a block has of L: all before the square on the diagonal, and half of that; the block is changed."""
    start, stop = max(columns.start, rows.start), min(columns.stop, rows.stop)
    block[:, start - columns.start : stop - columns.start] *= 0.5
    return block[:, : stop - columns.start]


def _add_product(left: AnyArray, right: AnyArray, total: AnyArray, is_first: bool) -> None:
    if is_first:
        np.matmul(left, right, out=total)
    else:
        total += left @ right


def _strips(n: int) -> list[slice]:
    """Return strips of at most TILE rows, as many for each of LANES threads where rows are not few."""
    n_strips = LANES * math.ceil(n / (LANES * TILE))
    # Of an eighth of a tile the Python takes longer than the arithmetic.
    return _blocks(n, max(TILE // 8, math.ceil(n / n_strips)))


def _blocks(n: int, largest: int = TILE) -> list[slice]:
    n_blocks = max(1, math.ceil(n / largest))
    return [slice(*edges) for edges in pairwise(n * block // n_blocks for block in range(n_blocks + 1))]


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
