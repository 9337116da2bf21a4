"""Samples of two groups whose differences are known."""
# SPDX-License-Identifier: MIT

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.linalg import toeplitz
from scipy.signal import lfilter
from sklearn.utils import check_random_state

from fairpca._utils.checks import check_integer, check_name
from fairpca._utils.typing import FloatArray, IntArray

# Dimension in which the paper draws its second synthetic data before it projects them.
_AMBIENT_DIMENSION = 1000
# Correlations of the five blocks, for group 0 and group 1.
_BLOCKS = {
    "text": ((0.99, 0.98, 0.97, 0.98, 0.95), (0.99, 0.98, 0.97, 0.98, 0.99)),
    "published": ((0.99, 0.98, 0.97, 0.98, 0.95), (0.95, 0.98, 0.97, 0.98, 0.99)),
}


def make_synthetic1(
    n_per_group: int = 150, *, exact_moments: bool = False, random_state: Any = None
) -> tuple[FloatArray, IntArray]:
    """Draw two groups with the same mean and covariance but different distributions, in three dimensions.

    Group 0 is N(0, 0.1 I + 11'); group 1 is half N(1, 0.1 I), half N(-1, 0.1 I). A method that compares means and
    covariances only sees no difference.

    Parameters
    ----------
    n_per_group : int, default=150
        Rows of each group; at least 4 with exact moments. The published file has 5000.
    exact_moments : bool, default=False
        Move the rows of each group linearly so that the sample itself has mean 0 and covariance 0.1 I + 11'.
        Otherwise the means and covariances of the samples differ by chance, and a method that compares them sees that.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, 3)
        Rows, group 0 first.
    sensitive_features : ndarray of shape (2 * n_per_group,)
        Group of each row, 0 or 1.

    Examples
    --------
    >>> from fairpca.datasets import make_synthetic1
    >>> X, group = make_synthetic1(random_state=0)
    >>> X.shape, group.sum()
    ((300, 3), np.int64(150))
    """
    n = _count("n_per_group", n_per_group)
    if exact_moments and n < 4:
        raise ValueError(f"n_per_group={n} rows have no covariance of rank 3; with exact_moments=True take at least 4.")
    generator = generator_from(random_state)
    # Along the diagonal one group is normal and the other is at -1 or 1; both have variance 1 there.
    diagonal = np.concatenate([generator.standard_normal(n), np.where(np.arange(n) % 2, -1.0, 1.0)])
    noise = math.sqrt(0.1) * generator.standard_normal((2 * n, 3))
    X = diagonal[:, None] + noise
    if exact_moments:
        X = np.concatenate([_with_moments(rows, 0.1 * np.eye(3) + 1.0) for rows in (X[:n], X[n:])])
    return X, _two_groups(n)


def _with_moments(rows: FloatArray, covariance: FloatArray) -> FloatArray:
    centred = rows - rows.mean(axis=0)
    own = np.linalg.cholesky(centred.T @ centred / len(rows))
    return np.asarray(np.linalg.solve(own, centred.T).T @ np.linalg.cholesky(covariance).T)


def make_synthetic2(
    p: int, n_per_group: int = 250, *, variant: str = "text", random_state: Any = None
) -> tuple[FloatArray, IntArray]:
    """Draw two groups in p dimensions: Gaussians in 1000 dimensions, projected by a Gaussian matrix.

    The means are 2 apart. The covariances have five blocks, each of an AR(1) process (r^|i-j| / (1 - r^2) with r from
    0.95 to 0.99), and are scaled so that their difference has spectral norm 1. The matrix of the projection has
    independent standard normal entries.

    Parameters
    ----------
    p : int
        Dimension of the rows; 20, 30, ..., 100 in the paper.
    n_per_group : int, default=250
        Rows of each group.
    variant : {"text", "published"}, default="text"
        "text" follows the paper: both groups go through one projection, and the covariances differ in the last block.
        "published" follows the code published with it: each group goes through a projection of its own, after which
        their covariances are unrelated, and before it the covariances differ in the first block as well. That code
        draws 240 rows a group.
    random_state : int, RandomState instance or None, default=None
        Draws the rows, then the projection: for one seed all p are projections of the same rows.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, p)
        Rows, group 0 first.
    sensitive_features : ndarray of shape (2 * n_per_group,)
        Group of each row, 0 or 1.

    Examples
    --------
    >>> from fairpca.datasets import make_synthetic2
    >>> X, group = make_synthetic2(20, random_state=0)
    >>> X.shape
    (500, 20)
    """
    p, n = _count("p", p), _count("n_per_group", n_per_group)
    blocks = _BLOCKS[check_name("variant", variant, _BLOCKS)]
    generator = generator_from(random_state)
    scale = 1.0 / math.sqrt(_spectral_norm_of_difference(*blocks))
    ambient = [scale * _autoregressive(group, n, generator) for group in blocks]
    # The means are at distance 2.
    ambient[1] += 2.0 / math.sqrt(_AMBIENT_DIMENSION)
    projection = generator.standard_normal((_AMBIENT_DIMENSION, p))
    other = projection if variant == "text" else generator.standard_normal((_AMBIENT_DIMENSION, p))
    return np.concatenate([ambient[0] @ projection, ambient[1] @ other]), _two_groups(n)


def make_ellipses(n_per_group: int = 200, *, random_state: Any = None) -> tuple[FloatArray, IntArray]:
    """Draw two ellipses in the plane that mirror each other: alike along the second axis, apart along the first.

    Group 0 is a Gaussian with standard deviations 1 and 0.25, turned by 30 degrees, centred at (-1.5, 0); group 1 is
    its mirror image in the second axis. Projected on either axis, both groups are reconstructed equally well, and
    better on the first: that is the one for equal reconstruction errors. The projections have one distribution on the
    second only: that is the one for an MMD of zero.

    Parameters
    ----------
    n_per_group : int, default=200
        Rows of each group.
    random_state : int, RandomState instance or None, default=None
        Draws the rows.

    Returns
    -------
    X : ndarray of shape (2 * n_per_group, 2)
        Rows, group 0 first.
    sensitive_features : ndarray of shape (2 * n_per_group,)
        Group of each row, 0 or 1.

    Examples
    --------
    >>> from fairpca.datasets import make_ellipses
    >>> X, group = make_ellipses(5000, random_state=0)
    >>> [round(float(X[group == value, 0].mean()), 1) for value in (0, 1)]
    [-1.5, 1.5]
    """
    n = _count("n_per_group", n_per_group)
    angle = math.pi / 6
    axes = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    rows = (generator_from(random_state).standard_normal((2 * n, 2)) * [1.0, 0.25]) @ axes - [1.5, 0.0]
    rows[n:, 0] *= -1
    return rows, _two_groups(n)


def generator_from(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a RandomState instance or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def _count(argument: str, value: Any) -> int:
    check_integer(argument, value, 1)
    return int(value)


def _two_groups(n_per_group: int) -> IntArray:
    return np.repeat(np.arange(2, dtype=np.int64), n_per_group)


def _autoregressive(correlations: tuple[float, ...], n: int, generator: np.random.Generator) -> FloatArray:
    """Draw n rows whose blocks are stationary AR(1) processes, by their recursion instead of a Cholesky factor."""
    length = _AMBIENT_DIMENSION // len(correlations)
    blocks = []
    for r in correlations:
        innovations = generator.standard_normal((n, length))
        innovations[:, 0] /= math.sqrt(1 - r**2)
        blocks.append(lfilter([1.0], [1.0, -r], innovations, axis=1))
    return np.concatenate(blocks, axis=1)


@cache
def _spectral_norm_of_difference(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    length = _AMBIENT_DIMENSION // len(first)
    lags = np.arange(length)
    differences = (toeplitz(b**lags / (1 - b**2) - a**lags / (1 - a**2)) for a, b in zip(first, second, strict=True))
    return max(float(np.linalg.norm(difference, 2)) for difference in differences)
