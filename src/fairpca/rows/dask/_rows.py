"""Rows in a Dask table: on a cluster, or streamed from files."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.rows._array import ArrayRows
from fairpca.rows._protocol import Partial, Transform
from fairpca.rows._strata import StratifiedDraw, shares
from fairpca.rows.dask._blocks import Blocks
from fairpca.rows.dask._finite import not_finite_of_block, refuse_first
from fairpca.rows.dask._tasks import Tasks, tree_sum
from fairpca.rows.dask._work import (
    Work,
    attached_column_of_block,
    ranked_indices_of_block,
    rows_of_block,
    stratum_counts_of_block,
    total_of_block,
)


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
