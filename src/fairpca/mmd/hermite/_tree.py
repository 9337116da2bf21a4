"""Products of one-dimensional functions with the largest eigenvalues, made with one multiplication each."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Protocol

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray


class ProductTree(Protocol):
    """Functions of some coordinates, numbered by decreasing eigenvalue.

    Attributes
    ----------
    logs : ndarray of shape (size,)
        Logarithms of their eigenvalues, relative to the first.
    indices : ndarray of shape (size, d)
        Their orders in each coordinate; 0 for the coordinates of other trees.
    """

    @property
    def logs(self) -> FloatArray: ...

    @property
    def indices(self) -> IntArray: ...

    def first(self, size: int) -> "ProductTree":
        """Return the tree of the first `size` functions."""

    def values(self, table: FloatArray) -> FloatArray:
        """Return the functions at n points, of shape (size, n), from a table of shape (n_orders, d, n)."""

    @property
    def made_indices(self) -> IntArray:
        """The `indices` in the sequence of `make_values`."""

    def make_values(self, table: FloatArray, out: FloatArray) -> None:
        """Write the `values` to `out` in the sequence in which they are made, without the copy that sorts them."""

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


@dataclass(frozen=True)
class Leaf:
    """The functions of one coordinate, by their order."""

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
        return Leaf(self.coordinate, self.logs[:size], self.indices[:size])

    def values(self, table: FloatArray) -> FloatArray:
        return table[: len(self.logs), self.coordinate]

    @property
    def made_indices(self) -> IntArray:
        return self.indices

    def make_values(self, table: FloatArray, out: FloatArray) -> None:
        out[...] = self.values(table)

    def add_lines(self, firsts: IntArray, products: list[tuple[int, int]], made: int) -> list[int]:
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

    left: ProductTree
    right: ProductTree
    counts: IntArray
    order: IntArray

    @classmethod
    def of(cls, left: ProductTree, right: ProductTree, size: int) -> "Branch":
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
