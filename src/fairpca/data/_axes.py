"""Principal axes, the coordinates in which the fair subspace is searched, and the components that come of a frame."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.geometry import split_null
from fairpca.mmd import MANY_COLUMNS, Scales


def singular_axes(X: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    """Return the singular values above a bound, decreasing, and their right singular vectors as columns.

    Products of rows (or of columns, where these are fewer) square the singular values, so that small ones drown in the
    rounding of large ones. They are taken out in turns: what has at least a hundredth of the largest is found, and what
    is left of the rows when it is projected out is decomposed in the same way. No array is larger than `X`.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    least : float
        The bound, relative to the largest singular value.

    Returns
    -------
    singular : ndarray of shape (r,)
        Singular values.
    axes : ndarray of shape (p, r)
        Orthonormal columns.
    """
    decompose = _by_products_of_rows if len(X) <= X.shape[1] else _by_products_of_columns
    return decompose(X, least)


def _by_products_of_rows(X: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    found, blocks, bound = [], [], 0.0
    while len(X):
        sizes, left = _decreasing(X @ X.T)
        bound = bound or least * float(sizes[0])
        n_safe = _n_safe(sizes, bound)
        if n_safe == 0:
            break
        axes = X.T @ left[:, :n_safe]
        axes /= sizes[:n_safe]
        found.append(sizes[:n_safe])
        blocks.append(axes)
        X = left[:, n_safe:].T @ X
        for block in blocks:
            X -= (X @ block) @ block.T
    return np.concatenate(found), blocks[0] if len(blocks) == 1 else np.hstack(blocks)


def _by_products_of_columns(X: FloatArray, least: float) -> tuple[FloatArray, FloatArray]:
    found, blocks, bound = [], [], 0.0
    basis: FloatArray | None = None
    while X.shape[1]:
        sizes, right = _decreasing(X.T @ X)
        bound = bound or least * float(sizes[0])
        n_safe = _n_safe(sizes, bound)
        if n_safe == 0:
            break
        basis = right if basis is None else basis @ right
        found.append(sizes[:n_safe])
        blocks.append(basis[:, :n_safe])
        X, basis = X @ right[:, n_safe:], basis[:, n_safe:]
    return np.concatenate(found), np.hstack(blocks)


def _decreasing(products: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the roots of the eigenvalues of a matrix of products, decreasing, and its eigenvectors."""
    squares, vectors = np.linalg.eigh(products)
    return np.sqrt(np.maximum(squares[::-1], 0.0)), vectors[:, ::-1]


def _n_safe(sizes: FloatArray, bound: float, safe: float = 1e-2) -> int:
    """Return how many singular values are above the bound, and of which products of rows have twelve digits."""
    return int(np.sum(sizes > max(safe * float(sizes[0]), bound)))


def null_axes(axes: FloatArray, count: int, towards: FloatArray | None = None) -> FloatArray:
    """Return orthonormal vectors, as columns, that are orthogonal to orthonormal columns.

    Parameters
    ----------
    axes : ndarray of shape (p, r)
        The columns.
    count : int
        How many, at most p - r.
    towards : ndarray of shape (p, c), default=None
        What of these lies outside of the columns is in the span of the first vectors.
    """
    p = len(axes)
    wanted = np.zeros((p, 0)) if towards is None else towards[:, :count]
    others = np.random.default_rng(0).standard_normal((p, count - wanted.shape[1]))
    vectors = np.hstack([wanted, others])
    for _ in range(2):
        # What a projection leaves may be so short that its rounding points anywhere.
        vectors = vectors - axes @ (axes.T @ vectors)
        lengths = np.linalg.norm(vectors, axis=0)
        vectors = vectors / np.where(lengths > 0, lengths, 1.0)
    return np.linalg.qr(vectors)[0]


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


@dataclass(frozen=True)
class Components:
    """Principal axes inside a subspace: live ones by decreasing variance, then null ones.

    Attributes
    ----------
    rows : ndarray of shape (d, p)
        V', orthonormal, the entry of largest magnitude of each row positive.
    singular_values : ndarray of shape (d,)
        Root of the sum of the squares of the projected rows; exactly 0 for null components.
    n_live : int
        How many carry variance.
    shrinking : float
        Least share of the square of a live component that lies outside the null axes: 1 where none is tilted.
    """

    rows: FloatArray
    singular_values: FloatArray
    n_live: int
    shrinking: float

    @classmethod
    def of(cls, frame: FloatArray, axes: PrincipalAxes, mass: float) -> "Components":
        """Find the components of a subspace.

        Parameters
        ----------
        frame : ndarray of shape (p_kept, d)
            Orthonormal frame of the subspace, in principal axes.
        axes : PrincipalAxes
            Those axes.
        mass : float
            n, the sum of the masses of the rows.
        """
        live, null = split_null(frame, axes.rank)
        # Of the scaled frame, not of its Gram matrix: small variances keep their digits.
        _, singular, rotation = np.linalg.svd(np.sqrt(mass * axes.variances)[:, None] * live, full_matrices=False)
        components = (axes.axes @ np.hstack([live @ rotation.T, null])).T
        largest = np.abs(components).argmax(axis=1)
        components *= np.sign(components[np.arange(len(components)), largest])[:, None]
        singular = np.concatenate([singular, np.zeros(null.shape[1])])
        inside = np.linalg.svd(live[: axes.rank], compute_uv=False)
        shrinking = float(inside[: live.shape[1]].min(initial=1.0) ** 2) if live.shape[1] <= axes.rank else 0.0
        return cls(np.ascontiguousarray(components), singular, live.shape[1], shrinking)

    @property
    def is_orthonormal(self) -> bool:
        """Whether V'V = I to the digits that components are good for."""
        return bool(np.abs(self.rows @ self.rows.T - np.eye(len(self.rows))).max() < 1e-8)
