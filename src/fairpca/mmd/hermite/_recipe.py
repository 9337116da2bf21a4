"""Features that are products of one-dimensional functions: which, and their sums over rows without making them."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from fairpca import compiled
from fairpca._utils.typing import BoolArray, FloatArray, IntArray

SIDE = 4
"""Coefficients that the compiled loops read at a time: they are padded to a multiple of it."""


@dataclass(frozen=True)
class Leaf:
    """The functions of one coordinate, by their order; a tree of functions by decreasing eigenvalue.

    Attributes
    ----------
    coordinate : int
        The coordinate.
    logs : ndarray of shape (size,)
        Logarithms of the eigenvalues, relative to the first.
    indices : ndarray of shape (size, d)
        Orders in each coordinate; 0 for the coordinates of other trees.
    """

    coordinate: int
    logs: FloatArray
    indices: IntArray

    @classmethod
    def of(cls, coordinate: int, log_ratios: FloatArray, size: int) -> "Leaf":
        """Take the first orders of one coordinate, whose eigenvalues fall by the same ratio from each to the next."""
        orders = np.arange(size)
        indices = np.zeros((size, len(log_ratios)), dtype=np.int64)
        indices[:, coordinate] = orders
        return cls(coordinate, log_ratios[coordinate] * orders, indices)

    def first(self, size: int) -> "Leaf":
        """Return the tree of the first `size` functions."""
        return Leaf(self.coordinate, self.logs[:size], self.indices[:size])

    def values(self, table: FloatArray) -> FloatArray:
        """Return the functions at n points, of shape (size, n), from a table of shape (n_orders, d, n)."""
        return table[: len(self.logs), self.coordinate]

    @property
    def made_indices(self) -> IntArray:
        """The `indices` in the sequence of `make_values`."""
        return self.indices

    def make_values(self, table: FloatArray, out: FloatArray) -> None:
        """Write the `values` to `out` in the sequence in which they are made, without the copy that sorts them."""
        out[...] = self.values(table)

    def add_lines(self, firsts: IntArray, products: list[tuple[int, int]], made: int) -> list[int]:
        """Return the lines of a `Recipe` with the functions, after appending the products that make them.

        Parameters
        ----------
        firsts : ndarray of shape (d,)
            First line of the table of each coordinate.
        products : list of pairs of int
            Lines that are multiplied, so far.
        made : int
            Line of the first product.
        """
        first = int(firsts[self.coordinate])
        return list(range(first, first + len(self.logs)))


@dataclass(frozen=True)
class Branch:
    """Products of the functions of two trees.

    Of function i on the left only products with the first `counts[i]` functions on the right are kept: with both
    sides sorted, these are the ones with the largest eigenvalues, and a few long multiplications make them all.

    Attributes
    ----------
    left, right : ProductTree
        The factors.
    counts : ndarray of shape (left.size,)
        How many products each function on the left has.
    order : ndarray of shape (size,)
        Positions by decreasing eigenvalue in the list of products, which goes through the left functions one by one.
    """

    left: "ProductTree"
    right: "ProductTree"
    counts: IntArray
    order: IntArray

    @classmethod
    def of(cls, left: "ProductTree", right: "ProductTree", size: int) -> "Branch":
        """Choose the `size` products with the largest eigenvalues."""
        # Product (i, j) comes after all (i', j') with i' <= i and j' <= j, hence it needs (i + 1)(j + 1) <= size.
        reach = np.minimum(size // np.arange(1, len(left.logs) + 1), len(right.logs))
        return cls(left, right, reach, _decreasing(left, right, reach)).first(size)

    def first(self, size: int) -> "Branch":
        owners = np.repeat(np.arange(len(self.counts)), self.counts)[self.order[:size]]
        counts = np.bincount(owners)
        left, right = self.left.first(len(counts)), self.right.first(int(counts.max()))
        return Branch(left, right, counts, _decreasing(left, right, counts))

    @property
    def logs(self) -> FloatArray:
        return _product_logs(self.left, self.right, self.counts)[self.order]

    @property
    def indices(self) -> IntArray:
        return self.made_indices[self.order]

    def values(self, table: FloatArray) -> FloatArray:
        made = np.empty((len(self.order), table.shape[2]), dtype=table.dtype)
        self.make_values(table, made)
        return np.take(made, self.order, axis=0)

    @property
    def made_indices(self) -> IntArray:
        left, right = self.left.indices, self.right.indices
        return np.concatenate([left[i] + right[:count] for i, count in enumerate(self.counts)])

    def make_values(self, table: FloatArray, out: FloatArray) -> None:
        left, right = self.left.values(table), self.right.values(table)
        for functions, count, made in self._runs:
            height = functions.stop - functions.start
            np.multiply(left[functions, None], right[:count], out=out[made].reshape(height, count, out.shape[1]))

    def add_lines(self, firsts: IntArray, products: list[tuple[int, int]], made: int) -> list[int]:
        left, right = (side.add_lines(firsts, products, made) for side in (self.left, self.right))
        pairs = [(left[i], other) for i, count in enumerate(self.counts) for other in right[:count]]
        first = made + len(products)
        products.extend(pairs[position] for position in self.order)
        return list(range(first, first + len(pairs)))

    @cached_property
    def _runs(self) -> list[tuple[slice, int, slice]]:
        """Neighbouring left functions with the same count, that count, and where their products are."""
        runs = [(len(list(run)), count) for count, run in groupby(self.counts.tolist())]
        functions = np.cumsum([0, *(length for length, _ in runs)]).tolist()
        products = np.cumsum([0, *(length * count for length, count in runs)]).tolist()
        return [
            (slice(*function), count, slice(*made))
            for (_, count), function, made in zip(runs, pairwise(functions), pairwise(products), strict=True)
        ]


ProductTree = Leaf | Branch


def product_tree(coordinates: list[int], log_ratios: FloatArray, size: int) -> ProductTree:
    """Return the `size` products of the largest eigenvalues.

    Parameters
    ----------
    coordinates : list of int
        The coordinates to use.
    log_ratios : ndarray of shape (d,)
        For each coordinate the logarithm, below 0, of the ratio of one eigenvalue to the one before.
    size : int
        Number of functions.
    """
    if len(coordinates) == 1:
        return Leaf.of(coordinates[0], log_ratios, size)
    # Every other coordinate, so that both sides have large and small ones.
    left, right = (product_tree(coordinates[side::2], log_ratios, size) for side in (0, 1))
    return Branch.of(left, right, size)


def lines_of_products(tree: ProductTree, firsts: IntArray, made: int) -> tuple[IntArray, int, int, IntArray]:
    """Return the products that make both sides of a tree, the first line of each side, and the counts of a `Recipe`.

    Parameters
    ----------
    tree : ProductTree
        The functions.
    firsts : ndarray of shape (d,)
        First line of the table of each coordinate.
    made : int
        Line of the first product.
    """
    products: list[tuple[int, int]] = []
    if isinstance(tree, Branch):
        left, right = (side.add_lines(firsts, products, made) for side in (tree.left, tree.right))
        return np.array(products, dtype=np.int64).reshape(-1, 2), left[0], right[0], tree.counts
    # A single coordinate: each function times 1, the line before the tables.
    lines = tree.add_lines(firsts, products, made)
    return np.empty((0, 2), dtype=np.int64), lines[0], 0, np.ones(len(lines), dtype=np.int64)


def _product_logs(left: ProductTree, right: ProductTree, counts: IntArray) -> FloatArray:
    logs, others = left.logs, right.logs
    return np.concatenate([logs[i] + others[:count] for i, count in enumerate(counts)])


def _decreasing(left: ProductTree, right: ProductTree, counts: IntArray) -> IntArray:
    # Stable, so that among equals the products of one left function stay in the order of the right ones.
    return np.argsort(-_product_logs(left, right, counts), kind="stable")


@dataclass(frozen=True, eq=False)
class Recipe:
    r"""How features of rows come about in the compiled loops, as lines with one number for each row.

    The first line is 1; then come tables of functions of each coordinate y_a, `sizes[a]` lines each; then products of
    two earlier lines. A feature is the product of one of the left lines and one of the first `counts[i]` right lines.
    The functions are

    .. math:: \psi_0 = f e^{-r y^2/2}, \quad \psi_n = \alpha_n y \psi_{n-1} - \beta_n \psi_{n-2}, \quad
              \psi_n' = \gamma_n \psi_{n-1} - r y \psi_n.

    Attributes
    ----------
    axes : ndarray of shape (d, 2)
        r and f for each coordinate.
    table : ndarray of shape (sum of sizes, 3)
        alpha, beta and gamma of each line of the tables.
    sizes : ndarray of int of shape (d,)
        Lines of each table.
    products : ndarray of int of shape (n_products, 2)
        Numbers of the lines that are multiplied.
    left, right : int
        Numbers of the first of the left and of the right lines.
    counts : ndarray of int of shape (n_left,)
        With how many right lines each left one is multiplied.
    """

    axes: FloatArray
    table: FloatArray
    sizes: IntArray
    products: IntArray
    left: int
    right: int
    counts: IntArray

    @property
    def shape(self) -> tuple[int, int]:
        """(n_left, n_right)."""
        return len(self.counts), int(self.counts.max())

    @cached_property
    def is_feature(self) -> BoolArray:
        """Which products of a left and a right line are features, of shape (n_left, n_right)."""
        return np.arange(self.shape[1]) < self.counts[:, None]

    def moments(self, Y: FloatArray, weights: FloatArray, squares: FloatArray | None = None) -> FloatArray:
        """Return sum_i w_ic left(y_i) right(y_i)', of shape (k, n_left, n_right), 0 where there is no feature.

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Rows.
        weights : ndarray of shape (k, n)
            w.
        squares : ndarray of shape (n,), default=None
            If given, the sum of the squares of all features of each row is written to it.
        """
        Y, weights = np.ascontiguousarray(Y), np.ascontiguousarray(weights)
        total = np.zeros((len(weights), *self.shape))
        compiled.native.feature_moments(self._native, Y, weights, total, squares)
        return total

    def slopes(self, Y: FloatArray, coefficients: FloatArray) -> FloatArray:
        """Return the gradients of sum_f c_f feature_f at each row, and of the sum of squares, of shape (d, k + 1, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Rows.
        coefficients : ndarray of shape (k, n_left, n_right)
            c, 0 where there is no feature.
        """
        Y = np.ascontiguousarray(Y)
        found = np.empty((len(Y), len(coefficients) + 1, Y.shape[1]))
        n_left, n_right = self.shape
        padded = np.pad(coefficients, ((0, 0), (0, -n_left % SIDE), (0, -n_right % SIDE)))
        compiled.native.feature_slopes(self._native, Y, np.ascontiguousarray(padded), found)
        return found

    @cached_property
    def _native(self) -> tuple[int, int, FloatArray, FloatArray, IntArray, IntArray, IntArray, IntArray]:
        # A right line j meets the left ones up to the last i with counts[i] > j.
        conjugate = len(self.counts) - np.argmax(self.is_feature[::-1], axis=0).astype(np.int64)
        arrays = (self.sizes, self.products, self.counts, conjugate)
        integers = tuple(np.ascontiguousarray(each, dtype=np.int64) for each in arrays)
        return self.left, self.right, self.axes, self.table, *integers  # type: ignore[return-value]


def hermite_table(ratio: float, size: int) -> FloatArray:
    r"""Return alpha, beta and gamma of the eigenfunctions of `HermiteBasis` with the ratio t, of shape (size, 3).

    .. math:: \sqrt{n}\, \psi_n &= \sqrt{1 - t^2}\, y \psi_{n-1} - \sqrt{n - 1}\, t \psi_{n-2}, \\
              \psi_n' &= \sqrt{1 - t^2} \sqrt{n}\, \psi_{n-1} - (1 - t) y \psi_n.
    """
    roots, slope = np.sqrt(np.arange(size)), math.sqrt(1 - ratio**2)
    table = np.zeros((size, 3))
    table[1:, 0] = slope / roots[1:]
    table[1:, 1] = ratio * roots[:-1] / roots[1:]
    table[:, 2] = slope * roots
    return table
