"""Rows in blocks: what an algorithm that is linear in them may ask, and rows in arrays and sparse tables."""
# SPDX-License-Identifier: MIT

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, Self, TypeGuard, TypeVar

import numpy as np
from scipy import sparse

from fairpca._utils.threads import BLOCK_NUMBERS, MEMORY_NUMBERS, N_SUMS, run_all, run_sequences, single_threaded_blas
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray

PILOT_ROWS = 4096
"""Rows of a pilot sample: enough to see how a table is spread, and few enough to compare all pairs in milliseconds."""


def is_sparse(table: Any) -> TypeGuard[Any]:
    """Return whether this is a sparse array or matrix of scipy, of any format.

    Parameters
    ----------
    table : object
        Anything.
    """
    return bool(sparse.issparse(table))


def is_dask(table: Any) -> bool:
    """Return whether this is an array, a frame or a series of Dask.

    Parameters
    ----------
    table : object
        Anything. Where Dask was not imported nothing can be its table, so it is not imported here either.
    """
    arrays, frames = sys.modules.get("dask.array"), sys.modules.get("dask.dataframe")
    return bool(
        (arrays and isinstance(table, arrays.Array))
        or (frames and isinstance(table, (frames.DataFrame, frames.Series)))
    )


def is_dask_frame(table: Any) -> bool:
    """Return whether this is a `dask.dataframe.DataFrame`."""
    frames = sys.modules.get("dask.dataframe")
    return bool(frames and isinstance(table, frames.DataFrame))


def sum_of_block(X: AnyArray, attached: AnyArray) -> FloatArray:
    """Return the sum of the rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    """
    return X.sum(axis=0, dtype=np.float64)


def strata_of(attached: AnyArray) -> IntArray:
    """Return the stratum of each row, the first number attached to it; negative where it is in none.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    """
    codes = attached[:, 0]
    return codes if codes.dtype.kind == "i" else codes.astype(np.intp)


@dataclass(frozen=True, eq=False)
class StratifiedDraw:
    """Random rows of a table, every stratum with a fair share.

    Attributes
    ----------
    indices : ndarray of shape (k,)
        Row numbers, increasing.
    strata : ndarray of shape (k,)
        The stratum of each.
    counts : ndarray of shape (n_strata,)
        Rows of each stratum in the table.
    """

    indices: IntArray
    strata: IntArray
    counts: IntArray

    @classmethod
    def among(cls, codes: IntArray, size: int, generator: np.random.Generator) -> "StratifiedDraw":
        """Draw about so many rows.

        Parameters
        ----------
        codes : ndarray of shape (n,)
            The stratum of each row; those with a negative one are not drawn.
        size : int
            Rows to draw in all.
        generator : numpy.random.Generator
            Draws them.
        """
        counts = np.bincount(codes[codes >= 0])
        wanted = shares(counts, size)
        chosen = [
            np.flatnonzero(codes == code)[generator.choice(count, number, replace=False)]
            for code, (count, number) in enumerate(zip(counts, wanted, strict=True))
        ]
        indices, strata = np.concatenate(chosen), np.repeat(np.arange(len(counts)), wanted)
        order = np.argsort(indices)
        return cls(indices[order], strata[order], counts)

    @property
    def drawn(self) -> IntArray:
        """Rows of each stratum in the draw."""
        return np.bincount(self.strata, minlength=len(self.counts))


def stratified_parts(strata: IntArray, n_parts: int, are_split: BoolArray) -> list[IntArray]:
    """Return the rows of each of some parts, every part with its share of every stratum.

    Parameters
    ----------
    strata : ndarray of shape (k,)
        Number of the stratum of each row; the rows are in random order.
    n_parts : int
        Number of parts.
    are_split : ndarray of bool of shape (n_strata,)
        Whether the rows of a stratum are split; otherwise every part has all of them.
    """
    by_stratum = [np.flatnonzero(strata == s) for s in range(len(are_split))]
    return [
        np.concatenate(
            [rows[part::n_parts] if is_split else rows for rows, is_split in zip(by_stratum, are_split, strict=True)]
        )
        for part in range(n_parts)
    ]


def shares(counts: IntArray, size: int) -> IntArray:
    """Return how many rows to draw from each stratum: half of the sample is shared equally, half by size.

    Parameters
    ----------
    counts : ndarray of shape (n_strata,)
        Rows of each stratum.
    size : int
        Rows to draw in all.

    Examples
    --------
    >>> shares(np.array([10, 990]), 100)
    array([10, 75])
    """
    equal = size / (2 * max(1, int(np.count_nonzero(counts))))
    proportional = size / 2 * counts / max(1, int(counts.sum()))
    return np.asarray(np.minimum(counts, np.ceil(equal + proportional)).astype(np.int64))


class Addable(Protocol):
    """Anything with a sum."""

    def __add__(self, other: Self, /) -> Self: ...


@dataclass(frozen=True, eq=False)
class FieldSums:
    """What blocks give whose sum has the sums of their fields."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


Partial = TypeVar("Partial", bound=Addable)

Transform = Callable[[AnyArray], AnyArray]
"""From some rows to as many others."""


class Rows(Protocol):
    """A table of n rows and p columns, with k numbers attached to each row, of which only sums over blocks are seen.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    """

    n_rows: int
    n_columns: int

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over the blocks of ``function(X_block, attached_block, *arguments)``.

        The blocks are consecutive rows, of the dtype that the table has. The order of the additions is fixed, so that
        the same table and blocks give the same bits. Function and arguments may travel to other processes.

        Parameters
        ----------
        function : callable
            A function at the top of a module: takes arrays of shape (n_block, p) and (n_block, k), returns something
            that can be added.
        *arguments : Any
            The same for all blocks.
        """

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached to them by increasing row number, in memory.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        transform : callable, default=None
            Applied to some rows at a time where they are; its results are returned instead of the rows.
        """

    def taken(self, indices: AnyArray) -> "RowsInMemory":
        """Return rows by increasing row number, with what is attached to them, in memory, as compact as they came.

        Parameters
        ----------
        indices : ndarray of shape (k,)
            Row numbers.
        """

    def mapped(self, transform: Transform) -> "RowsInMemory":
        """Return all rows as a transform makes them, with what is attached to them, in memory.

        Parameters
        ----------
        transform : callable
            Applied to some rows at a time where they are; its results should be small.
        """

    def attached_column(self, position: int) -> AnyArray:
        """Return one of the numbers attached to every row, in memory.

        Parameters
        ----------
        position : int
            Which.
        """

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose about `size` random rows, every stratum with a fair share.

        The first number attached to a row is its stratum; rows with a negative one are not chosen.
        """

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error that says where the first number is that is not finite, if there is one.

        Parameters
        ----------
        column_names : ndarray of shape (p,), default=None
            Names of the columns; without them the error has the number.
        """


class RowsInMemory(Rows, Protocol):
    """Rows whose attached numbers, too, are in memory.

    Attributes
    ----------
    attached : ndarray of shape (n, k)
        What is attached to each row.
    """

    attached: AnyArray


class ArrayRows:
    """Rows of an array, or of a sparse table of which a block at a time is made dense: no copy of the whole is made.

    The blocks of a sparse table are those of the same table in an array, so that every sum has the bits that it has
    there. Products of sparse blocks would be twice as fast where 5 % of the entries are stored, but round otherwise,
    and columns whose mean is large against their spread would lose digits.

    Parameters
    ----------
    X : ndarray, or compressed sparse rows, of shape (n, p)
        The rows, float32 or float64, for example a `numpy.memmap`; of sparse tables see `compressed`.
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
        """Rows of a block; of wide tables more than the cache holds, since what is summed may be wide as well.

        Products of the columns of few rows would take as long to add up as to make: a block of a wide table has 2,048
        rows, or as many as 32 MB hold, but 256 at least.
        """
        height = BLOCK_NUMBERS // self.n_columns
        return height if height >= 256 else max(256, min(2048, 16 * BLOCK_NUMBERS // self.n_columns))

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over blocks, see `Rows.total`; runs in threads."""
        height = self._height
        starts = range(0, self.n_rows, height)
        # What is summed may be a matrix of all columns by all columns; two threads always have work.
        n_sums = min(N_SUMS, len(starts), max(2, 2 * MEMORY_NUMBERS // self.n_columns**2))
        sums: list[Any] = [None] * n_sums

        def add_block(sequence: int, start: int) -> None:
            block = slice(start, start + height)
            term = function(dense(self._X, block), self.attached[block], *arguments)
            sums[sequence] = term if sums[sequence] is None else sums[sequence] + term

        # Neighbouring blocks in a sequence, so that a mapped file is read forwards.
        edges = [len(starts) * edge // n_sums for edge in range(n_sums + 1)]
        sequences = [
            [partial(add_block, sequence, start) for start in starts[first:last]]
            for sequence, (first, last) in enumerate(pairwise(edges))
        ]
        with single_threaded_blas():
            run_sequences(sequences)
        total: Partial = sums[0]
        for term in sums[1:]:
            total = total + term
        return total

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error where a number is not finite, see `Rows.check_finite`."""
        for start in range(0, self.n_rows, self._height):
            block = dense(self._X, slice(start, start + self._height))
            finite = np.isfinite(block)
            if not finite.all():
                row, column = np.argwhere(~finite)[0]
                name = column if column_names is None else repr(str(column_names[column]))
                raise ValueError(f"X has {block[row, column]} in row {start + row}, column {name}.")

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached, see `Rows.sample`."""
        if transform is None:
            return dense(self._X, indices), self.attached[indices]
        pieces = [indices[start : start + self._height] for start in range(0, len(indices), self._height)]
        return np.concatenate([transform(dense(self._X, piece)) for piece in pieces]), self.attached[indices]

    def taken(self, indices: AnyArray) -> Self:
        """Return some of the rows, see `Rows.taken`."""
        if len(indices) == self.n_rows:
            return self  # all of them, without a copy
        return type(self)(self._X[indices], self.attached[indices])

    def mapped(self, transform: Transform) -> "ArrayRows":
        """Return all rows as a transform makes them, see `Rows.mapped`; runs in threads."""
        height = self._height
        first = transform(dense(self._X, slice(0, height)))
        made = np.empty((self.n_rows, first.shape[1]), dtype=first.dtype)
        made[:height] = first

        def make_piece(start: int) -> None:
            made[start : start + height] = transform(dense(self._X, slice(start, start + height)))

        with single_threaded_blas():
            run_all([partial(make_piece, start) for start in range(height, self.n_rows, height)])
        return ArrayRows(made, self.attached)

    def attached_column(self, position: int) -> AnyArray:
        """Return one number attached to every row, see `Rows.attached_column`."""
        return self.attached[:, position]

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose random rows, see `Rows.stratified_draw`."""
        return StratifiedDraw.among(strata_of(self.attached), size, generator)


def compressed(X: Any, least_rows: int = 1) -> Any:
    """Return a checked table in compressed sparse rows: the table itself where it is one, so no copy.

    Parameters
    ----------
    X : sparse array or matrix of shape (n, p)
        What a user passed; it is left as it is. Its entries are those of ``X.toarray()``: numbers stored twice are
        added up, stored zeros are zeros.
    least_rows : int, default=1
        Rows that are needed.
    """
    if X.ndim != 2 or X.shape[0] < least_rows or X.shape[1] < 1:
        raise ValueError(
            f"X is a sparse table of shape {X.shape}; it must be (n_samples, n_features) with at least {least_rows} "
            f"sample{'s' if least_rows > 1 else ''} and 1 feature."
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X is a sparse table of dtype {X.dtype}, which is not a real number; use float64, float32, integers or "
            "booleans."
        )
    rows = X.tocsr()
    if rows.dtype.kind == "f" and rows.dtype.itemsize not in (4, 8):
        rows = rows.astype(np.float64)
    _check_finite(rows)
    return rows


def dense(X: Any, selection: Any = None) -> AnyArray:
    """Return rows as an array, which of a sparse table should be few: float32 if they are stored so, else float64.

    Parameters
    ----------
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    selection : slice, ndarray of int or ndarray of bool, default=None
        Which; all by default.
    """
    rows = X if selection is None else X[selection]
    if not is_sparse(X):
        return np.asarray(rows)
    # In the type that they are stored in first: numbers stored twice add up as in X.toarray().
    return rows.toarray().astype(np.float32 if X.dtype == np.float32 else np.float64, copy=False)


def n_distinct(X: Any) -> int:
    """Return how many rows of a sparse table differ.

    Parameters
    ----------
    X : compressed sparse rows of shape (n, p)
        Finite numbers.
    """
    rows = X.copy()
    rows.sum_duplicates()
    rows.eliminate_zeros()
    edges, columns, numbers = rows.indptr.tolist(), rows.indices, rows.data
    return len({(columns[a:b].tobytes(), numbers[a:b].tobytes()) for a, b in pairwise(edges)})


def _check_finite(rows: Any) -> None:
    for start in range(0, len(rows.data), BLOCK_NUMBERS):
        finite = np.isfinite(rows.data[start : start + BLOCK_NUMBERS])
        if not finite.all():
            place = start + int(finite.argmin())
            row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
            raise ValueError(
                f"X has {rows.data[place]} in row {row}, column {rows.indices[place]}; drop or impute rows that are "
                "not finite."
            )
