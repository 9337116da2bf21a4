"""Features that are products of one-dimensional functions: which, and their sums over rows without making them."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

import numpy as np

from fairpca import compiled
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray

HERMITE = 0
"""What the compiled loops call the tables of a recipe."""

SIDE = 4
"""Coefficients that the compiled loops read at a time."""

NUMPY_NUMBERS = 2**20
"""Numbers that numpy works on at a time, 8 MB, a share of the cache of all cores."""

WASTE = 0.1
"""Share of products that may be made in vain so that fewer and larger matrix products make them all."""


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
    r"""How features of rows come about, as lines with one number for each row.

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
        if compiled.is_compiled():
            compiled.native.feature_moments(self._native, Y, weights, total, squares)
            return total
        for piece in self._pieces(Y.shape[1]):
            left, right = self._sides(self._lines(Y[:, piece]))
            weighted = weights[:, None, piece] * left
            for rows, count in self._blocks:
                total[:, rows, :count] += weighted[:, rows] @ right[:count].T
            if squares is not None:
                sums = np.concatenate([np.zeros((1, right.shape[1])), np.cumsum(right**2, axis=0)])
                squares[piece] = np.einsum("ij,ij->j", left**2, sums[self.counts])
        total[:, ~self.is_feature] = 0.0
        return total

    def slopes(self, Y: FloatArray, coefficients: FloatArray, with_squares: bool = False) -> FloatArray:
        """Return the gradients of sum_f c_f feature_f at each row, of shape (d, k, n) or (d, k + 1, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Rows.
        coefficients : ndarray of shape (k, n_left, n_right)
            c, 0 where there is no feature.
        with_squares : bool, default=False
            Whether the gradients of the sum of the squares of all features come after the others.
        """
        Y = np.ascontiguousarray(Y)
        found = np.empty((len(Y), len(coefficients) + with_squares, Y.shape[1]))
        if compiled.is_compiled():
            n_left, n_right = self.shape
            padded = np.pad(coefficients, ((0, 0), (0, -n_left % SIDE), (0, -n_right % SIDE)))
            compiled.native.feature_slopes(self._native, Y, np.ascontiguousarray(padded), found)
            return found
        for piece in self._pieces(Y.shape[1]):
            lines = self._lines(Y[:, piece])
            for b, c in enumerate(coefficients):
                found[:, b, piece] = self._backwards(Y[:, piece], lines, *self._by_sides(lines, c))
            if with_squares:
                left, right = self._sides(lines)
                by_sides = 2 * left * (self.is_feature @ right**2), 2 * right * (self.is_feature.T @ left**2)
                found[:, -1, piece] = self._backwards(Y[:, piece], lines, *by_sides)
        return found

    @cached_property
    def _native(self) -> tuple[int, int, int, FloatArray, FloatArray, IntArray, IntArray, IntArray, IntArray]:
        # A right line j meets the left ones up to the last i with counts[i] > j.
        conjugate = len(self.counts) - np.argmax(self.is_feature[::-1], axis=0).astype(np.int64)
        arrays = (self.sizes, self.products, self.counts, conjugate)
        integers = tuple(np.ascontiguousarray(each, dtype=np.int64) for each in arrays)
        return HERMITE, self.left, self.right, self.axes, self.table, *integers  # type: ignore[return-value]

    @cached_property
    def _blocks(self) -> list[tuple[slice, int]]:
        """Left lines that are multiplied with the same number of right ones, few of them in vain."""
        blocks: list[tuple[slice, int]] = []
        for count, run in groupby(range(len(self.counts)), key=lambda i: int(self.counts[i])):
            lines = list(run)
            rows = slice(lines[0], lines[-1] + 1)
            if blocks:
                last, most = blocks[-1]
                vain = (rows.stop - last.start) * most - int(self.counts[last.start : rows.stop].sum())
                if count <= most and vain <= WASTE * len(self.counts) * self.counts.mean() / 4:
                    blocks[-1] = slice(last.start, rows.stop), most
                    continue
            blocks.append((rows, count))
        return blocks

    def _pieces(self, n: int) -> list[slice]:
        height = max(64, min(8192, NUMPY_NUMBERS // (1 + len(self.table) + len(self.products))))
        return [slice(start, start + height) for start in range(0, n, height)]

    def _sides(self, lines: AnyArray) -> tuple[AnyArray, AnyArray]:
        n_left, n_right = self.shape
        return lines[self.left : self.left + n_left], lines[self.right : self.right + n_right]

    def _tables(self) -> list[slice]:
        ends = 1 + np.cumsum(self.sizes)
        return [slice(end - size, end) for size, end in zip(self.sizes.tolist(), ends.tolist(), strict=True)]

    def _lines(self, Y: FloatArray) -> FloatArray:
        made = 1 + len(self.table)
        lines = np.empty((made + len(self.products), Y.shape[1]))
        lines[0] = 1.0
        for y, (rate, first), rows in zip(Y, self.axes, self._tables(), strict=True):
            _fill_hermite(y, rate, first, self.table[rows.start - 1 : rows.stop - 1], lines[rows])
        for number, (one, other) in enumerate(self.products.tolist(), made):
            np.multiply(lines[one], lines[other], out=lines[number])
        return lines

    def _by_sides(self, lines: FloatArray, coefficients: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of left' C right by the lines of both sides."""
        left, right = self._sides(lines)
        by_left, by_right = np.empty_like(left), np.zeros_like(right)
        for rows, count in self._blocks:
            by_left[rows] = coefficients[rows, :count] @ right[:count]
            by_right[:count] += coefficients[rows, :count].T @ left[rows]
        return by_left, by_right

    def _backwards(self, Y: FloatArray, lines: FloatArray, by_left: FloatArray, by_right: FloatArray) -> FloatArray:
        """Return the gradient by the coordinates, given derivatives by the lines of both sides."""
        left, right = self._sides(lines)
        slopes = np.zeros_like(Y)
        for side, by_side, pairs in zip((left, right), (by_left, by_right), self._derivatives, strict=True):
            for a, (numbers, partners, factors) in pairs.items():
                slopes[a] = factors @ (by_side[numbers] * side[partners])
        slopes -= self.axes[:, :1] * Y * np.einsum("ni,ni->i", by_left, left)
        return slopes

    @cached_property
    def _derivatives(self) -> list[dict[int, tuple[IntArray, IntArray, FloatArray]]]:
        """For each side and coordinate: numbers of lines, those that their derivatives are made of, and the factors.

        The term with r y is left out, since it is the same for all.
        """
        number = {pair: 1 + len(self.table) + e for e, pair in enumerate(map(tuple, self.products.tolist()))}
        partners = self._partners_in_tables()
        for one, other in number:
            found = {a: (number[partner, other], factor) for a, (partner, factor) in partners[one].items()}
            found |= {a: (number[one, partner], factor) for a, (partner, factor) in partners[other].items()}
            partners.append(found)
        sides = []
        for first, size in zip((self.left, self.right), self.shape, strict=True):
            pairs: dict[int, list[tuple[int, int, float]]] = {}
            for i in range(size):
                for a, (partner, factor) in partners[first + i].items():
                    pairs.setdefault(a, []).append((i, partner - first, factor))
            sides.append({a: _columns(of_axis) for a, of_axis in pairs.items()})
        return sides

    def _partners_in_tables(self) -> list[dict[int, tuple[int, float]]]:
        """Return for each line of the tables its coordinate, the line its derivative is made of, and the factor."""
        partners: list[dict[int, tuple[int, float]]] = [{}]
        for a, rows in enumerate(self._tables()):
            for n, line in enumerate(range(rows.start, rows.stop)):
                gamma = float(self.table[line - 1, 2])
                partners.append({a: (line - 1, gamma)} if n else {})
        return partners


def _columns(pairs: list[tuple[int, int, float]]) -> tuple[IntArray, IntArray, FloatArray]:
    numbers, partners, factors = map(np.array, zip(*pairs, strict=True))
    return numbers, partners, factors


def _fill_hermite(y: FloatArray, rate: float, first: float, table: FloatArray, out: FloatArray) -> None:
    with np.errstate(over="ignore"):
        np.exp(-0.5 * rate * y * y, out=out[0])
    out[0] *= first
    for n in range(1, len(out)):
        np.multiply(table[n, 0] * y, out[n - 1], out=out[n])
        if n > 1:
            out[n] -= table[n, 1] * out[n - 2]


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
