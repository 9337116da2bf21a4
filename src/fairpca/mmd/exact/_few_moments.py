"""Second derivatives of w'Kw where components and directions are few."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd.exact._gaussian import whole_and_half_products
from fairpca.mmd.exact._outer import upper_indices


def hessian_of_few(positions: FloatArray, Z: FloatArray, N: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the Euclidean Hessian in the directions N, by the formulas of `KernelMoments`.

    Of few moments arrays cost more than arithmetic does. Here each moment is a row of one array from beginning to end,
    which is how the compiled loop takes it: half of the time that `KernelMoments` needs for 1,000 rows, two components
    and seven directions, beside the pass over K.

    Parameters
    ----------
    positions, Z : ndarray of shape (n, d)
        Projections in units of the bandwidth, for the kernel and seen locally (see `Islands`).
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
    same = weighted @ smoothed.T
    return _in_blocks(crossings, outer, same + same.T)


def _in_blocks(crossings: FloatArray, outer: FloatArray, same: FloatArray) -> FloatArray:
    d, q = crossings.shape[:2]
    hessian = np.empty_like(crossings)
    for (a, b), rows in zip(np.transpose(upper_indices(d)).tolist(), outer, strict=True):
        half = crossings[a, :, b] + crossings[b, :, a]
        block = 2.0 * (half + half.T - rows)
        hessian[a, :, b] = hessian[b, :, a] = block + same if a == b else block
    return hessian.reshape(d * q, d * q)
