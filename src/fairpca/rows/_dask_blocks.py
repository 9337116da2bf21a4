"""Blocks of a Dask table, what runs on them, and where: in threads here, or on a cluster that may lose workers."""
# SPDX-License-Identifier: MIT

import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import add
from typing import Any
from uuid import uuid4

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.threads import BLOCK_NUMBERS, single_threaded_blas
from fairpca._utils.typing import AnyArray, IntArray
from fairpca.rows._protocol import Transform, strata_of

ALIGNMENT = 64
"""Bytes of a line of the cache. BLAS sums in another order when an array starts elsewhere."""


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


@dataclass(frozen=True, eq=False)
class Picked:
    """Rows picked from blocks; a sum holds those of the first, then those of the second.

    Attributes
    ----------
    X : ndarray of shape (n_picked, p)
        Rows.
    attached : ndarray of shape (n_picked, k)
        What is attached to them.
    """

    X: AnyArray
    attached: AnyArray

    def __add__(self, other: "Picked") -> "Picked":
        return Picked(np.concatenate([self.X, other.X]), np.concatenate([self.attached, other.attached]))


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


def rows_of_block(X: AnyArray, attached: AnyArray, indices: IntArray, transform: Transform | None) -> Picked:
    """Return some rows of a block.

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
    return Picked(rows if transform is None else transform(rows), attached[indices])


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


def stratum_counts_of_block(X: AnyArray, attached: AnyArray) -> list[IntArray]:
    """Return how many rows of each stratum a block has; a sum of such lists has one entry for each block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of int of shape (n_block, k)
        The stratum of each row in the first column.
    """
    codes = strata_of(attached)
    return [np.bincount(codes[codes >= 0])]


def ranked_indices_of_block(X: AnyArray, attached: AnyArray, start: int, ranks: list[IntArray]) -> list[IntArray]:
    """Return the numbers, in the table and of their stratum, of rows known by their rank among those of the stratum.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Not used.
    attached : ndarray of int of shape (n_block, k)
        The stratum of each row in the first column.
    start : int
        Number of the first row of the block in the table.
    ranks : list of ndarray
        For each stratum which of its rows in this block are wanted: 0 is the first.

    Returns
    -------
    placed : list of one ndarray of shape (n_wanted, 2)
        A sum of such lists has one entry for each block.
    """
    chosen = [start + np.flatnonzero(strata_of(attached) == code)[rank] for code, rank in enumerate(ranks)]
    numbers = np.repeat(np.arange(len(ranks)), [len(each) for each in chosen])
    return [np.column_stack([np.concatenate(chosen), numbers])]


def is_dask(table: Any) -> bool:
    """Return whether this is an array, a frame or a series of Dask.

    Parameters
    ----------
    table : object
        Anything. Where Dask was not imported nothing can be its table, so it is not imported here either.
    """
    return is_dask_array(table) or is_dask_frame(table) or is_dask_series(table)


def is_dask_array(table: Any) -> bool:
    """Return whether this is a `dask.array.Array`."""
    return _is_instance(table, "dask.array", "Array")


def is_dask_frame(table: Any) -> bool:
    """Return whether this is a `dask.dataframe.DataFrame`."""
    return _is_instance(table, "dask.dataframe", "DataFrame")


def is_dask_series(table: Any) -> bool:
    """Return whether this is a `dask.dataframe.Series`."""
    return _is_instance(table, "dask.dataframe", "Series")


def _is_instance(table: Any, module: str, name: str) -> bool:
    return module in sys.modules and isinstance(table, getattr(sys.modules[module], name))


class Tasks:
    """Delayed calls that share a name, which the dashboard of Dask shows; a number tells them apart.

    Parameters
    ----------
    name : str
        The name.
    """

    def __init__(self, name: str) -> None:
        self._name = f"fairpca_{name}-{uuid4().hex}"
        self._numbers = count()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return the result of a call, as a `dask.delayed.Delayed`.

        Parameters
        ----------
        function : callable
            Called where Dask chooses. It may hold data, in which Dask does not look for work of its own.
        *arguments : dask.delayed.Delayed
            Results of other tasks.
        """
        lazy = require("dask", "dask").delayed(function, pure=False, traverse=False)
        return lazy(*arguments, dask_key_name=(self._name, next(self._numbers)))


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
    additions = Tasks(name)
    while len(terms) > 1:
        groups = (terms[start : start + fan_in] for start in range(0, len(terms), fan_in))
        # Not as one list: Dask would optimize what is in a list on the spot.
        terms = [additions.call(add_terms, *group) for group in groups]
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
