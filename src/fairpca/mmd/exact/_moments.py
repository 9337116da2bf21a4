"""All second derivatives of a sum of w'Kw from one product with the kernel matrix."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise

import numpy as np

from fairpca._utils.threads import N_SUMS, run_all, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.mmd._kernel import Mixture
from fairpca.mmd.exact._products import MOST_RIGHT_SIDES, TILE, weighted_products_of_orders, whole_and_half_products


def outer_sums(N: AnyArray, weights: AnyArray) -> AnyArray:
    """Return the sums over i of s_i n_i n_i' for several s, on and above the diagonal.

    They are symmetric, so that products of columns, each pair once, and one product of matrices take half of what
    N'(s * N) takes for each s.

    Parameters
    ----------
    N : ndarray of shape (n, q)
        Rows n_i.
    weights : ndarray of shape (n_sums, n)
        The s.

    Returns
    -------
    sums : ndarray of shape (n_sums, q * (q + 1) / 2)
        Their entries, row after row; see `squares_of`.
    """
    q = N.shape[1]
    columns = np.ascontiguousarray(N.T)
    # Of few sums products of columns cost more than they save.
    if len(weights) < 8:
        return np.stack([((each * columns) @ N)[upper_indices(q)] for each in weights])
    starts = np.concatenate([[0], np.cumsum(q - np.arange(q))])
    sums = np.empty((len(weights), starts[-1]), dtype=N.dtype)

    def fill(lines: range) -> None:
        first = starts[lines.start]
        products = np.empty((starts[lines.stop] - first, len(N)), dtype=N.dtype)
        for k in lines:
            np.multiply(columns[k], columns[k:], out=products[starts[k] - first : starts[k + 1] - first])
        np.matmul(weights, products.T, out=sums[:, first : starts[lines.stop]])

    run_all([partial(fill, lines) for lines in _pieces(q)])
    return sums


def squares_of(sums: AnyArray, q: int) -> AnyArray:
    """Return symmetric q x q matrices, given what is on and above their diagonals.

    Parameters
    ----------
    sums : ndarray of shape (n_sums, q * (q + 1) / 2)
        See `outer_sums`.
    q : int
        Rows of a matrix.
    """
    return np.take(sums, _places(q), axis=1)


@cache
def upper_indices(q: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of entries on and above the diagonal, row after row.

    Parameters
    ----------
    q : int
        Rows of the matrix.
    """
    return np.triu_indices(q)


@cache
def _places(q: int) -> IntArray:
    """Return for each entry of a symmetric matrix its place in what is on and above the diagonal."""
    places = np.empty((q, q), dtype=np.intp)
    upper = upper_indices(q)
    places[upper] = places.T[upper] = np.arange(len(upper[0]))
    return places


def _pieces(q: int) -> list[range]:
    """Return lines of the triangle, as many as have about `TILE / 2` entries."""
    pieces, start, size = [], 0, 0
    for k in range(q):
        size += q - k
        # So many products of columns stay in the cache.
        if size >= TILE // 2 or k == q - 1:
            pieces.append(range(start, k + 1))
            start, size = k + 1, 0
    return pieces


@dataclass(frozen=True)
class KernelMoments:
    r"""What the derivatives of h = sum_b w_b'K w_b need of A = WW' * K_2 and B = WW' * K_1.

    With projections z and directions N, both in units of the bandwidth, block (a, b) of the Hessian is

    .. math:: -2 N' (\mathrm{diag}(C 1) - C) N, \qquad
              C_{ij} = B_{ij} [a = b] - A_{ij} (z_{ia} - z_{ja}) (z_{ib} - z_{jb}).

    The product of differences is expanded, so that every block follows from A applied to 1, z_a, z_a z_b, N and z_a N,
    and B applied to 1 and N. A and B are equal for a single scale, see `Mixture`.

    Of N'CN the part with z_ia z_jb is (z_a N)' A (z_b N). A is symmetric: with A = L + L' all such blocks follow from
    G = U'LU, U the z_a N side by side, for about half of the work.

    A single column w is kept out of the matrices: A = ww' * K meets N as K meets w * N.

    Attributes
    ----------
    row_sums : ndarray of shape (d * (d + 1) / 2, n)
        C 1 for the pairs a <= b, those of each a one after the other.
    scaled : ndarray of shape (n, d * q)
        z_a N, side by side; times w where there is a single column.
    crossed : ndarray of shape (n, d * q)
        What (z_a N)' meets: A (z_b N) - z_b (A N), or a half of it, L (z_b N) - z_b (A N) / 2.
    is_halved : bool
        Which.
    same : ndarray of shape (q, q)
        N'BN.
    """

    row_sums: AnyArray
    scaled: AnyArray
    crossed: AnyArray
    is_halved: bool
    same: AnyArray

    @classmethod
    def of(cls, positions: AnyArray, Z: AnyArray, N: AnyArray, weights: AnyArray, mixture: Mixture) -> "KernelMoments":
        """Compute the products.

        Parameters
        ----------
        positions : ndarray of shape (n, d)
            Projections in units of the bandwidth, for the kernel; float32 or float64, like the others.
        Z : ndarray of shape (n, d)
            The same, those of each cluster from an origin of its own (see `Clusters`).
        N : ndarray of shape (n, q)
            Rows along the directions of the chart, likewise.
        weights : ndarray of shape (n, k)
            W.
        mixture : Mixture
            The scales of the kernel.
        """
        is_single = weights.shape[1] == 1
        one = weights if is_single else np.ones((len(Z), 1), dtype=Z.dtype)
        N = one * N
        scaled = scaled_copies(N, Z)
        # Where the z_a N are about as many as the rows, half of A (z_a N) costs in products with it what it saves.
        is_halved = MOST_RIGHT_SIDES < scaled.shape[1] < 0.875 * len(Z)
        first = [one, one * Z, one * _pairs(Z), N]
        operands = [np.hstack(first if is_halved else [*first, scaled])]
        if not mixture.is_single:
            operands.append(np.hstack([one, N]))
        found = weighted_products_of_orders(
            positions, None if is_single else weights, operands, mixture, (2, 1), scaled if is_halved else None
        )
        products, *others = (np.ascontiguousarray(product) for product in found)
        edges = np.cumsum([each.shape[1] for each in first])[2:]
        sums, directions, crossed = np.split(products, edges, axis=1)
        if is_halved:
            crossed = others.pop()
        slope_sums, slope_directions = np.split(others[0], [1], axis=1) if others else (sums[:, :1], directions)
        _subtract_copies(crossed, (0.5 if is_halved else 1.0) * Z, directions)
        row_sums = one.T * _row_sums(Z, sums, slope_sums)
        return cls(row_sums, scaled, crossed, is_halved, N.T @ slope_directions)

    def hessian(self, Z: AnyArray, N: AnyArray) -> FloatArray:
        """Return the Euclidean Hessian in the directions N, without the chart's own term."""
        with single_threaded_blas():
            crossings, outer = self._crossings(N.shape[1]), outer_sums(N, self.row_sums)
        return self._blocks(crossings, outer, self.same + self.same.T)

    def _blocks(self, crossings: AnyArray, outer: AnyArray, same: AnyArray) -> FloatArray:
        """Put the blocks together."""
        q = len(same)
        d = len(crossings) // max(1, q)
        hessian, crossings = np.empty((d, q, d, q)), crossings.reshape(d, q, d, q)

        def fill_blocks(a: int) -> None:
            # N'CN without its [a = b] part is M + M': symmetric, and the same for (a, b) and (b, a).
            halves = crossings[a, :, a:]
            if self.is_halved:
                halves = halves + crossings[a:, :, a].transpose(1, 0, 2)
            blocks = halves + halves.transpose(2, 1, 0)
            start = a * d - a * (a - 1) // 2
            blocks -= squares_of(outer[start : start + d - a], q).transpose(1, 0, 2)
            blocks *= 2.0
            blocks[:, 0] += same
            hessian[a, :, a:] = blocks
            hessian[a:, :, a] = blocks.transpose(1, 0, 2)

        run_all([partial(fill_blocks, a) for a in range(d)])
        return hessian.reshape(d * q, d * q)

    def _crossings(self, q: int) -> AnyArray:
        """Return U' `crossed`; where it is not halved, without blocks below the diagonal."""
        size = self.scaled.shape[1]
        crossings = np.empty((size, size), dtype=self.scaled.dtype)

        def multiply(start: int, stop: int) -> None:
            first = 0 if self.is_halved else start // q * q
            np.matmul(self.scaled[:, start:stop].T, self.crossed[:, first:], out=crossings[start:stop, first:])

        # Half as many products as there are sequences: more would be too small for BLAS.
        edges = [2 * size * part // N_SUMS for part in range(N_SUMS // 2 + 1)]
        run_all([partial(multiply, start, stop) for start, stop in pairwise(edges) if stop > start])
        return crossings


def are_many(d: int, q: int, n_weights: int) -> bool:
    """Tell whether moments are made by BLAS, which has float32, not by the compiled loop, which has float64 alone.

    Parameters
    ----------
    d, q : int
        Columns of Z and N.
    n_weights : int
        Columns of W.
    """
    return n_weights > 1 or 1 + d + d * (d + 1) // 2 + q * (d + 1) > MOST_RIGHT_SIDES


def scaled_copies(N: AnyArray, Z: AnyArray) -> AnyArray:
    """Return the blocks z_a * N for a = 1, ..., d, side by side.

    Parameters
    ----------
    N : ndarray of shape (n, q)
        What is scaled row by row.
    Z : ndarray of shape (n, d)
        The scales.
    """
    return (Z[:, :, None] * N[:, None, :]).reshape(len(N), -1)


def _subtract_copies(crossed: AnyArray, Z: AnyArray, directions: AnyArray) -> None:
    """Subtract the blocks z_a * AN from those of `crossed`."""
    blocks = crossed.reshape(*Z.shape, directions.shape[1])

    def subtract(rows: slice) -> None:
        blocks[rows] -= Z[rows, :, None] * directions[rows, None, :]

    height = max(1, TILE**2 // max(1, crossed.shape[1]))
    run_all([partial(subtract, slice(start, start + height)) for start in range(0, len(Z), height)])


def _pairs(Z: AnyArray) -> AnyArray:
    """Return z_a * z_b for a <= b, those of each a side by side."""
    a, b = upper_indices(Z.shape[1])
    z = np.ascontiguousarray(Z.T)
    return (z[a] * z[b]).T


def _row_sums(Z: AnyArray, sums: AnyArray, slope_sums: AnyArray) -> AnyArray:
    """Return C 1 for the pairs a <= b, given A 1, A z_a and A (z_a z_b) side by side, and B 1."""
    d = Z.shape[1]
    a, b = upper_indices(d)
    z, moments = np.ascontiguousarray(Z.T), np.ascontiguousarray(sums.T)
    total, first, second = moments[0], moments[1 : 1 + d], moments[1 + d :]
    found = z[a] * (first[b] - z[b] * total)
    found += first[a] * z[b]
    found -= second
    found[a == b] += slope_sums[:, 0]
    return found


def hessian_of_few(positions: FloatArray, Z: FloatArray, N: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the Euclidean Hessian in the directions N, by the formulas of `KernelMoments`.

    Of few moments arrays cost more than arithmetic does. Here each moment is a row of one array from beginning to end,
    which is how the compiled loop takes it: half of the time that `KernelMoments` needs for 1,000 rows, two components
    and seven directions, beside the pass over K.

    Parameters
    ----------
    positions, Z : ndarray of shape (n, d)
        Projections in units of the bandwidth, for the kernel and seen locally (see `Clusters`).
    N : ndarray of shape (n, q)
        Rows along the directions of the chart, seen locally.
    weight : ndarray of shape (n,)
        w.
    """
    (n, d), q = Z.shape, N.shape[1]
    a, b = upper_indices(d)
    z, along = np.ascontiguousarray(Z.T), np.ascontiguousarray(N.T)
    weighted = weight * along
    scaled = (z[:, None] * weighted).reshape(d * q, n)
    columns = np.concatenate([weight[None], weight * z, weight * (z[a] * z[b]), weighted])
    whole, half = whole_and_half_products(positions, columns.T, scaled.T)
    total, first, second, smoothed = np.split(whole.T, np.cumsum([1, d, len(a)]))
    crossed = half.T.reshape(d, q, n) - 0.5 * z[:, None] * smoothed
    crossings = (scaled @ crossed.reshape(d * q, n).T).reshape(d, q, d, q)
    row_sums = z[a] * (first[b] - z[b] * total) + first[a] * z[b] - second
    row_sums[a == b] += total
    outer = (weight * row_sums)[:, None] * along @ along.T
    same, hessian = weighted @ smoothed.T, np.empty_like(crossings)
    for first_axis, second_axis, rows in zip(a.tolist(), b.tolist(), outer, strict=True):
        half = crossings[first_axis, :, second_axis] + crossings[second_axis, :, first_axis]
        block = 2.0 * (half + half.T - rows)
        if first_axis == second_axis:
            block += same + same.T
        hessian[first_axis, :, second_axis] = hessian[second_axis, :, first_axis] = block
    return hessian.reshape(d * q, d * q)
