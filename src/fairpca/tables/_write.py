"""Tables as files, written batch by batch: projected rows, or any others."""
# SPDX-License-Identifier: MIT

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.checks import check_name
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray
from fairpca._utils.warn import warn_user
from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._encoder import UNKNOWN, EncodedRows, TableEncoder, tell_of_unknown
from fairpca.tables._file import Progress, TableFile
from fairpca.tables._options import check_column
from fairpca.tables._reading import plain
from fairpca.tables._text import arrow

ENDINGS = (".csv", ".tsv", ".parquet", ".arrow", ".feather")

ROW = "row"
"""Name of the column of row numbers."""


def check_output(path: str | os.PathLike[str]) -> Path:
    """Return the path of a table that is to be written, or refuse it.

    Parameters
    ----------
    path : path
        The file: .csv, .tsv, .parquet, .arrow or .feather, in a folder that exists.

    Examples
    --------
    >>> from fairpca.tables import check_output
    >>> check_output("people.csv").suffix
    '.csv'
    """
    checked = Path(path)
    if checked.suffix.lower() not in ENDINGS:
        raise ValueError(f"{checked} must end in one of {', '.join(ENDINGS)}.")
    if not checked.parent.is_dir():
        raise TableError(f"the folder {checked.parent} does not exist; make it first.")
    if checked.is_dir():
        raise TableError(f"{checked} is a folder; name a file.")
    return checked


class TableSink:
    """A file that takes batches; what its columns are is known from the first.

    Parameters
    ----------
    temporary : Path
        Where it is written.
    path : Path
        What it will be called in the end; the ending says which kind of file it is.
    """

    def __init__(self, temporary: Path, path: Path) -> None:
        self._path, self._label, self._ending = temporary, str(path), path.suffix.lower()
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        """Write some rows.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            The rows, with the columns of all others.
        """
        with self._in_plain_words():
            self._writer = self._writer or self._open(batch.schema)
            self._writer.write_batch(batch)

    def close(self) -> None:
        """End the file."""
        if self._writer is not None:
            with self._in_plain_words():
                self._writer.close()

    @contextmanager
    def _in_plain_words(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno is None:
                raise
            # Users know their file, not the place where it is put together.
            raise OSError(error.errno, os.strerror(error.errno), self._label) from None
        except arrow().lib.ArrowException:
            words = f"{self._label} cannot be written: a column has values that this kind of file lacks."
            raise TableError(words) from None

    def _open(self, schema: Any) -> Any:
        if self._ending in (".csv", ".tsv"):
            csv = arrow(".csv")
            delimiter = "\t" if self._ending == ".tsv" else ","
            options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
            return csv.CSVWriter(str(self._path), schema, write_options=options)
        if self._ending == ".parquet":
            return arrow(".parquet").ParquetWriter(str(self._path), schema)
        return arrow(".ipc").new_file(str(self._path), schema)


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
    """

    path: Path
    n_rows: int
    n_dropped: int
    unknown: dict[tuple[str, str], int]


def write_projections(
    path: str | os.PathLike[str],
    table: Any,
    encoder: TableEncoder,
    project: Callable[[AnyArray], AnyArray],
    *,
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
        From features of shape (n, n_features) to projections of shape (n, d), such as `FairPCA.transform`. They are
        written as "component1" and so on.
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
    n_rows, n_dropped, strange = 0, 0, Counter[tuple[str, str]]()
    with writing(path) as temporary, closing(TableSink(temporary, path)) as sink:
        for rows in encoder.blocks(table):
            if encoder.missing != "drop-rows":
                rows.check_complete()
            n_complete = int(rows.complete.sum())
            if n_complete:
                sink.write(_batch(rows, np.asarray(project(rows.X[rows.complete])), kept, row_numbers=row_numbers))
            n_rows, n_dropped = n_rows + n_complete, n_dropped + len(rows.X) - n_complete
            strange.update(rows.unknown)
            if unknown == "refuse":
                tell_of_unknown(strange, unknown, table.label)
            if callback is not None:
                callback(rows.first_row + len(rows.X), table.n_rows, "projecting rows")
        if not n_rows:
            raise TableError(f"every row of {table.label} lacks a value: nothing is written.")
    tell_of_unknown(strange, "warn", table.label)
    if n_dropped:
        warn_user(f"{n_dropped} rows of {table.label} lack a value and are left out.", TableWarning)
    return WrittenRows(path, n_rows, n_dropped, dict(strange))


def _batch(rows: EncodedRows, Z: AnyArray, keep: Sequence[str], *, row_numbers: bool) -> Any:
    """Return a batch of those rows that are complete: their numbers, what is kept of the table, projections."""
    usable = arrow().array(rows.complete)
    listed = [(ROW, arrow().array(rows.first_row + 1 + np.flatnonzero(rows.complete)))] if row_numbers else []
    listed += [(name, plain(rows.batch.column(name)).filter(usable)) for name in keep]
    listed += [(f"component{k}", arrow().array(column)) for k, column in enumerate(Z.T, start=1)]
    twice = [name for name, count in Counter(name for name, _ in listed).items() if count > 1]
    if twice:
        raise TableError(f"two columns would be called {twice[0]!r}; keep others.")
    return arrow().record_batch(dict(listed))
