"""Projected rows as a file, written as they come."""
# SPDX-License-Identifier: MIT

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.checks import check_name
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray, BoolArray
from fairpca._utils.warn import warn_user
from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._arrow import arrow
from fairpca.tables._cells import plain
from fairpca.tables._encoder import (
    UNKNOWN,
    EncodedRows,
    TableEncoder,
    check_complete,
    tell_of_unknown,
)
from fairpca.tables._file import TableFile
from fairpca.tables._options import check_column
from fairpca.tables._sink import TableSink, check_output
from fairpca.tables._survey import Progress

ROW = "row"
"""Name of the column of row numbers."""


@dataclass(frozen=True)
class WrittenRows:
    """What was written.

    Attributes
    ----------
    path : Path
        The file.
    n_rows, n_dropped : int
        Rows written, and rows left out because they lack a value.
    unknown : dict of (str, str) to int
        Columns and categories that were not there before, with their rows.
    ignored : tuple of str
        Columns that were neither used nor kept.
    """

    path: Path
    n_rows: int
    n_dropped: int
    unknown: dict[tuple[str, str], int]
    ignored: tuple[str, ...]


def write_projections(
    path: str | os.PathLike[str],
    table: Any,
    encoder: TableEncoder,
    project: Callable[[AnyArray], AnyArray],
    *,
    names: Sequence[str] | None = None,
    keep: Sequence[str] = (),
    row_numbers: bool = False,
    unknown: str = "warn",
    callback: Progress | None = None,
) -> WrittenRows:
    """Project the rows of a table and write them, batch by batch; the file appears when all is written.

    Parameters
    ----------
    path : path
        The file: .csv, .tsv, .parquet, .arrow or .feather.
    table : TableFile, path or frame
        New rows.
    encoder : TableEncoder
        That of the fit. Its `missing` says what becomes of rows that lack a value.
    project : callable
        From features of shape (n, n_features) to projections of shape (n, d), such as `FairPCA.transform`.
    names : sequence of str, default=None
        Names of the projections, by default "component1" and so on.
    keep : sequence of str, default=()
        Columns of the table that are written first, as they are.
    row_numbers : bool, default=False
        Whether a column "row" holds the number of each row in the table, from 1.
    unknown : {"warn", "refuse"}, default="warn"
        What becomes of categories that were not there before, see `TableEncoder.encode`.
    callback : callable, default=None
        Called with the rows that are done, all rows (None where that is not known) and a word on what is done.

    Returns
    -------
    written : WrittenRows
        How many rows.
    """
    check_name("unknown", unknown, UNKNOWN)
    path, table = check_output(path), TableFile.of(table)
    kept = [keep] if isinstance(keep, str) else list(keep)
    for name in kept:
        check_column("keep", name, table.names, table.label)
    if table.path is not None and path.exists() and path.samefile(table.path):
        raise TableError(f"{path} is the table itself; write to another file.")
    ignored = tuple(name for name in encoder.check_names(table) if name not in kept)
    layout = _Layout(kept, row_numbers, None if names is None else tuple(names))
    counts = _Counts()
    with writing(path) as temporary, closing(TableSink(temporary, path)) as sink:
        for rows in encoder.blocks(table):
            if encoder.missing != "drop-rows":
                check_complete(encoder, rows)
            if rows.complete.any():
                sink.write(layout.batch(rows, project))
            counts.add(rows)
            if unknown == "refuse":
                tell_of_unknown(counts.unknown, unknown, table.label)
            if callback is not None:
                callback(rows.first_row + len(rows.X), table.n_rows, "projecting rows")
        if not counts.n_rows:
            raise TableError(f"every row of {table.label} lacks a value: nothing is written.")
    counts.tell(table.label)
    return WrittenRows(path, counts.n_rows, counts.n_dropped, dict(counts.unknown), ignored)


class _Counts:
    """Rows so far."""

    def __init__(self) -> None:
        self.n_rows = self.n_dropped = 0
        self.unknown: Counter[tuple[str, str]] = Counter()

    def add(self, rows: EncodedRows) -> None:
        self.n_rows += int(rows.complete.sum())
        self.n_dropped += int((~rows.complete).sum())
        self.unknown.update(rows.unknown)

    def tell(self, label: str) -> None:
        tell_of_unknown(self.unknown, "warn", label)
        if self.n_dropped:
            warn_user(f"{self.n_dropped} rows of {label} lack a value and are left out.", TableWarning)


@dataclass(frozen=True)
class _Layout:
    """Which columns are written, in which order."""

    keep: list[str]
    row_numbers: bool
    names: tuple[str, ...] | None

    def batch(self, rows: EncodedRows, project: Callable[[AnyArray], AnyArray]) -> Any:
        """Return a batch of projected rows, those that are complete."""
        usable = rows.complete
        Z = np.asarray(project(rows.X[usable]))
        listed = [(ROW, arrow().array(rows.first_row + 1 + np.flatnonzero(usable)))] if self.row_numbers else []
        listed += [(name, _kept(rows.batch.column(name), usable)) for name in self.keep]
        listed += [(name, arrow().array(Z[:, k])) for k, name in enumerate(self._named(Z.shape[1]))]
        names = [name for name, _ in listed]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise TableError(f"two columns would be called {twice[0]!r}; keep others, or give other names.")
        return arrow().record_batch([values for _, values in listed], names=names)

    def _named(self, n_components: int) -> list[str]:
        names = self.names or tuple(f"component{k + 1}" for k in range(n_components))
        if len(names) != n_components:
            raise ValueError(f"names has {len(names)} entries, but there are {n_components} projections.")
        return list(names)


def _kept(column: Any, usable: BoolArray) -> Any:
    """Return a column as it is; categories of a frame, whose coding changes from batch to batch, as plain values."""
    return plain(column).filter(arrow().array(usable))
