"""Rows in an array, in memory or mapped from a file."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from fairpca._utils.threads import LANES, run_all, run_lanes, single_threaded_blas
from fairpca._utils.typing import AnyArray
from fairpca.rows._protocol import Partial, Transform
from fairpca.rows._strata import StratifiedDraw, shares, strata_of

BLOCK_NUMBERS = 2**18
"""Numbers in a block: 2 MB in float64, a share of the cache of one core."""

WIDE, WIDE_BLOCK_NUMBERS = 1024, 2**22
"""Columns of a table, and rows of its blocks, from which on products of columns take longer than a block takes to read,
and numbers in such a block: 32 MB."""

MOST_SUMMED = 2**26
"""Numbers that partial sums may take, 512 MB, as long as two threads have work."""


class ArrayRows:
    """Rows of an array of shape (n, p), float32 or float64, used as they are: no copy of the whole is made.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The rows, for example a `numpy.memmap`.
    attached : ndarray of shape (n, k)
        What else is known of each row.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    attached : ndarray of shape (n, k)
        As given.
    """

    def __init__(self, X: AnyArray, attached: AnyArray) -> None:
        self._X = X
        self.attached = attached
        self.n_rows, self.n_columns = X.shape

    @property
    def _height(self) -> int:
        """Rows of a block; of wide tables more than the cache holds, since what is summed may be wide as well."""
        if self.n_columns <= WIDE:
            return BLOCK_NUMBERS // self.n_columns
        return max(256, min(2 * WIDE, WIDE_BLOCK_NUMBERS // self.n_columns))

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over blocks, see `Rows.total`; runs in threads."""
        height = self._height
        starts = range(0, self.n_rows, height)
        # What is summed may be a matrix of all columns by all columns, one for each lane.
        n_lanes = min(LANES, len(starts), max(2, MOST_SUMMED // self.n_columns**2))
        sums: list[Any] = [None] * n_lanes

        def add_block(lane: int, start: int) -> None:
            block = slice(start, start + height)
            term = function(self._block(block), self.attached[block], *arguments)
            sums[lane] = term if sums[lane] is None else sums[lane] + term

        # Neighbouring blocks in a lane, so that a mapped file is read forwards.
        edges = [len(starts) * edge // n_lanes for edge in range(n_lanes + 1)]
        lanes = [
            [partial(add_block, lane, start) for start in starts[first:last]]
            for lane, (first, last) in enumerate(pairwise(edges))
        ]
        with single_threaded_blas():
            run_lanes(lanes)
        total: Partial = sums[0]
        for term in sums[1:]:
            total = total + term
        return total

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error where a number is not finite, see `Rows.check_finite`."""
        for start in range(0, self.n_rows, self._height):
            block = self._block(slice(start, start + self._height))
            finite = np.isfinite(block)
            if not finite.all():
                row, column = np.argwhere(~finite)[0]
                name = column if column_names is None else repr(str(column_names[column]))
                raise ValueError(f"X has {block[row, column]} in row {start + row}, column {name}.")

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached, see `Rows.sample`."""
        if transform is None:
            return self._block(indices), self.attached[indices]
        pieces = [indices[start : start + self._height] for start in range(0, len(indices), self._height)]
        return np.concatenate([transform(self._block(piece)) for piece in pieces]), self.attached[indices]

    def taken(self, indices: AnyArray) -> Self:
        """Return some of the rows, see `Rows.taken`."""
        if len(indices) == self.n_rows:
            return self  # all of them, without a copy
        return type(self)(self._X[indices], self.attached[indices])

    def mapped(self, transform: Transform) -> "ArrayRows":
        """Return all rows as a transform makes them, see `Rows.mapped`; runs in threads."""
        height = self._height
        first = transform(self._block(slice(0, height)))
        made = np.empty((self.n_rows, first.shape[1]), dtype=first.dtype)
        made[:height] = first

        def make_piece(start: int) -> None:
            made[start : start + height] = transform(self._block(slice(start, start + height)))

        with single_threaded_blas():
            run_all([partial(make_piece, start) for start in range(height, self.n_rows, height)])
        return ArrayRows(made, self.attached)

    def attached_column(self, position: int) -> AnyArray:
        """Return one number attached to every row, see `Rows.attached_column`."""
        return self.attached[:, position]

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose random rows, see `Rows.stratified_draw`."""
        codes = strata_of(self.attached)
        counts = np.bincount(codes[codes >= 0])
        wanted = shares(counts, size)
        chosen = [
            np.flatnonzero(codes == code)[generator.choice(count, number, replace=False)]
            for code, (count, number) in enumerate(zip(counts, wanted, strict=True))
        ]
        return StratifiedDraw.of(np.concatenate(chosen), np.repeat(np.arange(len(counts)), wanted), counts)

    def _block(self, selection: Any) -> AnyArray:
        """Return some of the rows as an array."""
        return np.asarray(self._X[selection])
