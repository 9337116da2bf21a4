"""The exact MMD^2 of projected signed measures, with its derivatives."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._typing import FloatArray
from fairpca.measures import SignedMeasures
from fairpca.mmd._gaussian import WIDE, gaussian_products, gaussian_rate_products
from fairpca.mmd._islands import Islands
from fairpca.mmd._moments import KernelMoments

LARGEST_SINGLE = 1e15
"""Coordinates, in bandwidths, whose products with each other stay within float32."""

ONE_SIDED = 0.2
"""Least |sum_j w_j k_ij| / sum_j |w_j| k_ij at a row i that counts as standing alone."""


class ExactMMD:
    r"""Exact discrepancies h_j(V) = sum_c w_c' K w_c of projected rows, in O(n d) memory.

    K_ij = exp(-|z_i - z_j|^2 / (2 sigma^2)) with z_i = V'x_i is made in cache-sized tiles, used and dropped.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows x_i.
    measures : SignedMeasures
        The columns w_c and the measure j that each belongs to.
    bandwidth : float
        sigma, greater than 0.

    Notes
    -----
    With Z = XV and multipliers lambda the gradient of sum_j lambda_j h_j is

    .. math:: -\frac{2}{\sigma^2} X' \sum_c \lambda_c \left( w_c * (K w_c) * Z - w_c * K (w_c * Z) \right),

    so a value and its gradient cost one pass over K.
    """

    def __init__(self, X: FloatArray, measures: SignedMeasures, bandwidth: float) -> None:
        # Rows without weight take part in nothing.
        active = np.flatnonzero(measures.weights.any(axis=1))
        if active.size == 0:
            active = np.zeros(1, dtype=np.intp)  # groups that cancel: one row without weight says so
        self._X = X if len(active) == len(X) else X[active]
        self._weights = np.ascontiguousarray(measures.weights[active])
        self._owner = measures.owner
        self.n_measures = measures.n_measures
        self.n_rows = len(self._X)
        self.bandwidth = float(bandwidth)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        """
        return self._sum_by_measure(gaussian_products(self._islands(V).positions, self._weights))

    def evaluate(self, V: FloatArray, multipliers: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the Euclidean gradient of sum_j lambda_j h_j, in one pass.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j; by default all 1.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The h_j.
        gradient : ndarray of shape (p, d)
            Gradient of the weighted sum with respect to V.
        """
        islands = self._islands(V)
        products = gaussian_products(islands.positions, self._with_moments(islands.local))
        smoothed, forces = self._split(products, islands.local, multipliers)
        return self._sum_by_measure(smoothed), self._pulled_back(islands, forces)

    def hessian_product(
        self, V: FloatArray, direction: FloatArray, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Return the derivative of the gradient of sum_j lambda_j h_j along `direction`.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        direction : ndarray of shape (p, d)
            Direction E; any matrix, tangent or not.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j; by default all 1.
        """
        islands = self._islands(V)
        Z, Z_rate = islands.local, islands.seen_locally(self._along(direction))
        plain, changed = gaussian_rate_products(islands, Z_rate, self._with_moments(Z_rate), self._with_moments(Z))
        forces = self._split(plain, Z_rate, multipliers)[1] - self._split(changed, Z, multipliers)[1]
        return self._pulled_back(islands, forces)

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Orthonormal frame.
        Q : ndarray of shape (p, q)
            Orthonormal complement of V, or part of it.
        gradient : ndarray of shape (p, d)
            Euclidean gradient of the weighted sum at V.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j; by default all 1.
        single_precision : bool, default=False
            Compute in float32, twice as fast: enough for the metric of a quasi-Newton method. Rows too wide for it
            are computed in float64 all the same.

        Returns
        -------
        hessian : ndarray of shape (d * q, d * q)
            Riemannian Hessian on the Grassmann manifold; column a of B has the indices a q, ..., (a + 1) q - 1.
        """
        scale = np.ones(self.n_measures) if multipliers is None else multipliers
        islands = self._islands(V)
        Z, N = islands.local, islands.seen_locally(self._along(Q))
        # Moments of wide rows cancel; squares of large numbers overflow.
        enough = np.abs(Z).max() < WIDE and np.abs(N).max(initial=0.0) < LARGEST_SINGLE
        dtype = np.dtype(np.float32 if single_precision and enough else np.float64)
        positions, Z, N = (each.astype(dtype) for each in (islands.positions, Z, N))
        hessian = np.zeros((N.shape[1] * Z.shape[1],) * 2)
        for c, weight in enumerate(self._weights.T.astype(dtype)):
            hessian += scale[self._owner[c]] * KernelMoments.of(positions, Z, N, weight).hessian(Z, N)
        # The chart's second-order term: the Riemannian Hessian subtracts B sym(V'G).
        inside = V.T @ gradient
        blocks = hessian.reshape(Z.shape[1], N.shape[1], Z.shape[1], N.shape[1])
        np.einsum("aibi->abi", blocks)[...] -= ((inside + inside.T) / 2)[:, :, None]
        return hessian

    def isolated_directions(self, V: FloatArray, smallest: float) -> FloatArray:
        """Return unit vectors towards rows that their neighbours do not balance.

        A row, or a few of mostly one sign, far from all others adds to h whatever V does in its neighbourhood: the
        gradient cannot bring it back.

        Parameters
        ----------
        V : ndarray of shape (p, d)
            Loading matrix.
        smallest : float
            Only rows that add more than this to h count.

        Returns
        -------
        directions : ndarray of shape (p, n_isolated)
            Their directions, seen from the mean.
        """
        sizes = np.abs(self._weights)
        products = gaussian_products(self._islands(V).positions, np.hstack([self._weights, sizes]))
        smoothed, nearby = np.hsplit(products, 2)
        added = self._weights * smoothed
        alone = added > ONE_SIDED * sizes * nearby
        rows = np.flatnonzero((alone & (added > smallest)).any(axis=1))
        directions = self._X[rows].T
        return directions / np.maximum(np.linalg.norm(directions, axis=0), 1e-300)

    def _along(self, V: FloatArray) -> FloatArray:
        """Return the projections in units of the bandwidth."""
        return self._X @ (V / self.bandwidth)

    def _islands(self, V: FloatArray) -> Islands:
        return Islands.of(self._along(V))

    def _pulled_back(self, islands: Islands, forces: FloatArray) -> FloatArray:
        """Return -2 X'F / sigma; the forces on an island sum to 0, so that rows may be seen from anywhere."""
        rows = self._X if islands.origins is None else islands.seen_locally(self._X)
        return (-2.0 / self.bandwidth) * (rows.T @ forces)

    def _with_moments(self, Z: FloatArray) -> FloatArray:
        """Return the columns [w_c, w_c * Z] for each c, side by side."""
        ones_and_Z = np.column_stack([np.ones(len(Z)), Z])
        return np.concatenate([column[:, None] * ones_and_Z for column in self._weights.T], axis=1)

    def _split(
        self, products: FloatArray, Z: FloatArray, multipliers: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the columns K w_c and sum_c lambda_c (w_c * K w_c * Z - w_c * K (w_c * Z))."""
        width = 1 + Z.shape[1]
        scale = np.ones(self.n_measures) if multipliers is None else multipliers
        forces = np.zeros_like(Z)
        for c, weight in enumerate(self._weights.T):
            block = products[:, c * width : (c + 1) * width]
            scaled = scale[self._owner[c]] * weight[:, None]
            forces += scaled * (block[:, :1] * Z - block[:, 1:])
        return products[:, ::width], forces

    def _sum_by_measure(self, smoothed: FloatArray) -> FloatArray:
        values = np.zeros(self.n_measures)
        np.add.at(values, self._owner, np.einsum("ic,ic->c", self._weights, smoothed))
        return values
