"""Products with Gaussian kernel matrices, made tile by tile and never stored.

The compiled loops are used where a compiler was there at install time, numpy otherwise (see `compiled`): the
results agree to rounding.
"""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise

import numpy as np

from fairpca import compiled
from fairpca._utils.threads import BLOCK_NUMBERS, N_SUMS, run_all, run_sequences, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.mmd._kernel import GAP, GAUSSIAN, Clusters, Mixture

TILE = 256
"""Largest tile edge: a float64 tile of this size (512 kB) stays in the L2 cache of one core."""


FillTiles = Callable[[slice, slice, Sequence[AnyArray]], None]


def symmetric_products(fill: FillTiles, operands: Sequence[FloatArray]) -> list[FloatArray]:
    """Return K_q @ operand_q for symmetric matrices K_q given by their tiles.

    Only the tiles on and above the diagonal are made: tile (I, J) serves rows I and, transposed, rows J.
    Memory is O(N_SUMS * n * columns).

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
    n_sums = min(N_SUMS, len(tiles))
    sums = [np.zeros((n_sums, *operand.shape)) for operand in operands]
    sequences = [
        _tile_tasks(fill, operands, [own_sums[sequence] for own_sums in sums], tiles[sequence::n_sums])
        for sequence in range(n_sums)
    ]
    with single_threaded_blas():
        run_sequences(sequences)
    return [own_sums.sum(axis=0) for own_sums in sums]


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
    """Return strips of at most TILE rows, as many for each of N_SUMS threads where rows are not few."""
    n_strips = N_SUMS * math.ceil(n / (N_SUMS * TILE))
    # Of an eighth of a tile the Python takes longer than the arithmetic.
    return _blocks(n, max(TILE // 8, math.ceil(n / n_strips)))


def _blocks(n: int, largest: int = TILE) -> list[slice]:
    n_blocks = max(1, math.ceil(n / largest))
    return [slice(*edges) for edges in pairwise(n * block // n_blocks for block in range(n_blocks + 1))]


def _tile_tasks(
    fill: FillTiles,
    operands: Sequence[FloatArray],
    sums: Sequence[FloatArray],
    tiles: Sequence[tuple[slice, slice]],
) -> Iterator[Callable[[], None]]:
    """Yield a task for each tile of a sequence; they share buffers and sums."""
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


MOST_RIGHT_SIDES = 48
"""Above this many right-hand sides BLAS on strips of K beats the compiled loop."""


def gaussian_products(Z: AnyArray, operand: AnyArray, mixture: Mixture = GAUSSIAN) -> AnyArray:
    """Return K @ operand with K_ij = exp(-|z_i - z_j|^2 / 2), or the mean of several scales.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows in units of the bandwidth: the positions of `Clusters`, so that none is very far from the others.
    operand : ndarray of shape (n, n_columns)
        Right-hand sides. Many columns in float32 are multiplied in float32.
    mixture : Mixture, default=GAUSSIAN
        The scales; Z is in units of the widest.

    Returns
    -------
    product : ndarray of shape (n, n_columns)
        K @ operand, in O(n) memory for each column.
    """
    return products_of_orders(Z, [operand], mixture, [0])[0]


def products_of_orders(
    Z: AnyArray, operands: Sequence[AnyArray], mixture: Mixture, orders: Sequence[int]
) -> list[AnyArray]:
    """Return K_q @ operand_q for kernels of several orders q, in one pass.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows, see `gaussian_products`.
    operands : sequence of at most two ndarray of shape (n, n_columns)
        Right-hand sides, one for each order.
    mixture : Mixture
        The scales.
    orders : sequence of int
        The q, see `Mixture`.
    """
    if sum(operand.shape[1] for operand in operands) > MOST_RIGHT_SIDES:
        return strip_products(_GaussianTiles(Z, mixture, orders).fill, operands)
    if compiled.is_compiled():
        doubles = [operand.astype(np.float64, copy=False) for operand in operands]
        return _native_products(Z.astype(np.float64, copy=False), doubles, mixture, orders)
    return symmetric_products(_GaussianTiles(Z, mixture, orders).fill, operands)


def whole_and_half_products(Z: FloatArray, whole: FloatArray, halved: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return K @ whole and L @ halved with L + L' = K: of what is to be symmetric, half will do.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows, see `gaussian_products`.
    whole, halved : ndarray of shape (n, n_columns)
        Right-hand sides, few of them.
    """
    if compiled.is_compiled():
        n_whole = whole.shape[1]
        both = _native_products(Z, [np.concatenate([whole.T, halved.T]).T], GAUSSIAN, [0], n_whole)[0]
        return both[:, :n_whole], both[:, n_whole:]
    found, half = strip_products(_GaussianTiles(Z, GAUSSIAN, [0]).fill, [whole], halved)
    return found, half


def weighted_products_of_orders(
    Z: AnyArray,
    weights: AnyArray | None,
    operands: Sequence[AnyArray],
    mixture: Mixture,
    orders: Sequence[int],
    halved_operand: AnyArray | None = None,
) -> list[AnyArray]:
    """Return A_q @ operand_q with A_q = WW' * K_q.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows, see `gaussian_products`.
    weights : ndarray of shape (n, k) or None
        W; None leaves A_q = K_q.
    operands, mixture, orders
        See `products_of_orders`.
    halved_operand : ndarray of shape (n, n_columns), default=None
        See `strip_products`.
    """
    if weights is not None:
        return strip_products(_WeightedGaussianTiles(Z, mixture, orders, weights).fill, operands, halved_operand)
    if halved_operand is not None:
        return strip_products(_GaussianTiles(Z, mixture, orders).fill, operands, halved_operand)
    return products_of_orders(Z, operands, mixture, orders)


def kernel_products(
    rows: FloatArray, operand: FloatArray, bandwidth: float, factors: Sequence[float] = (1.0,)
) -> FloatArray:
    """Return K @ operand for rows in their own units, K_ij the mean of exp(-|x_i - x_j|^2 / (2 (f sigma)^2)) over f.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows x_i, finite numbers of any size.
    operand : ndarray of shape (n, n_columns)
        Right-hand sides.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        f.
    """
    clusters = Clusters.of(rows, bandwidth * max(factors))
    return gaussian_products(clusters.positions, operand, Mixture.of(factors))


def inner_differences(Z: AnyArray, others: AnyArray, rate: AnyArray, other_rate: AnyArray) -> AnyArray:
    """Return (z_i - z_j).(z'_i - z'_j), of shape (n, k); differences first, so that no size of the z costs digits.

    Parameters
    ----------
    Z, rate : ndarray of shape (d, n)
        z_i and z'_i as columns; one array where they are the same.
    others, other_rate : ndarray of shape (d, k)
        z_j and z'_j.
    """
    total = np.zeros((Z.shape[1], others.shape[1]), dtype=Z.dtype)
    for here, there, here_rate, there_rate in zip(Z, others, rate, other_rate, strict=True):
        differences = np.subtract.outer(here, there)
        differences *= differences if rate is Z else np.subtract.outer(here_rate, there_rate)
        total += differences
    return total


def _native_products(
    Z: FloatArray,
    operands: Sequence[FloatArray],
    mixture: Mixture,
    orders: Sequence[int],
    n_whole: int | None = None,
) -> list[AnyArray]:
    """Return products of all columns, or of the first `n_whole` of a single order and half products of the others."""
    widths = [operand.shape[1] for operand in operands]
    n, n_columns = len(Z), sum(widths)
    columns = np.concatenate([operand.T for operand in operands]) if len(operands) > 1 else operands[0].T
    arguments = (np.ascontiguousarray(Z.T), np.ascontiguousarray(columns))
    scales = () if mixture.is_single else (_native_scales(mixture, orders), widths[0])
    # Below a third of a millisecond one thread is as fast as two, of which waking another takes a tenth.
    n_sums = 1 if n * n * n_columns < 16 * BLOCK_NUMBERS else N_SUMS
    sums = np.zeros((n_sums, n_columns, n))
    n_whole = n_columns if n_whole is None else n_whole
    # In shares of about a fifth of a second in one thread: the compiled loop does not listen to interrupts.
    n_shares = 1 + n * n * (n_columns + Z.shape[1]) // 2**29
    n_steps = n_sums * n_shares
    run_sequences(
        [
            [
                partial(compiled.native.gaussian_sums, *arguments, own_sums, first, n_steps, n_whole, *scales)
                for first in range(sequence, n_steps, n_sums)
            ]
            for sequence, own_sums in enumerate(sums)
        ]
    )
    products = (sums[0] if n_sums == 1 else sums.sum(axis=0)).T
    return [products[:, stop - width : stop] for width, stop in zip(widths, accumulate(widths), strict=True)]


def _native_scales(mixture: Mixture, orders: Sequence[int]) -> FloatArray:
    """Return for each scale its rate, how often the exponential before it is squared, and coefficients by order."""
    coefficients = [mixture.coefficients(order) for order in orders]
    return np.ascontiguousarray(np.array([mixture.rates, mixture.squarings, *coefficients]).T)


def _exponential(exponents: AnyArray) -> None:
    if compiled.is_compiled() and exponents.dtype == np.float64:
        compiled.native.exp_inplace(exponents)
    else:
        np.exp(exponents, out=exponents)


class _GaussianTiles:
    """Tiles of kernels of several orders.

    The exponent -|z_i - z_j|^2 / 2 is one matrix product of rows extended by their squared norms, which costs some
    digits, so that it may be above 0, or, where rows are so wide that it would cost many, a sum over the coordinates.
    """

    def __init__(self, Z: AnyArray, mixture: Mixture, orders: Sequence[int]) -> None:
        self._mixture, self._orders = mixture, orders
        self._columns = np.ascontiguousarray(Z.T)
        half = -0.5 * np.einsum("ij,ij->i", Z, Z)[:, None]
        # Beyond the reach of the kernel squared norms cost too many digits: 1e-4 in float32.
        self._is_wide = bool(mixture.rates[-1] * half.min() < -0.5 * GAP**2)
        ones = np.ones_like(half)
        self._left = np.hstack([Z, half, ones])
        self._right = np.hstack([Z, ones, half])

    def fill(self, rows: slice, columns: slice, tiles: Sequence[AnyArray]) -> None:
        if self._mixture.is_single:
            self._fill_exponents(rows, columns, tiles[0])
            _exponential(tiles[0])
            for tile in tiles[1:]:
                tile[...] = tiles[0]
        else:
            exponents = np.empty_like(tiles[0])
            self._fill_exponents(rows, columns, exponents)
            self._mixture.fill(exponents, self._orders, tiles, _exponential)

    def _fill_exponents(self, rows: slice, columns: slice, exponents: AnyArray) -> None:
        if self._is_wide:
            here, there = self._columns[:, rows], self._columns[:, columns]
            np.multiply(inner_differences(here, there, here, there), -0.5, out=exponents)
        else:
            np.matmul(self._left[rows], self._right[columns].T, out=exponents)


class _WeightedGaussianTiles(_GaussianTiles):
    """Tiles of WW' * K_q."""

    def __init__(self, Z: AnyArray, mixture: Mixture, orders: Sequence[int], weights: AnyArray) -> None:
        super().__init__(Z, mixture, orders)
        self._weights = weights

    def fill(self, rows: slice, columns: slice, tiles: Sequence[AnyArray]) -> None:
        super().fill(rows, columns, tiles)
        products = self._weights[rows] @ self._weights[columns].T
        for tile in tiles:
            tile *= products
