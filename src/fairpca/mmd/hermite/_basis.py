"""The Mercer-Hermite expansion of the Gaussian kernel, fitted to the spread of the rows along each axis."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.utils import gen_batches

from fairpca import compiled
from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.mmd._coordinates import bulk_of, principal_rotation
from fairpca.mmd._kernel import GAP, NEGLIGIBLE
from fairpca.mmd.hermite._recipe import ProductTree, Recipe, hermite_table, lines_of_products, product_tree


@dataclass(frozen=True)
class HermiteBasis:
    r"""D eigenfunctions of the kernel exp(-\|y - y'\|^2 / 2) under a normal distribution wider than the rows.

    In rotated coordinates y the kernel is a product over coordinates of sum_n psi_n(y) psi_n(y') with

    .. math:: \psi_n(y) = \sqrt{\lambda_n \beta / (2^n n!)}\, e^{-\delta^2 y^2} H_n(\alpha \beta y), \quad
              \lambda_n \propto t^n.

    For standard deviation s the weight 1.5 times as wide has alpha^2 = 1 / (3 s^2), so that beta^2 = sqrt(1 + 6 s^2)
    and t = (beta^2 - 1) / (beta^2 + 1). All else follows from t: 2 delta^2 = 1 - t, lambda_0 beta = sqrt(1 - t^2), and

    .. math:: \sqrt{n + 1}\, \psi_{n+1} &= \sqrt{1 - t^2}\, y \psi_n - \sqrt{n}\, t \psi_{n-1}, \\
              \psi_n' &= -(1 - t) y \psi_n + \sqrt{1 - t^2} \sqrt{n}\, \psi_{n-1}.

    A feature is a product of one psi of each coordinate; the D products with the largest eigenvalues are kept, fewer
    where others are `NEGLIGIBLE`, and with each of them all of lower order.

    Attributes
    ----------
    rotation : ndarray of shape (d, d)
        From projections to the axes.
    ratios : ndarray of shape (d,)
        t for each coordinate.
    tree : ProductTree
        How the features are made.
    orders : ndarray of shape (D, d)
        Orders n of each feature.
    above, below : ndarray of shape (d, D)
        Number of the feature one order higher and lower in each coordinate; D where there is none.
    """

    rotation: FloatArray
    ratios: FloatArray
    tree: ProductTree
    orders: IntArray
    above: IntArray
    below: IntArray

    @classmethod
    def fit(cls, Z: FloatArray, n_features: int) -> "HermiteBasis":
        """Fit axes and spread to rows.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Projections of a sample of rows, in bandwidths. Those of few rows too far from the others for the kernel
            to see them do not count: the features are 0 there.
        n_features : int
            D at most.
        """
        rotation, ratios = principal_axes_and_ratios(Z)
        tree = product_tree(list(range(len(ratios))), np.log(ratios), n_features)
        tree = tree.first(int(np.count_nonzero(tree.logs >= math.log(NEGLIGIBLE))))
        orders = tree.made_indices
        return cls(rotation, ratios, tree, orders, _neighbours(orders, 1), _neighbours(orders, -1))

    @property
    def n_features(self) -> int:
        """The number D of features."""
        return len(self.orders)

    @property
    def decay(self) -> FloatArray:
        """2 delta^2 = 1 - t for each coordinate."""
        return 1 - self.ratios

    def values(self, Y: FloatArray, workspace: AnyArray | None = None) -> AnyArray:
        """Return the features, of shape (D, n), at n points.

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        workspace : ndarray, default=None
            At least D n numbers to overwrite, instead of new memory; the features have its dtype.
        """
        size = self.n_features * Y.shape[1]
        features = (np.empty(size) if workspace is None else workspace[:size]).reshape(self.n_features, -1)
        # The table is short: made in float64 it costs nothing, and loses no digits.
        self.tree.make_values(self._table(Y).astype(features.dtype, copy=False), features)
        return features

    def moments(self, Y: FloatArray, weights: FloatArray, squares: FloatArray | None = None) -> FloatArray:
        """Return the weighted sums of the features over points, of shape (n_columns, D).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        weights : ndarray of shape (n_columns, n)
            Their weights.
        squares : ndarray of shape (n,), default=None
            If given, |Phi|^2 of each point is written to it.
        """
        if compiled.is_compiled():
            return self.recipe.moments(Y, weights, squares)[:, self.recipe.is_feature]
        total = np.zeros((len(weights), self.n_features))
        for piece in gen_batches(Y.shape[1], rows_of_a_piece(self.n_features)):
            features = self.values(Y[:, piece])
            total += weights[:, piece] @ features.T
            if squares is not None:
                squares[piece] = squares_of(features)
        return total

    def gradients(self, Y: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Return the gradients of sum_f c_f Phi_f at each point, and of |Phi|^2 last, of shape (d, n_vectors + 1, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        coefficients : ndarray of shape (n_vectors, D)
            Vectors c.
        """
        if compiled.is_compiled():
            spread = np.zeros((len(coefficients), *self.recipe.shape))
            spread[:, self.recipe.is_feature] = coefficients
            return self.recipe.slopes(Y, spread)
        found = np.empty((len(Y), len(coefficients) + 1, Y.shape[1]))
        raised = [self.raised(coefficients, a) for a in range(len(Y))]
        for piece in gen_batches(Y.shape[1], rows_of_a_piece(self.n_features)):
            features, y = self.values(Y[:, piece]), Y[:, piece]
            sums = np.vstack([coefficients @ features, 2 * squares_of(features)])
            for a, of_axis in enumerate(raised):
                found[a, :-1, piece] = of_axis @ features
                has_below = np.flatnonzero(self.orders[:, a])
                below = features[self.below[a, has_below]]
                factors = 2 * self.slopes[a] * np.sqrt(self.orders[has_below, a])
                found[a, -1, piece] = np.einsum("f,fi,fi->i", factors, features[has_below], below)
                found[a, :, piece] -= self.decay[a] * y[a] * sums
        return found

    @cached_property
    def recipe(self) -> Recipe:
        """How the features come about, in the order in which the tree makes them."""
        sizes = self.orders.max(axis=0) + 1
        table = np.vstack([hermite_table(t, n) for t, n in zip(self.ratios, sizes, strict=True)])
        axes = np.column_stack([self.decay, np.sqrt(self.slopes)])
        products, left, right, counts = lines_of_products(self.tree, 1 + np.cumsum(sizes) - sizes, 1 + len(table))
        return Recipe(axes, table, sizes, products, left, right, counts)

    def raised(self, coefficients: FloatArray, a: int) -> FloatArray:
        """Return c^(a), with which d/dy_a sum_f c_f Phi_f = sum_f c^(a)_f Phi_f - (1 - t_a) y_a sum_f c_f Phi_f.

        Parameters
        ----------
        coefficients : ndarray of shape (n_vectors, D)
            Vectors c.
        a : int
            The coordinate.
        """
        return self.slopes[a] * np.sqrt(self.orders[:, a] + 1.0) * _padded(coefficients)[:, self.above[a]]

    def reaches(self, Y: FloatArray) -> BoolArray:
        """Return which points the features reach: far away they are 0, all of them.

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Points, in the axes.
        """
        with np.errstate(over="ignore"):
            return np.asarray((self.decay[:, None] * Y * Y < GAP**2).all(axis=0))

    @property
    def slopes(self) -> FloatArray:
        """sqrt(1 - t^2) for each coordinate."""
        return np.sqrt(1 - self.ratios**2)

    def _table(self, Y: FloatArray) -> FloatArray:
        """Return psi_n(y_a), of shape (n_orders, d, n)."""
        table = np.empty((int(self.orders.max()) + 1, *Y.shape))
        ratios, slopes = self.ratios[:, None], self.slopes[:, None]
        with np.errstate(over="ignore"):
            np.exp(-0.5 * self.decay[:, None] * Y * Y, out=table[0])
        table[0] *= np.sqrt(slopes)
        steps = slopes * Y
        for n in range(len(table) - 1):
            np.multiply(steps, table[n], out=table[n + 1])
            if n:
                table[n + 1] -= (math.sqrt(n) * ratios) * table[n - 1]
            table[n + 1] /= math.sqrt(n + 1)
        return table


def principal_axes_and_ratios(Z: FloatArray, narrowest: float = 0.05) -> tuple[FloatArray, FloatArray]:
    """Return the rotation to the axes of a basis and t for each of them.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections of a sample of rows, see `HermiteBasis.fit`.
    narrowest : float, default=0.05
        Smallest standard deviation that a basis is made for: a null coordinate may come alive.
    """
    Z = Z[bulk_of(Z)]
    rotation = principal_rotation(Z)
    squares = 6 * np.maximum((Z @ rotation).std(axis=0), narrowest) ** 2
    return rotation, squares / (1 + np.sqrt(1 + squares)) ** 2


def _neighbours(orders: IntArray, step: int) -> IntArray:
    """Return for each coordinate and feature the number of the feature `step` orders away, D where there is none."""
    number = {tuple(row): f for f, row in enumerate(orders.tolist())}
    neighbours = np.empty(orders.T.shape, dtype=np.int64)
    for a in range(orders.shape[1]):
        moved = orders.copy()
        moved[:, a] += step
        neighbours[a] = [number.get(tuple(row), len(orders)) for row in moved.tolist()]
    return neighbours


def _padded(vectors: FloatArray) -> FloatArray:
    """Append the 0 that missing features have."""
    return np.concatenate([vectors, np.zeros((len(vectors), 1))], axis=1)


def rows_of_a_piece(n_features: int) -> int:
    """Return how many rows to make features of at a time.

    As many numbers as the cache of all cores holds, 8 MB: fewer would fit that of one core, but then threads wait for
    each other's interpreter lock, which every short operation takes. No fewer rows than keep a matrix product busy.

    Parameters
    ----------
    n_features : int
        Features of each row.
    """
    return max(32, min(4096, 4 * BLOCK_NUMBERS // max(1, n_features)))


def squares_of(features: FloatArray) -> FloatArray:
    """Return |Phi|^2 of each point, for features of shape (D, n)."""
    return np.einsum("fi,fi->i", features, features)
