"""Tables wherever they are: text files, Parquet, Arrow, frames in memory; all in batches."""
# SPDX-License-Identifier: MIT

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from fairpca.exceptions import TableError
from fairpca.tables._arrow import arrow, arrow_module, in_plain_words
from fairpca.tables._bytes import format_of
from fairpca.tables._csv import TextTable

MOST_ROWS = 2**14
MOST_CELLS = 2**20
"""Rows and cells of a batch at most."""

DAMAGED = "cannot be read: it is damaged or not complete"


class _Source(Protocol):
    n_rows: int | None
    names: list[str]
    notes: list[str]

    def batches(self) -> Iterator[Any]: ...


class TableFile:
    """A table that can be read in batches, as often as needed, in bounded memory.

    The kind of a file is told by how it begins, not by its name: text with the delimiters comma, semicolon, tab or bar,
    packed or not (gzip, bzip2, xz, Zstandard, zip), Parquet, Arrow and Feather. Text is UTF-8, or UTF-16 with a byte
    order mark; what is neither is read as Windows-1252, and `notes` says so.

    Parameters
    ----------
    table : path, pyarrow table, pandas or polars frame, or mapping of names to columns
        Where the rows are.
    delimiter : str, default=None
        Of a text file; found by default.
    encoding : str, default=None
        Of a text file; found by default.
    decimal : {".", ","}, default="."
        The decimal mark of numbers in texts.

    Attributes
    ----------
    label : str
        What messages call it.
    names : tuple of str
        Its columns. Those without a name in a text file are "unnamed" with their position.
    n_rows : int or None
        Its rows, where that is known before they are read.
    notes : tuple of str
        What should be said of it.

    Examples
    --------
    >>> from fairpca.tables import TableFile
    >>> table = TableFile({"age": [31, 45], "sex": ["f", "m"]})
    >>> table.names, table.n_rows
    (('age', 'sex'), 2)
    """

    def __init__(
        self, table: Any, *, delimiter: str | None = None, encoding: str | None = None, decimal: str = "."
    ) -> None:
        if decimal not in (".", ","):
            raise ValueError(f"decimal={decimal!r} must be '.' or ','.")
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(f"delimiter={delimiter!r} must be one character, such as ',' or ';'.")
        self.decimal = decimal
        self.path = Path(table) if isinstance(table, str | os.PathLike) else None
        self.label = str(self.path) if self.path else "the table"
        self._source = self._open(table, delimiter, encoding)
        self.names = tuple(self._source.names)
        self.n_rows = self._source.n_rows
        self.notes = tuple(self._source.notes)
        self._check_names()

    @classmethod
    def of(cls, table: Any) -> "TableFile":
        """Return a table as it is, or open what a user passed in place of one.

        Parameters
        ----------
        table : TableFile, or what it is made of
            The table.
        """
        return table if isinstance(table, TableFile) else cls(table)

    def batches(self) -> Iterator[Any]:
        """Yield record batches of pyarrow, in the order of the rows."""
        most, n_rows = max(1, min(MOST_ROWS, MOST_CELLS // len(self.names))), 0
        for batch in self._source.batches():
            if batch.num_columns != len(self.names):
                raise TableError(
                    f"{self.label} has {len(self.names)} names of columns, but {batch.num_columns} columns."
                )
            with in_plain_words(self.label, DAMAGED):
                batch.validate(full=True)
            named = batch.rename_columns(list(self.names))
            yield from (named.slice(start, most) for start in range(0, named.num_rows, most))
            n_rows += named.num_rows
        if not n_rows:
            raise TableError(f"{self.label} has columns but no rows.")

    def _open(self, table: Any, delimiter: str | None, encoding: str | None) -> _Source:
        if self.path is None:
            return _Binary.in_memory(_as_arrow(table))
        kind = format_of(self.path, self.label)
        if kind == "text":
            return TextTable(self.path, self.label, delimiter, encoding)
        return {"parquet": _Binary.parquet, "arrow": _Binary.arrow, "arrow stream": _Binary.stream}[kind](
            self.path, self.label
        )

    def _check_names(self) -> None:
        if not self.names:
            raise TableError(f"{self.label} has no columns.")
        if self.n_rows == 0:
            raise TableError(f"{self.label} has columns but no rows.")
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            listed = ", ".join(map(repr, twice[:5]))
            raise TableError(f"{self.label} has several columns of the same name: {listed}; rename them.")


class _Binary:
    """Rows with types, whose names and number are known at once."""

    def __init__(self, names: list[str], n_rows: int | None, batches: Any) -> None:
        self.names, self.n_rows, self.batches = names, n_rows, batches
        self.notes: list[str] = []

    @classmethod
    def in_memory(cls, table: Any) -> "_Binary":
        return cls(table.column_names, table.num_rows, table.to_batches)

    @classmethod
    def parquet(cls, path: Path, label: str) -> "_Binary":
        def batches() -> Iterator[Any]:
            with in_plain_words(label, DAMAGED), path.open("rb") as file:
                yield from arrow_module("parquet").ParquetFile(file).iter_batches(batch_size=MOST_ROWS)

        with in_plain_words(label, DAMAGED), path.open("rb") as file:
            found = arrow_module("parquet").ParquetFile(file)
            return cls(found.schema_arrow.names, found.metadata.num_rows, batches)

    @classmethod
    def arrow(cls, path: Path, label: str) -> "_Binary":
        def batches() -> Iterator[Any]:
            with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
                reader = arrow_module("ipc").open_file(file)
                yield from map(reader.get_batch, range(reader.num_record_batches))

        with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
            return cls(arrow_module("ipc").open_file(file).schema.names, None, batches)

    @classmethod
    def stream(cls, path: Path, label: str) -> "_Binary":
        def batches() -> Iterator[Any]:
            with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
                yield from arrow_module("ipc").open_stream(file)

        with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
            return cls(arrow_module("ipc").open_stream(file).schema.names, None, batches)


def _as_arrow(table: Any) -> Any:
    """Return a frame, or columns by name, as a table of pyarrow."""
    pa = arrow()
    if isinstance(table, pa.Table):
        return table
    try:
        if isinstance(table, Mapping):
            return pa.table({str(name): column for name, column in table.items()})
        if type(table).__module__.partition(".")[0] == "pandas" and hasattr(table, "columns"):
            return _from_pandas(table)
        if hasattr(table, "__arrow_c_stream__"):
            return pa.table(table)
    except (pa.lib.ArrowException, ValueError, TypeError):
        raise TableError(
            "the table has a column that mixes kinds of values, or columns of different lengths; each must hold "
            "numbers, texts or booleans, one for each row."
        ) from None
    raise TypeError(
        "table must be a path, a table of pyarrow, a frame of pandas or polars, or a mapping of names to columns; got "
        f"{type(table).__name__}."
    )


def _from_pandas(frame: Any) -> Any:
    """Return a frame of pandas without its index; its columns may have any names."""
    names = list(map(str, frame.columns))
    numbered = frame.set_axis([str(k) for k in range(len(names))], axis=1)
    return arrow().Table.from_pandas(numbered, preserve_index=False).rename_columns(names)
