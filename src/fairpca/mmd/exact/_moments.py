"""All second derivatives of a sum of w'Kw from one product with the kernel matrix."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import partial

import numpy as np

from fairpca._utils.threads import run_all
from fairpca._utils.typing import AnyArray
from fairpca.mmd._mixture import Mixture
from fairpca.mmd.exact._gaussian import weighted_products_of_orders


@dataclass(frozen=True)
class KernelMoments:
    r"""A u and B u for the u that the derivatives of h = sum_b w_b'K w_b need, A = WW' * K_2 and B = WW' * K_1.

    With projections z and directions N, both in units of the bandwidth, block (a, b) of the Hessian is

    .. math:: -2 N' (\mathrm{diag}(C 1) - C) N, \qquad
              C_{ij} = B_{ij} [a = b] - A_{ij} (z_{ia} - z_{ja}) (z_{ib} - z_{jb}).

    The product of differences is expanded, so that every block follows from A applied to 1, z_a, z_a z_b, N and z_a N,
    and B applied to 1 and N. A and B are equal for a single scale, see `Mixture`.

    Attributes
    ----------
    total : ndarray of shape (n,)
        A 1.
    first : ndarray of shape (n, d)
        A z_a.
    second : ndarray of shape (n, d * (d + 1) / 2)
        A (z_a z_b) for a <= b, those of each a side by side.
    directions : ndarray of shape (n, q)
        A N.
    mixed : ndarray of shape (n, d * q)
        A (z_a N), side by side.
    slope_total : ndarray of shape (n,)
        B 1.
    slope_directions : ndarray of shape (n, q)
        B N.
    """

    total: AnyArray
    first: AnyArray
    second: AnyArray
    directions: AnyArray
    mixed: AnyArray
    slope_total: AnyArray
    slope_directions: AnyArray

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
        (n, d), q = Z.shape, N.shape[1]
        upper = np.triu_indices(d)
        ones = np.ones((n, 1), dtype=Z.dtype)
        operands = [np.hstack([ones, Z, Z[:, upper[0]] * Z[:, upper[1]], N, scaled_copies(N, Z)])]
        if not mixture.is_single:
            operands.append(np.hstack([ones, N]))
        products, *slopes = weighted_products_of_orders(positions, weights, operands, mixture, (2, 1))
        splits = np.cumsum([1, d, len(upper[0]), q])
        total, first, second, directions, mixed = np.split(products, splits, axis=1)
        slope_total, slope_directions = np.split(slopes[0], [1], axis=1) if slopes else (total, directions)
        return cls(total[:, 0], first, second, directions, mixed, slope_total[:, 0], slope_directions)

    def hessian(self, Z: AnyArray, N: AnyArray) -> AnyArray:
        """Return the Euclidean Hessian in the directions N, without the chart's own term."""
        d, q = Z.shape[1], N.shape[1]
        crossed = self.mixed - scaled_copies(self.directions, Z)
        same = N.T @ self.slope_directions
        hessian = np.empty((d, q, d, q), dtype=Z.dtype)

        def fill_blocks(a: int) -> None:
            # N' C N without its [a = b] part is S + S' - T - T' with S = (z_a N)' A (z_b N) and
            # T = (z_a N)'(z_b A N): symmetric, and the same for (a, b) and (b, a).
            crossing = (Z[:, a : a + 1] * N).T @ crossed[:, a * q :]
            weighted = N.T @ scaled_copies(N, self._row_sums(Z, a))
            halves = (2.0 * crossing - weighted).reshape(q, d - a, q)
            halves[:, 0] += same
            blocks = halves + halves.transpose(2, 1, 0)
            hessian[a, :, a:] = blocks
            hessian[a:, :, a] = blocks.transpose(1, 0, 2)

        run_all([partial(fill_blocks, a) for a in range(d)])
        return hessian.reshape(d * q, d * q)

    def _row_sums(self, Z: AnyArray, a: int) -> AnyArray:
        """Return C 1 for the pairs (a, b) with b >= a, of shape (n, d - a)."""
        d = Z.shape[1]
        start = a * d - a * (a - 1) // 2
        here, others = Z[:, a : a + 1], Z[:, a:]
        expanded = here * others * self.total[:, None] - here * self.first[:, a:] - self.first[:, a : a + 1] * others
        sums = -expanded - self.second[:, start : start + d - a]
        sums[:, 0] += self.slope_total
        return sums


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
