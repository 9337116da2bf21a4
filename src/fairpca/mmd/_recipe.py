"""Features that are products of one-dimensional functions: their sums over rows without making them.

The compiled loops are used where they were built, numpy otherwise (see `compiled`): the results agree to rounding.
"""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

import numpy as np

from fairpca import compiled
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray

HERMITE, HARMONICS = 0, 1
"""Kinds of tables, see `Recipe`."""

SIDE = 4
"""Coefficients that the compiled loops read at a time."""

NUMPY_NUMBERS = 2**20
"""Numbers that numpy works on at a time, 8 MB, a share of the cache of all cores."""

WASTE = 0.1
"""Share of products that may be made in vain so that fewer and larger matrix products make them all."""


@dataclass(frozen=True, eq=False)
class Recipe:
    r"""How features of rows come about, as lines with one number for each row.

    The first line is 1; then come tables of functions of each coordinate y_a, `sizes[a]` lines each; then products of
    two earlier lines. A feature is the product of one of the left lines and one of the first `counts[i]` right lines.
    There are two kinds of tables. Hermite functions are

    .. math:: \psi_0 = f e^{-r y^2/2}, \quad \psi_n = \alpha_n y \psi_{n-1} - \beta_n \psi_{n-2}, \quad
              \psi_n' = \gamma_n \psi_{n-1} - r y \psi_n,

    and harmonics the pairs cos(k r y), sin(k r y), k = 0, 1, ..., whose derivatives have the factor gamma = k r.

    Attributes
    ----------
    kind : int
        `HERMITE` or `HARMONICS`.
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

    kind: int
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
        return self.kind, self.left, self.right, self.axes, self.table, *integers  # type: ignore[return-value]

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
            if self.kind == HERMITE:
                _fill_hermite(y, rate, first, self.table[rows.start - 1 : rows.stop - 1], lines[rows])
            else:
                _fill_harmonics(rate * y, lines[rows])
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
        if self.kind == HERMITE:
            slopes -= self.axes[:, :1] * Y * np.einsum("ni,ni->i", by_left, left)
        return slopes

    @cached_property
    def _derivatives(self) -> list[dict[int, tuple[IntArray, IntArray, FloatArray]]]:
        """For each side and coordinate: numbers of lines, those that their derivatives are made of, and the factors.

        The term with r y of Hermite functions is left out, since it is the same for all.
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
                if self.kind == HERMITE:
                    partners.append({a: (line - 1, gamma)} if n else {})
                else:
                    partners.append({a: (line - 1, gamma) if n % 2 else (line + 1, -gamma)})
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


def _fill_harmonics(angles: FloatArray, out: FloatArray) -> None:
    """Write cos(k t) and sin(k t), one line each.

    One cosine and one sine an angle, then e^(i k t) = 2 cos(t) e^(i (k - 1) t) - e^(i (k - 2) t): two operations on
    long rows for each k. Rounding errors grow like k^2, to 1e-12 at k = 100.
    """
    pairs = out.reshape(-1, 2, len(angles))
    pairs[0, 0], pairs[0, 1] = 1.0, 0.0
    np.cos(angles, out=pairs[1, 0])
    np.sin(angles, out=pairs[1, 1])
    twice = 2 * pairs[1, 0]
    for k in range(2, len(pairs)):
        np.multiply(pairs[k - 1], twice, out=pairs[k])
        pairs[k] -= pairs[k - 2]


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


def harmonics_table(rate: float, size: int) -> FloatArray:
    """Return gamma = k r for the pairs cos(k r y), sin(k r y), beside zeros, of shape (size, 3)."""
    table = np.zeros((size, 3))
    table[:, 2] = rate * (np.arange(size) // 2)
    return table


def concatenated(tables: Sequence[FloatArray]) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the tables of all coordinates one after the other, their sizes, and the first line of each."""
    sizes = np.array([len(table) for table in tables], dtype=np.int64)
    return np.vstack(tables), sizes, 1 + np.cumsum(sizes) - sizes
