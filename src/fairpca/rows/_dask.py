"""Rows in a Dask table: on a cluster that may lose workers, or streamed from files; summed, or mapped lazily."""
# SPDX-License-Identifier: MIT

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any
from uuid import uuid4

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.threads import BLOCK_NUMBERS, single_threaded_blas
from fairpca._utils.typing import AnyArray, IntArray
from fairpca.rows._rows import ArrayRows, Partial, StratifiedDraw, Transform, is_dask_frame, strata_of

ALIGNMENT = 64
"""Bytes of a line of the cache. BLAS sums in another order when an array starts elsewhere."""

_WAY_OUT = "drop or impute rows that are not finite."


@dataclass(frozen=True, eq=False)
class Work:
    """A function of rows and what is attached to them, with the arguments that come after these.

    Attributes
    ----------
    function : callable
        The function.
    arguments : tuple
        The arguments.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def __call__(self, X: AnyArray, attached: AnyArray) -> Any:
        return self.function(X, attached, *self.arguments)


def total_of_block(X: AnyArray, attached: AnyArray, work: Work) -> Any:
    """Return the sum of a function over pieces of a block that fit the cache, so that its temporaries stay small.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows, at least one.
    attached : ndarray of shape (n_block, k)
        What is attached to them.
    work : Work
        What to do with each piece.
    """
    # Pieces of an aligned block are aligned when their heights are multiples of ALIGNMENT.
    height = max(256, BLOCK_NUMBERS // X.shape[1] // ALIGNMENT * ALIGNMENT)
    pieces = (slice(start, start + height) for start in range(0, len(X), height))
    with single_threaded_blas():
        return reduce(add, (work(aligned(X[piece]), aligned(attached[piece])) for piece in pieces))


def aligned(array: AnyArray) -> AnyArray:
    """Return an array that starts at a line of the cache, so that a block that has travelled gives the same bits.

    Parameters
    ----------
    array : ndarray
        Returned as it is if it is aligned and contiguous.
    """
    if array.ctypes.data % ALIGNMENT == 0 and array.flags.c_contiguous:
        return array
    buffer = np.empty(array.nbytes + ALIGNMENT, dtype=np.uint8)
    start = -buffer.ctypes.data % ALIGNMENT
    copy = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def add_terms(*terms: Any) -> Any:
    """Return the sum of terms from left to right, as a task that waits for each."""
    return reduce(add, terms)


def rows_of_block(
    X: AnyArray, attached: AnyArray, indices: IntArray, transform: Transform | None
) -> list[tuple[AnyArray, AnyArray]]:
    """Return some rows of a block; a sum of such lists has one entry for each block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        What is attached to them.
    indices : ndarray of shape (k,)
        Row numbers in the block.
    transform : callable or None
        Applied to them.
    """
    rows = X[indices]
    return [(rows if transform is None else transform(rows), attached[indices])]


def attached_column_of_block(X: AnyArray, attached: AnyArray, position: int) -> list[AnyArray]:
    """Return one number attached to each row; a sum of such lists has one entry for each block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of shape (n_block, k)
        What is attached to the rows.
    position : int
        Which number.
    """
    return [attached[:, position]]


def task(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a call, as a `dask.delayed.Delayed`.

    Parameters
    ----------
    name : str
        What the dashboard of Dask shows.
    function : callable
        Called where Dask chooses. It may hold data, in which Dask does not look for work of its own.
    *arguments : dask.delayed.Delayed
        Results of other tasks.
    """
    lazy = require("dask", "dask").delayed(function, pure=False, traverse=False)
    return lazy(*arguments, dask_key_name=f"fairpca_{name}-{uuid4().hex}")


def tree_sum(terms: list[Any], name: str, fan_in: int = 32) -> Any:
    """Return the sum of delayed terms, neighbours first: a tree, so that no process holds all terms.

    Parameters
    ----------
    terms : list of dask.delayed.Delayed
        At least one.
    name : str
        Name of the tasks.
    fan_in : int, default=32
        Terms added in one task. Fixed, so that the same chunks give the same bits.
    """
    while len(terms) > 1:
        groups = (terms[start : start + fan_in] for start in range(0, len(terms), fan_in))
        # Not as one list: Dask would optimize what is in a list on the spot.
        terms = [task(name, add_terms, *group) for group in groups]
    return terms[0]


class Blocks:
    """The blocks of some arrays with equal row chunks.

    On a cluster they are loaded once, and loading starts here; elsewhere nothing is kept, so that each pass reads them
    anew and a table may be larger than memory.

    Parameters
    ----------
    *arrays : dask.array.Array
        Each of shape (n, anything), with one column chunk.

    Attributes
    ----------
    attempts : int
        How often a pass is tried when workers die faster than the scheduler can replace what they held.
    """

    attempts = 3

    def __init__(self, *arrays: Any) -> None:
        self._arrays = arrays
        self._get = require("dask.base", "dask").get_scheduler(collections=arrays)
        self._client = _client_behind(self._get)
        self._loads = 0
        self._load()

    def run(self, build: Callable[..., Any]) -> Any:
        """Return the result of tasks on the blocks.

        A scheduler recomputes what a dead worker held, so that this costs time only. It gives up on a block when
        several workers died over it, and knows no blocks any more when it was started again: then they are loaded
        again.

        Parameters
        ----------
        build : callable
            Given for each array the list of its blocks, each a `dask.delayed.Delayed`, returns another. It is called
            for each attempt and should choose new names each time.
        """
        for _ in range(self.attempts - 1):
            with suppress(*_lost_data(self._client)):
                return self._run_once(build)
            self._load()
        return self._run_once(build)

    def _run_once(self, build: Callable[..., Any]) -> Any:
        wanted = build(*self._delayed)
        # Threads of one process share the setting: it is made once, here, for all tasks that run in this process.
        with reachable(self._client), single_threaded_blas():
            # Blocks that are loaded have no tasks to leave out or to join.
            return wanted.compute(scheduler=self._get, optimize_graph=not self._client)

    def _load(self) -> None:
        """Load the blocks, under a new name: one that the scheduler has given up stays so while anyone knows it."""
        self._delayed: list[list[Any]] = []
        if self._loads:
            # The traceback of the error refers to blocks, and is part of a cycle.
            gc.collect()
        self._loads += 1
        base = require("dask.base", "dask")
        names = [f"fairpca_block-{base.tokenize(each.name, self._loads)}" for each in self._arrays]
        arrays = [
            each.map_blocks(aligned, dtype=each.dtype, name=name)
            for each, name in zip(self._arrays, names, strict=True)
        ]
        if self._client:
            with reachable(self._client):
                loaded = self._client.persist(arrays)
        else:
            loaded = base.optimize(*arrays)
        self._delayed = [array.to_delayed(optimize_graph=False)[:, 0].tolist() for array in loaded]


@contextmanager
def reachable(client: Any) -> Iterator[None]:
    """Say in one sentence what to do when the scheduler cannot be reached.

    Parameters
    ----------
    client : distributed.Client or None
        The client whose status says whether an error comes from there.
    """
    try:
        if client and client.status != "running":
            raise OSError(f"the client is {client.status}")
        yield
    except Exception as error:
        if client and client.status != "running":
            raise ConnectionError(
                f"the Dask scheduler cannot be reached (the client is {client.status}): check that it runs, connect "
                "with distributed.Client(address) and try again."
            ) from error
        raise


def compute(*collections: Any) -> tuple[Any, ...]:
    """Return the values of collections, computed where Dask would.

    Parameters
    ----------
    *collections : dask collections
        Computed together, so that what they share is computed once.
    """
    base = require("dask.base", "dask")
    with reachable(_client_behind(base.get_scheduler(collections=collections))):
        return base.compute(*collections)


def _client_behind(get: Callable[..., Any]) -> Any:
    """Return the client whose method this is, or None."""
    owner = getattr(get, "__self__", None)
    distributed = sys.modules.get("distributed")
    return owner if distributed and isinstance(owner, distributed.Client) else None


def _lost_data(client: Any) -> tuple[type[Exception], ...]:
    """Return the exceptions that say that blocks or workers of a cluster are gone; none without a cluster."""
    return (CancelledError, require("distributed.scheduler", "dask").KilledWorker) if client else ()


def _first_not_finite(X: AnyArray) -> tuple[int, int, float] | None:
    """Return row, column and value of the first number that is not finite, if there is one."""
    height = max(256, BLOCK_NUMBERS // X.shape[1])
    for start in range(0, len(X), height):
        finite = np.isfinite(X[start : start + height])
        if not finite.all():
            row, column = divmod(int(finite.argmin()), X.shape[1])
            return start + row, column, float(X[start + row, column])
    return None


def not_finite_of_block(X: AnyArray, attached: AnyArray, block: int) -> list[tuple[int, int, int, float]]:
    """Return block, row, column and value of its first number that is not finite; of a sum the first is the first.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Not used.
    block : int
        Number of the block.
    """
    first = _first_not_finite(X)
    return [] if first is None else [(block, *first)]


def _named(column: int, names: Sequence[str] | AnyArray | None) -> str:
    return str(column) if names is None else repr(str(names[column]))


def refuse_not_finite(X: AnyArray, block: int, names: Sequence[str] | AnyArray | None = None) -> None:
    """Raise an error that says where the first NaN or infinity of a block is, if there is one.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    block : int
        Number of the block.
    names : sequence of p str, default=None
        Names of the columns; without them the error has the number.
    """
    first = _first_not_finite(X)
    if first is not None:
        row, column, value = first
        raise ValueError(
            f"X has {value} in block {block}, column {_named(column, names)}, first in row {row} of the block; "
            f"{_WAY_OUT}"
        )


def check_table(X: Any) -> None:
    """Refuse what has not rows and columns; nothing is computed.

    Parameters
    ----------
    X : Dask array, frame or series
        What a user passed.
    """
    if X.ndim != 2:
        one_column = "X.to_frame()" if hasattr(X, "to_frame") else "X[:, None]"
        raise ValueError(
            f"X has {X.ndim} dimension{'s' if X.ndim != 1 else ''}; it must be a table of shape (n_samples, "
            f"n_features). One column of features is {one_column}."
        )
    if X.shape[1] == 0:
        raise ValueError("X has no columns; it must be a table with at least one.")


def header(X: Any) -> Any:
    """Return a table in memory with the columns of a Dask table and no rows; nothing is computed.

    Names and number of columns are checked on it by the rules that hold for tables in memory.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.

    Returns
    -------
    empty : ndarray or pandas.DataFrame of shape (0, p)
        With names if `X` is a frame.
    """
    check_table(X)
    if is_dask_frame(X):
        return require("pandas", "dask").DataFrame(columns=X.columns)
    return np.empty((0, X.shape[1]))


def number_blocks(X: Any) -> Any:
    """Return the rows as a Dask array with one column chunk and known row chunks, float32 or float64.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Numbers; integers and booleans become float64. Whether they are finite is not checked here, see
        `Rows.check_finite`.
    """
    check_table(X)
    dtype = number_dtype(X)
    if is_dask_frame(X):
        X = X.astype(dtype).to_dask_array()
    X = X.rechunk({1: -1})
    rows = X.map_blocks(partial(np.asarray, dtype=dtype), dtype=dtype, chunks=(_heights(X), X.chunks[1]))
    if rows.shape[0] == 0:
        raise ValueError("X has no rows.")
    return rows


def _heights(X: Any) -> tuple[int, ...]:
    """Return the rows of each block, counted where they are unknown.

    Of whole blocks: when fewer columns of a Parquet file are read, Dask may make fewer and larger blocks.
    """
    if not any(np.isnan(X.chunks[0])):
        return X.chunks[0]
    return compute(*map(require("dask", "dask").delayed(len), X.to_delayed()[:, 0]))


def number_dtype(X: Any) -> "np.dtype[Any]":
    """Return float32 if all columns are, else float64.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Rows; columns that hold no numbers are refused.
    """
    kinds = list(X.dtypes) if is_dask_frame(X) else [X.dtype]
    names = X.columns.tolist() if is_dask_frame(X) else []
    other = [position for position, kind in enumerate(kinds) if getattr(kind, "kind", "O") not in "fiub"]
    if other and names:
        listed = ", ".join(f"{names[position]!r} ({kinds[position]})" for position in other)
        raise ValueError(f"X has columns that are not numbers: {listed}; encode them first, for example one-hot.")
    if other:
        raise ValueError(
            f"X has dtype {X.dtype}, which is not a number; encode its columns first, for example one-hot."
        )
    return np.dtype(np.float32 if all(kind == np.float32 for kind in kinds) else np.float64)


def map_rows_lazily(X: Any, transform: Transform, names: Sequence[str] | AnyArray) -> Any:
    """Return what becomes of the rows of a Dask table, of the kind and with the row chunks that it has.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.
    transform : callable
        From rows, an array of shape (n_block, p), to as many of shape (n_block, k).
    names : sequence of k str
        Columns of the result if `X` is a frame; an array has no names.

    Returns
    -------
    Z : dask.array.Array or dask.dataframe.DataFrame of shape (n, k)
        float32 if `X` is, else float64. Nothing is computed; a block with a number that is not finite raises an error
        when it is.
    """
    dtype = number_dtype(X)
    if is_dask_frame(X):
        return X.map_partitions(partial(transform_partition, transform=transform, names=list(names), dtype=dtype))
    chunks = (X.chunks[0], (len(names),))
    work = partial(transform_block, transform=transform, dtype=dtype)
    return X.rechunk({1: -1}).map_blocks(work, dtype=dtype, chunks=chunks)


def transform_block(X: AnyArray, transform: Transform, dtype: "np.dtype[Any]", block_info: Any = None) -> AnyArray:
    """Return what becomes of the rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    transform : callable
        What to do.
    dtype : dtype
        Type of rows and result.
    block_info : dict, default=None
        Where the block is, from Dask; None while Dask tries the function on rows of its own.
    """
    Z = transform(X.astype(dtype, copy=False)).astype(dtype, copy=False)
    if block_info and not np.isfinite(Z).all():
        refuse_not_finite(X, block_info[0]["chunk-location"][0])
    return Z


def transform_partition(
    frame: Any, transform: Transform, names: list[str], dtype: "np.dtype[Any]", partition_info: Any = None
) -> Any:
    """Return what becomes of the rows of a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows.
    transform : callable
        What to do.
    names : list of str
        Columns of the result.
    dtype : dtype
        Type of rows and result.
    partition_info : dict, default=None
        Which partition this is, from Dask; None while Dask tries the function on rows of its own.
    """
    X = frame.to_numpy(dtype=dtype, na_value=np.nan)
    Z = transform(X).astype(dtype, copy=False)
    if partition_info and not np.isfinite(Z).all():
        refuse_not_finite(X, partition_info["number"], frame.columns)
    return type(frame)(Z, index=frame.index, columns=names)


class DaskRows:
    """Rows of a Dask array of shape (n, p), float32 or float64.

    Parameters
    ----------
    X : dask.array.Array of shape (n, p)
        Rows, with known row chunks.
    attached : dask.array.Array of shape (n, k)
        What else is known of each row, with the same row chunks.

    Attributes
    ----------
    n_rows, n_columns : int
        n and p.
    chunks : tuple of int
        Rows of each block.

    Notes
    -----
    With a `distributed.Client` the blocks are loaded into the workers once, and a worker that dies costs time only.
    Without one every pass reads them anew, in threads: a Parquet file may be larger than memory. Each block costs the
    scheduler a few milliseconds a pass: blocks of 10 to 100 MB are a good choice.
    """

    def __init__(self, X: Any, attached: Any) -> None:
        if X.chunks[0] != attached.chunks[0]:
            raise ValueError(f"X has the row chunks {X.chunks[0]} but attached has {attached.chunks[0]}; rechunk one.")
        self.n_rows, self.n_columns = X.shape
        self.chunks: tuple[int, ...] = X.chunks[0]
        self._blocks = Blocks(X.rechunk({1: -1}), attached.rechunk({1: -1}))

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over blocks, see `Rows.total`; one task for each block, then a tree of additions."""

        def build(X: list[Any], attached: list[Any]) -> Any:
            # The work is the result of a task, so that it travels to a process once.
            work = task("arguments", partial(Work, function, arguments))
            terms = [
                task(function.__name__, total_of_block, X[number], attached[number], work)
                for number, rows in enumerate(self.chunks)
                if rows
            ]
            return tree_sum(terms, f"sum_of_{function.__name__}")

        return self._blocks.run(build)

    def total_by_block(
        self, function: Callable[..., Partial], arguments_of_block: Sequence[tuple[Any, ...] | None]
    ) -> Partial:
        """Return the sum over whole blocks of a function with arguments that differ from block to block.

        Parameters
        ----------
        function : callable
            A function at the top of a module: takes arrays of shape (n_block, p) and (n_block, k) and the arguments,
            returns something that can be added.
        arguments_of_block : sequence of tuple or None
            The arguments for each block; a block with None is left out.
        """

        def build(X: list[Any], attached: list[Any]) -> Any:
            terms = [
                task(function.__name__, Work(function, arguments), X[number], attached[number])
                for number, arguments in enumerate(arguments_of_block)
                if arguments is not None
            ]
            return tree_sum(terms, f"sum_of_{function.__name__}")

        return self._blocks.run(build)

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error that says where the first NaN or infinity is, in one pass."""
        blocks = [(number,) if rows else None for number, rows in enumerate(self.chunks)]
        found = self.total_by_block(not_finite_of_block, blocks)
        if found:
            block, row, column, value = found[0]
            start = sum(self.chunks[:block])
            raise ValueError(
                f"X has {value} in block {block} (rows {start} to {start + self.chunks[block] - 1}), column "
                f"{_named(column, column_names)}, first in row {start + row}; {_WAY_OUT}"
            )

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached, see `Rows.sample`; only these rows leave their blocks."""
        starts, chosen = np.cumsum([0, *self.chunks[:-1]]), np.sort(indices)
        parts = np.split(chosen, np.searchsorted(chosen, starts[1:]))
        by_block = [(part - start, transform) if len(part) else None for part, start in zip(parts, starts, strict=True)]
        picked, attached = zip(*self.total_by_block(rows_of_block, by_block), strict=True)
        return np.concatenate(picked), np.concatenate(attached)

    def taken(self, indices: AnyArray) -> ArrayRows:
        """Return rows in memory, see `Rows.taken`."""
        return ArrayRows(*self.sample(indices))

    def mapped(self, transform: Transform) -> ArrayRows:
        """Return all rows as a transform makes them, see `Rows.mapped`; only its results leave their blocks."""
        return ArrayRows(*self.sample(np.arange(self.n_rows), transform))

    def attached_column(self, position: int) -> AnyArray:
        """Return one number attached to every row, see `Rows.attached_column`."""
        blocks = [(position,) if rows else None for rows in self.chunks]
        return np.concatenate(self.total_by_block(attached_column_of_block, blocks))

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose random rows, see `Rows.stratified_draw`; the same rows for any chunks."""
        return StratifiedDraw.among(strata_of(self.attached_column(0)[:, None]), size, generator)
