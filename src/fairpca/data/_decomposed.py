"""Singular values and right singular vectors of tables with many columns."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray

SAFE = 1e-2
"""Singular value, relative to the largest, down to which the products of rows tell it to twelve digits."""


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


def _n_safe(sizes: FloatArray, bound: float) -> int:
    """Return how many singular values are known well, and above the bound."""
    return int(np.sum(sizes > max(SAFE * float(sizes[0]), bound)))


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
