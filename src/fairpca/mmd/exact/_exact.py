"""The exact MMD^2 of projected signed measures, with its derivatives."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison
from fairpca.mmd._approximation import DiscrepancyAlong
from fairpca.mmd._kernel import GAP, LARGEST_SINGLE, Clusters, Factors, Mixture, factor, weighted_form
from fairpca.mmd._moments import MomentHessian
from fairpca.mmd.exact._moments import KernelMoments, are_many, hessian_of_few
from fairpca.mmd.exact._products import gaussian_products, products_of_orders

EXACT_ROWS = 5000
"""Rows up to which comparing all pairs is as fast as anything else."""


class ExactMMD:
    r"""Exact discrepancies h_j(V) = <P_j, W'KW> of projected rows, in O(n d) memory.

    K_ij = exp(-|z_i - z_j|^2 / (2 sigma^2)) with z_i = V'x_i, or the mean of several such, is made in cache-sized
    tiles, used and dropped.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows x_i.
    weights : ndarray of shape (n, k)
        W, a few weights for each row.
    comparison : Comparison
        Has the forms P_j.
    bandwidth : float
        sigma, greater than 0.
    factors : sequence of float, default=(1.0,)
        f_l: K is the mean of the kernels of bandwidths f_l sigma, see `Scales`.

    Notes
    -----
    With Z = XV the gradient of h_j is

    .. math:: -\frac{2}{\sigma^2} X' \sum_{ab} P_{j,ab} \left( w_a * (K w_b) * Z - w_a * K (w_b * Z) \right),

    so all values and their gradients cost one pass over K. With several scales sigma here is the widest, K in the
    gradient the kernel of order 1, and the Hessian also has that of order 2 (see `Mixture`), all from the same
    exponentials.
    """

    is_exact = True
    has_exact_hessian = True

    def __init__(
        self,
        X: FloatArray,
        weights: FloatArray,
        comparison: Comparison,
        bandwidth: float,
        factors: Sequence[float] = (1.0,),
    ) -> None:
        # Rows without weight take part in nothing.
        active = np.flatnonzero(weights.any(axis=1))
        if active.size == 0:
            active = np.zeros(1, dtype=np.intp)  # groups that cancel: one row without weight says so
        self._X = X if len(active) == len(X) else X[active]
        self._weights = np.asfortranarray(weights[active])
        self._comparison = comparison
        self.n_measures = comparison.n_measures
        self.n_rows = self.hessian_rows = len(self._X)
        self.bandwidth = float(bandwidth)
        self._bandwidth_factors = factors
        self._mixture = Mixture.of(factors)
        self._unit = self.bandwidth * max(factors)

    def along(self, axes: FloatArray) -> "ExactMMD":
        """Return the same for frames in a span.

        Parameters
        ----------
        axes : ndarray of shape (p, k)
            Orthonormal axes of the span: the frame V in them is axes @ V.
        """
        return ExactMMD(self._X @ axes, self._weights, self._comparison, self.bandwidth, self._bandwidth_factors)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        """
        return self._by_measure(self._smoothed(V, self._weights))

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the Euclidean gradient of each, in one pass.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The h_j.
        gradients : ndarray of shape (n_measures, p, d)
            Their gradients with respect to V.
        """
        clusters = Clusters.of(self._along(V))
        smoothed, products = self._first_order_products(clusters)
        return self._by_measure(smoothed), self._pulled_back(clusters, self._row_gradients(products, clusters.local))

    def _first_order_products(self, clusters: Clusters) -> tuple[FloatArray, FloatArray]:
        """Return KW, and the products of K_1 with the columns of `_with_moments`."""
        moments = _with_moments(self._weights, clusters.local)
        if self._mixture.is_single:
            products = gaussian_products(clusters.positions, moments)
            return products[:, :: 1 + clusters.local.shape[1]], products
        smoothed, products = products_of_orders(clusters.positions, [self._weights, moments], self._mixture, (0, 1))
        return smoothed, products

    def _row_gradients(self, products: FloatArray, Z: FloatArray) -> FloatArray:
        """Return the gradients of each measure by the rows, times -sigma / 2, of shape (n_measures, d, n)."""
        n, d = Z.shape
        by_weight = products.T.reshape(-1, 1 + d, n)
        slopes = by_weight[:, :1] * Z.T
        slopes -= by_weight[:, 1:]
        if len(slopes) == 1:  # the forms are numbers
            return self._comparison.forms * (self._weights.T * slopes[0])
        return self._factors.row_gradients(slopes.transpose(1, 0, 2), self._weights.T)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, in one pass for any number of measures.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Orthonormal frame.
        Q : ndarray of shape (p, q)
            Orthonormal complement of V, or part of it.
        gradient : ndarray of shape (p, d)
            Euclidean gradient of the weighted sum at V.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j, none below 0; by default all 1.
        single_precision : bool, default=False
            Compute in float32, twice as fast: enough for the metric of a quasi-Newton method. Rows too wide for it
            are computed in float64 all the same, and moments too few to gain by it.

        Returns
        -------
        hessian : ndarray of shape (d * q, d * q)
            Riemannian Hessian on the Grassmann manifold; column a of B has the indices a q, ..., (a + 1) q - 1.
        """
        clusters = Clusters.of(self._along(V))
        Z, N = clusters.local, clusters.seen_locally(self._along(Q))
        # Their sum of w'Kw is sum_j lambda_j h_j.
        weights = self._weights @ factor(weighted_form(self._comparison.forms, multipliers))
        gains = are_many(Z.shape[1], N.shape[1], weights.shape[1])
        if not gains and self._mixture.is_single:
            hessian = hessian_of_few(clusters.positions, Z, N, weights[:, 0])
            return with_chart_term(hessian, V, Q.shape[1], gradient)
        # Moments of wide rows cancel; squares of large numbers overflow.
        enough = self._mixture.narrowing * np.abs(Z).max() < GAP and np.abs(N).max(initial=0.0) < LARGEST_SINGLE
        dtype = np.dtype(np.float32 if single_precision and enough and gains else np.float64)
        positions, Z, N, weights = (each.astype(dtype, order="C") for each in (clusters.positions, Z, N, weights))
        moments = KernelMoments.of(positions, Z, N, weights, self._mixture)
        hessian = moments.hessian(Z, N)
        return with_chart_term(hessian, V, Q.shape[1], gradient)

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> MomentHessian:
        """Return the Hessian by two moments, see `MomentHessian`.

        Parameters
        ----------
        V, Q, multipliers
            See `hessian`.
        variances : ndarray of shape (d,)
            Of the rows along the columns of V.
        """
        weights = self._weights @ factor(weighted_form(self._comparison.forms, multipliers))
        columns = np.concatenate([np.ones((len(self._X), 1)), self._X @ V], axis=1)
        weighted = (weights[:, :, None] * columns[:, None]).reshape(len(self._X), -1)
        sums = ((self._X @ Q).T @ weighted).reshape(Q.shape[1], weights.shape[1], -1)
        return MomentHessian.of(sums, variances, [self.bandwidth * each for each in self._bandwidth_factors])

    def isolated_directions(self, V: FloatArray, smallest: FloatArray, one_sided: float = 0.2) -> FloatArray:
        """Return unit vectors towards rows that their neighbours do not balance.

        A row, or a few of mostly one sign, far from all others adds to h whatever V does in its neighbourhood: the
        gradient cannot bring it back.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        smallest : ndarray of shape (n_measures,)
            Only rows that add more than this to an h_j count.
        one_sided : float, default=0.2
            Least |sum_j w_j k_ij| / sum_j |w_j| k_ij at a row i that counts as isolated.

        Returns
        -------
        directions : ndarray of shape (p, n_isolated)
            Their directions, seen from the mean.
        """
        columns = self._weights @ self._comparison.mixing
        sizes = np.abs(columns)
        smoothed, nearby = np.hsplit(self._smoothed(V, np.hstack([columns, sizes])), 2)
        added = columns * smoothed
        alone = added > one_sided * sizes * nearby
        rows = np.flatnonzero((alone & (added > smallest[self._comparison.owner])).any(axis=1))
        directions = self._X[rows].T
        return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)

    @cached_property
    def _factors(self) -> Factors:
        return Factors.of(self._comparison.forms)

    def _along(self, V: FloatArray) -> FloatArray:
        """Return the projections in units of the widest bandwidth, each coordinate in one piece."""
        return ((V.T / self._unit) @ self._X.T).T

    def _smoothed(self, V: FloatArray, operand: FloatArray) -> FloatArray:
        """Return K @ operand."""
        return gaussian_products(Clusters.of(self._along(V)).positions, operand, self._mixture)

    def _pulled_back(self, clusters: Clusters, gradients: FloatArray) -> FloatArray:
        """Return -2 X'F / sigma of each F', of shape (n_measures, d, n).

        The gradients of a cluster sum to 0, so that rows may be seen from anywhere.
        """
        rows = self._X if clusters.origins is None else clusters.seen_locally(self._X)
        total = (-2.0 / self._unit) * (gradients.reshape(-1, gradients.shape[2]) @ rows)
        return total.reshape(len(gradients), -1, total.shape[1]).transpose(0, 2, 1)

    def _by_measure(self, smoothed: FloatArray) -> FloatArray:
        """Return the h_j, given KW."""
        return np.einsum("jab,ab->j", self._comparison.forms, self._weights.T @ smoothed)


class RawRowsMMD(DiscrepancyAlong):
    """Exact discrepancies of raw rows x, for frames V of their coordinates y = M'x: at V they are what they are at MV.

    Coordinates along all axes take n p r multiply-adds, more than a whole search that looks at few of them. Here those
    of a span are made when it is asked for, and frames in all axes go by way of the raw rows.

    Parameters
    ----------
    exact : ExactMMD
        That of frames in the raw columns.
    matrix : ndarray of shape (p, r)
        M, with any columns.
    """

    def __init__(self, exact: ExactMMD, matrix: FloatArray) -> None:
        super().__init__(exact, matrix)
        self._exact = exact

    def along(self, axes: FloatArray) -> ExactMMD:
        """Return the same for frames in a span, with its coordinates made."""
        return self._exact.along(self._axes @ axes)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, in the span of V and Q."""
        d, basis = V.shape[1], np.hstack([V, Q])
        inside = np.eye(basis.shape[1])
        span = self.along(basis)
        return span.hessian(inside[:, :d], inside[:, d:], basis.T @ gradient, multipliers, single_precision)


def with_chart_term(hessian: FloatArray, V: FloatArray, q: int, gradient: FloatArray) -> FloatArray:
    """Return the Riemannian Hessian, which subtracts B sym(V'G) from the Euclidean one in a chart.

    Parameters
    ----------
    hessian : ndarray of shape (d * q, d * q)
        The Euclidean one; it is changed.
    V : ndarray of shape (p, d)
        The centre of the chart.
    q : int
        Number of its directions.
    gradient : ndarray of shape (p, d)
        G.
    """
    inside = V.T @ gradient
    blocks = hessian.reshape(V.shape[1], q, V.shape[1], q)
    np.einsum("aibi->abi", blocks)[...] -= ((inside + inside.T) / 2)[:, :, None]
    return hessian


def _with_moments(weights: FloatArray, Z: FloatArray) -> FloatArray:
    """Return the columns [w_b, w_b * Z] for each b, side by side, each in one piece."""
    (n, d), k = Z.shape, weights.shape[1]
    columns = np.empty((k, 1 + d, n))
    columns[:, 0] = weights.T
    np.multiply(weights.T[:, None], Z.T, out=columns[:, 1:])
    return columns.reshape(-1, n).T
