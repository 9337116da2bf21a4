"""Principal axes of the rows: the coordinates in which the fair subspace is searched."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray


@dataclass(frozen=True)
class AxesRequest:
    """What is wanted of the axes and the kernel on them.

    Attributes
    ----------
    n_components : int
        d.
    bandwidth : "median" or float
        sigma, or how to find it.
    n_null : int
        How many null axes to keep.
    """

    n_components: int
    bandwidth: str | float
    n_null: int


@dataclass(frozen=True)
class PrincipalAxes:
    """Orthonormal axes of the feature space, live ones by decreasing variance, then null ones.

    One-hot columns make data rank deficient. In these coordinates the covariance is diagonal, and the null
    space, where every row is 0, is known exactly.

    Attributes
    ----------
    axes : ndarray of shape (p, p_kept)
        Columns are the axes; the first `rank` carry variance.
    variances : ndarray of shape (p_kept,)
        Variance (divisor n) along each axis; exactly 0 for null axes.
    rank : int
        Numerical rank of the centred rows.
    """

    axes: FloatArray
    variances: FloatArray
    rank: int

    @classmethod
    def of(cls, X: FloatArray, n_null: int) -> "PrincipalAxes":
        """Find the axes of centred rows.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Centred rows.
        n_null : int
            How many null axes to keep, if there are as many. A frame of d columns cannot use more than d.
        """
        n, p = X.shape
        # The triangular factor has the singular values and right vectors of X at 1/n of the size.
        triangle = np.linalg.qr(X, mode="r") if n > p else X
        _, singular, axes = np.linalg.svd(triangle, full_matrices=True)
        rank = int(np.sum(singular > singular[0] * max(n, p) * np.finfo(float).eps))
        kept = min(p, rank + n_null)
        variances = np.zeros(kept)
        variances[:rank] = singular[:rank] ** 2 / n
        return cls(np.ascontiguousarray(axes[:kept].T), variances, rank)

    @classmethod
    def of_covariance(cls, covariance: FloatArray, n_null: int) -> "PrincipalAxes":
        """Find the axes from a covariance (divisor n): rows beyond memory are known by it.

        Products square the rounding: a direction with less than 1e-12 of the largest variance counts as null.

        Parameters
        ----------
        covariance : ndarray of shape (p, p)
            Covariance of the rows.
        n_null : int
            How many null axes to keep, if there are as many.
        """
        ascending, axes = np.linalg.eigh(covariance)
        variances = ascending[::-1].copy()
        rank = int(np.sum(variances > 1e-12 * variances[0]))
        variances[rank:] = 0.0
        kept = min(len(variances), rank + n_null)
        return cls(np.ascontiguousarray(axes[:, ::-1][:, :kept]), variances[:kept], rank)

    def coordinates(self, X: FloatArray) -> FloatArray:
        """Return the centred rows in these axes, with exact zeros on the null ones."""
        coordinates = np.zeros((X.shape[0], len(self.variances)))
        coordinates[:, : self.rank] = X @ self.axes[:, : self.rank]
        return coordinates
