"""All second derivatives of a sum of w'Kw from one product with the kernel matrix."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from fairpca._utils.threads import run_all, single_threaded_blas
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.mmd._mixture import Mixture
from fairpca.mmd.exact._gaussian import MANY_COLUMNS, weighted_products_of_orders
from fairpca.mmd.exact._outer import outer_sums, squares_of, upper_indices

MOST_HALVED = 0.875
"""Columns of z_a N for each row below which half of A (z_a N) pays: what it saves in the product with A it costs, where
they are more, in the product with (z_a N)'."""

PIECE = 2**15
"""Numbers that are worked on at a time, so that they stay in the cache."""

PARTS = 4
"""Products that U'LU is made of, for as many threads; more would be too small for BLAS."""


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
            The same, those of each island from an origin of its own (see `Islands`).
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
        is_halved = MANY_COLUMNS < scaled.shape[1] < MOST_HALVED * len(Z)
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

        edges = [size * part // PARTS for part in range(PARTS + 1)]
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
    return n_weights > 1 or 1 + d + d * (d + 1) // 2 + q * (d + 1) > MANY_COLUMNS


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

    height = max(1, PIECE // max(1, crossed.shape[1]))
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
