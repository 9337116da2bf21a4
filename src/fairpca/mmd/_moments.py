"""The Hessian of discrepancies on manifolds of many dimensions, from the first two moments of what is compared."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray


@dataclass(frozen=True, eq=False)
class MomentHessian:
    r"""The Hessian of sum_j lambda_j h_j in the chart B -> V + QB where projected groups are alike, as an operator.

    With mu = sum_i w_i z_i and M = sum_i w_i z_i z_i' of rows z = V'y that are about normal, of variance s_a^2 along
    column a, to second order

    .. math:: h = C \Big( \sum_a t_a \mu_a^2 + \tfrac12 \sum_{ac} t_a t_c M_{ac}^2
              + \tfrac14 \big(\sum_a t_a M_{aa}\big)^2 \Big), \quad t_a = \frac{1}{\sigma^2 + 2 s_a^2},
              \quad C = \prod_a (1 + 2 s_a^2 / \sigma^2)^{-1/2}.

    B changes mu by B'm and M by B'G + G'B, with m = sum_i w_i n_i and G = sum_i w_i n_i z_i' of the rows n = Q'y. Where
    mu and M are small the squares of these changes are all of the Hessian: it takes as long as a gradient, where the
    exact one takes a product for each pair of the d q coordinates. In many dimensions, where each component is small
    against the bandwidth, moments of higher order count for little.

    Attributes
    ----------
    means : ndarray of shape (k, q)
        m for each column of weights.
    products : ndarray of shape (k, q, d)
        G.
    first : ndarray of shape (d,)
        C t_a, the mean over bandwidths.
    second : ndarray of shape (d, d)
        C t_a t_c / 2, the mean over bandwidths.
    """

    means: FloatArray
    products: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, sums: FloatArray, variances: FloatArray, bandwidths: Sequence[float]) -> "MomentHessian":
        """Weigh moments.

        Parameters
        ----------
        sums : ndarray of shape (q, k, 1 + d)
            sum_i w_ib n_i [1, z_i'], such that sum_j lambda_j h_j = sum_b w_b'K w_b.
        variances : ndarray of shape (d,)
            s_a^2.
        bandwidths : sequence of float
            sigma of each of the kernels whose mean is the kernel.
        """
        squares = np.square(bandwidths)[:, None]
        t = 1.0 / (squares + 2.0 * variances)
        weights = np.exp(-0.5 * np.log1p(2.0 * variances / squares).sum(axis=1)) / len(t)
        by_column = sums.transpose(1, 0, 2)
        return cls(by_column[:, :, 0], by_column[:, :, 1:], weights @ t, 0.5 * (t.T * weights) @ t)

    def product(self, B: FloatArray) -> FloatArray:
        """Return the product with B, of shape (q, d)."""
        total = np.zeros_like(B)
        for m, G in zip(self.means, self.products, strict=True):
            change = G.T @ B
            change += change.T
            total += np.outer(m, 2.0 * self.first * (m @ B))
            total += G @ (4.0 * self.second * change) + G * (2.0 * self.second @ np.diag(change))
        return total

    def diagonal(self) -> FloatArray:
        """Return the diagonal, of shape (q, d)."""
        squares = np.square(self.products).sum(axis=0)
        of_means = 2.0 * np.outer(np.square(self.means).sum(axis=0), self.first)
        return of_means + 4.0 * squares @ self.second + 8.0 * squares * np.diag(self.second)
