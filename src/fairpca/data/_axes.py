"""Principal axes of the rows: the coordinates in which the fair subspace is searched."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.data._decomposed import null_axes, singular_axes
from fairpca.mmd import MANY_COLUMNS, Scales


@dataclass(frozen=True)
class AxesRequest:
    """What is wanted of the axes and the kernel on them.

    Attributes
    ----------
    n_components : int
        d.
    scales : Scales
        sigma, or how to find it, and its multiples.
    n_null : int
        How many null axes to keep.
    start : ndarray of shape (p, d) or None
        A frame that the axes should hold.
    """

    n_components: int
    scales: Scales
    n_null: int
    start: FloatArray | None = None


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
    total : float
        tr S: the variances of the axes, with the little that rounding may have made along null ones.
    """

    axes: FloatArray
    variances: FloatArray
    rank: int
    total: float

    @classmethod
    def of(
        cls,
        X: FloatArray,
        n_null: int,
        noise: float = 0.0,
        masses: FloatArray | None = None,
        start: FloatArray | None = None,
    ) -> "PrincipalAxes":
        """Find the axes of centred rows.

        Parameters
        ----------
        X : ndarray of shape (n, p)
            Centred rows.
        n_null : int
            How many null axes to keep, if there are as many. A frame of d columns cannot use more than d.
        noise : float, default=0.0
            How much rows differ by rounding of the numbers that they were made from: columns that depend on each other
            do so only up to that.
        masses : ndarray of shape (n,), default=None
            Masses of the rows; by default 1.
        start : ndarray of shape (p, d), default=None
            A frame that the axes should hold where they do not hold everything.
        """
        (n, p), mass = X.shape, float(len(X) if masses is None else masses.sum())
        weighted = X if masses is None else np.sqrt(masses)[:, None] * X
        if p > MANY_COLUMNS:
            return cls._of_many_columns(weighted, n_null, noise, mass, start)
        # The triangular factor has the singular values and right vectors of X at 1/n of the size.
        triangle = np.linalg.qr(weighted, mode="r") if n > p else weighted
        _, singular, axes = np.linalg.svd(triangle, full_matrices=True)
        least = max(singular[0] * max(n, p) * np.finfo(float).eps, np.sqrt(mass) * noise)
        rank = max(1, int(np.sum(singular > least)))
        kept = min(p, rank + n_null)
        variances = np.zeros(kept)
        variances[:rank] = singular[:rank] ** 2 / mass
        return cls(np.ascontiguousarray(axes[:kept].T), variances, rank, float(np.sum(singular**2)) / mass)

    @classmethod
    def _of_many_columns(
        cls, X: FloatArray, n_null: int, noise: float, mass: float, start: FloatArray | None
    ) -> "PrincipalAxes":
        """Find the axes of rows, times the roots of their masses, without an array of p x p where rows are fewer."""
        n, p = X.shape
        singular, axes = singular_axes(X, max(n, p) * float(np.finfo(float).eps))
        total = float(np.sum(singular**2)) / mass
        rank = max(1, int(np.sum(singular > np.sqrt(mass) * noise)))
        singular, axes = singular[:rank], axes[:, :rank]
        # All null axes are alike: where all are asked for, 200 will do, or twice as many as a frame needs.
        n_kept = min(p - rank, n_null if n_null < p else max(200, 0 if start is None else 2 * start.shape[1]))
        variances = np.concatenate([singular**2 / mass, np.zeros(n_kept)])
        if n_kept:
            axes = np.hstack([axes, null_axes(axes, n_kept, start)])
        return cls(np.ascontiguousarray(axes), variances, rank, total)

    @classmethod
    def of_covariance(cls, covariance: FloatArray, n_null: int, noise: float = 0.0) -> "PrincipalAxes":
        """Find the axes from a covariance (divisor n): rows beyond memory are known by it.

        Products square the rounding: a direction with less than 1e-12 of the largest variance counts as null.

        Parameters
        ----------
        covariance : ndarray of shape (p, p)
            Covariance of the rows.
        n_null : int
            How many null axes to keep, if there are as many.
        noise : float, default=0.0
            How much rows differ by rounding of the numbers that they were made from.
        """
        ascending, axes = np.linalg.eigh(covariance)
        variances = ascending[::-1].copy()
        total = float(variances.sum())
        rank = max(1, int(np.sum(variances > max(1e-12 * variances[0], noise**2))))
        variances[rank:] = 0.0
        kept = min(len(variances), rank + n_null)
        return cls(np.ascontiguousarray(axes[:, ::-1][:, :kept]), variances[:kept], rank, total)

    def n_for_share(self, share: float) -> int:
        """Return how many axes it takes to keep at least a share of the variance."""
        kept = np.cumsum(self.variances) / self.variances.sum()
        return min(len(kept), int(np.searchsorted(kept, share)) + 1)

    def coordinates(self, X: FloatArray) -> FloatArray:
        """Return the centred rows in these axes, with exact zeros on the null ones."""
        coordinates = np.zeros((X.shape[0], len(self.variances)))
        coordinates[:, : self.rank] = X @ self.axes[:, : self.rank]
        return coordinates

    def mean_differences(self, weighted: FloatArray) -> FloatArray:
        """Return sum_i y_i w_i' in these axes from the same sum over centred, scaled rows."""
        differences: FloatArray = self.axes.T @ weighted
        differences[self.rank :] = 0.0
        return differences
