"""Rows in a Dask table: on a cluster, or streamed from files; summed, or turned into others lazily."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.rows._array import ArrayRows
from fairpca.rows._dask_blocks import (
    Blocks,
    Tasks,
    Work,
    attached_column_of_block,
    is_dask_frame,
    ranked_indices_of_block,
    rows_of_block,
    stratum_counts_of_block,
    total_of_block,
    tree_sum,
)
from fairpca.rows._dask_table import not_finite_of_block, number_dtype, refuse_first, refuse_not_finite
from fairpca.rows._protocol import Partial, StratifiedDraw, Transform, shares


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
            work = Tasks("arguments").call(partial(Work, function, arguments))
            tasks = Tasks(function.__name__)
            terms = [
                tasks.call(total_of_block, X[number], attached[number], work)
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
            tasks = Tasks(function.__name__)
            terms = [
                tasks.call(Work(function, arguments), X[number], attached[number])
                for number, arguments in enumerate(arguments_of_block)
                if arguments is not None
            ]
            return tree_sum(terms, f"sum_of_{function.__name__}")

        return self._blocks.run(build)

    def check_finite(self, column_names: AnyArray | None = None) -> None:
        """Raise an error that says where the first NaN or infinity is, in one pass."""
        blocks = [(number,) if rows else None for number, rows in enumerate(self.chunks)]
        refuse_first(self.total_by_block(not_finite_of_block, blocks), self.chunks, column_names)

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and what is attached, see `Rows.sample`; only these rows leave their blocks."""
        ends = np.cumsum(self.chunks)
        by_block = _split_by_block(np.sort(indices), ends)
        picked = self.total_by_block(rows_of_block, [(each, transform) if len(each) else None for each in by_block])
        return picked.X, picked.attached

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
        full = [number for number, rows in enumerate(self.chunks) if rows]
        found = self.total_by_block(stratum_counts_of_block, [() if rows else None for rows in self.chunks])
        counts = np.zeros((len(self.chunks), max(map(len, found))), dtype=np.int64)
        for number, each in zip(full, found, strict=True):
            counts[number, : len(each)] = each
        totals = counts.sum(axis=0)
        ranks = [
            _split_by_block(np.sort(generator.choice(ends[-1], count, replace=False)), ends)
            for ends, count in zip(np.cumsum(counts, axis=0).T, shares(totals, size), strict=True)
        ]
        starts = np.cumsum([0, *self.chunks[:-1]])
        arguments = [
            (start, list(of_block)) if any(map(len, of_block)) else None
            for start, *of_block in zip(starts, *ranks, strict=True)
        ]
        placed = np.concatenate(self.total_by_block(ranked_indices_of_block, arguments))
        return StratifiedDraw.of(placed[:, 0], placed[:, 1], totals)


def _split_by_block(numbers: IntArray, ends: IntArray) -> list[IntArray]:
    """Return increasing numbers by the block that each falls in, counted from its start."""
    starts = np.concatenate([[0], ends[:-1]])
    parts = np.split(numbers, np.searchsorted(numbers, ends[:-1]))
    return [part - start for part, start in zip(parts, starts, strict=True)]
