"""Tables wherever they are: text files, Parquet, Arrow, Excel workbooks, frames in memory; all in batches."""
# SPDX-License-Identifier: MIT

import datetime
import os
import weakref
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any

from fairpca._utils.extras import require
from fairpca.exceptions import TableError
from fairpca.tables._text import BATCH_ROWS, TextTable, arrow, in_plain_words

MOST_CELLS = 2**20
"""Cells of a batch at most, where columns are many."""

KEPT_IN_MEMORY = 16 * 2**20
"""Bytes of what was read of a text file, packed, that stay in memory; more go into a temporary file."""

DAMAGED = "cannot be read: it is damaged or not complete"


Progress = Callable[[int, int | None, str], None]
"""Takes the rows that are done, all rows where that is known, and a word on what is being done."""


class TableFile:
    """A table that can be read in batches, as often as needed, in bounded memory.

    The kind of a file is told by how it begins, not by its name: text with the delimiters comma, semicolon, tab or bar,
    packed or not (gzip, bzip2, xz, Zstandard, zip), Parquet, Arrow, Feather, and Excel workbooks. Text
    is UTF-8, or UTF-16 with a byte order mark; what is neither is read as Windows-1252, and `notes` says so. A text
    file is read once: what was read is kept, beyond 16 MB in a temporary file.

    Parameters
    ----------
    table : path, pyarrow table, pandas or polars frame, or mapping of names to columns
        Where the rows are.
    delimiter : str, default=None
        Of a text file; found by default.
    encoding : str, default=None
        Of a text file; found by default.
    decimal : {".", ","}, default=None
        The decimal mark of numbers in texts; by default that which the numbers of each column show.
    sheet : str, default=None
        Of an Excel workbook (`fairpca[excel]`); by default the first that holds something.

    Attributes
    ----------
    label : str
        What messages call it.
    names : tuple of str
        Its columns. Those without a name in a text file are "unnamed" with their position.

    Examples
    --------
    >>> from fairpca.tables import TableFile
    >>> table = TableFile({"age": [31, 45], "sex": ["f", "m"]})
    >>> table.names, table.n_rows
    (('age', 'sex'), 2)
    """

    def __init__(
        self,
        table: Any,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        decimal: str | None = None,
        sheet: str | None = None,
    ) -> None:
        if decimal not in (None, ".", ","):
            raise ValueError(f"decimal={decimal!r} must be '.' or ','.")
        if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
            raise ValueError(f"delimiter={delimiter!r} must be one character, such as ',' or ';'.")
        self.decimal = decimal
        self.path = Path(table) if isinstance(table, str | os.PathLike) else None
        self.label = str(self.path) if self.path else "the table"
        self._source = self._open(table, delimiter, encoding, sheet)
        self._kept: Any = None
        self.names = tuple(self._source.names)
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

    @property
    def n_rows(self) -> int | None:
        """Its rows; None where that is not known before they are read."""
        return self._source.n_rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be said of it, after it was read."""
        return self._source.notes

    def batches(self) -> Iterator[Any]:
        """Yield record batches of pyarrow, in the order of the rows."""
        if self._kept is not None:
            reader = arrow(".ipc").open_file(self._kept)
            yield from map(reader.get_batch, range(reader.num_record_batches))
        elif isinstance(self._source, TextTable):
            yield from self._keeping()
        else:
            yield from self._bounded()

    def _bounded(self) -> Iterator[Any]:
        most, n_rows = max(1, min(BATCH_ROWS, MOST_CELLS // len(self.names))), 0
        for batch in self._source.batches():
            if batch.num_columns != len(self.names):
                raise TableError(
                    f"{self.label} has {len(self.names)} names of columns, but {batch.num_columns} columns."
                )
            named = batch.rename_columns(list(self.names))
            yield from (named.slice(start, most) for start in range(0, named.num_rows, most))
            n_rows += named.num_rows
        if not n_rows:
            raise TableError(f"{self.label} has columns but no rows.")

    def _keeping(self) -> Iterator[Any]:
        kept, ipc = SpooledTemporaryFile(KEPT_IN_MEMORY), arrow(".ipc")  # noqa: SIM115 (closed with the table)
        weakref.finalize(self, kept.close)
        schema = arrow().schema([(name, arrow().string()) for name in self.names])
        with ipc.new_file(kept, schema, options=ipc.IpcWriteOptions(compression="lz4")) as writer:
            for batch in self._bounded():
                writer.write_batch(batch)
                yield batch
        self._kept = kept

    @property
    def delimiter(self) -> str | None:
        """What stands between the columns of a text file; None for other tables."""
        return self._source.delimiter if isinstance(self._source, TextTable) else None

    def _open(self, table: Any, delimiter: str | None, encoding: str | None, sheet: str | None) -> "TextTable | _Typed":
        if self.path is None:
            frame = _as_arrow(table)
            return _Typed(frame.column_names, frame.num_rows, frame.to_batches)
        with in_plain_words(self.label, "cannot be read"):
            if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
                raise TableError(
                    f"{self.label} is not a plain file, which can be read more than once; save the table first."
                )
            with self.path.open("rb") as file:
                begin = file.read(16)
        if _is_workbook(self.path):
            return _workbook(self.path, self.label, sheet)
        for magic, opener in READERS.items():
            if begin.startswith(magic):
                return _Typed.in_file(self.path, self.label, opener)
        return TextTable(self.path, self.label, delimiter, encoding)

    def _check_names(self) -> None:
        if not self.names:
            raise TableError(f"{self.label} has no columns.")
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            listed = ", ".join(map(repr, twice[:5]))
            raise TableError(f"{self.label} has several columns of the same name: {listed}; rename them.")


Read = tuple[list[str], int | None, Iterator[Any]]
"""Names of columns, rows if known, and batches."""


@dataclass(frozen=True)
class _Typed:
    """Rows with types, which are as quick to read again as they would be to keep."""

    names: list[str]
    n_rows: int | None
    batches: Callable[[], Iterator[Any]]
    notes: tuple[str, ...] = ()

    @classmethod
    def in_file(cls, path: Path, label: str, opener: Callable[[Any], Read]) -> "_Typed":
        def batches() -> Iterator[Any]:
            with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
                for batch in opener(file)[2]:
                    batch.validate(full=True)
                    yield batch

        with in_plain_words(label, DAMAGED), arrow().OSFile(str(path)) as file:
            names, n_rows, _ = opener(file)
        return cls(names, n_rows, batches)


def _parquet(file: Any) -> Read:
    found = arrow(".parquet").ParquetFile(file)
    return found.schema_arrow.names, found.metadata.num_rows, found.iter_batches(batch_size=BATCH_ROWS)


def _arrow_file(file: Any) -> Read:
    found = arrow(".ipc").open_file(file)
    return found.schema.names, None, map(found.get_batch, range(found.num_record_batches))


def _arrow_stream(file: Any) -> Read:
    found = arrow(".ipc").open_stream(file)
    return found.schema.names, None, iter(found)


READERS = {b"PAR1": _parquet, b"ARROW1": _arrow_file, b"\xff\xff\xff\xff": _arrow_stream}
"""What reads files that begin so."""


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


# Workbooks of Excel

NUMBERS = (int, float)


def _is_workbook(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def _workbook(path: Path, label: str, sheet: str | None) -> _Typed:
    """Return one sheet of a workbook, by default the first that holds something."""
    excel = require("openpyxl", "excel")
    with path.open("rb") as file:
        try:
            book = excel.load_workbook(file, read_only=True, data_only=True)
        except Exception:  # its parts may be broken in any way
            raise TableError(f"{label} {DAMAGED}.") from None
        with in_plain_words(label, DAMAGED):
            names = [each.title for each in book.worksheets]
            if sheet is not None and sheet not in names:
                raise TableError(f"sheet={sheet!r} is no sheet of {label}; it has {', '.join(map(repr, names[:10]))}.")
            filled = [name for name in names if name == (sheet or name) and any(_rows(book[name]))]
            if not filled:
                raise TableError(f"{label} is empty.")
            notes = f"{label} has {len(filled)} sheets; the first, {filled[0]!r}, was read. Name another by sheet."
            names, rows = _sheet(_rows(book[filled[0]]), label)
            return _Typed(names, rows.num_rows, rows.to_batches, (notes,) if len(filled) > 1 else ())


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that hold something."""
    for row in sheet.iter_rows(values_only=True):
        if any(cell not in (None, "") for cell in row):
            yield row


def _sheet(rows: Iterator[tuple[Any, ...]], label: str) -> tuple[list[str], Any]:
    first = next(rows)
    width = max(k for k, cell in enumerate(first, start=1) if cell not in (None, ""))
    names = [str(cell).strip() if cell is not None else f"unnamed {k}" for k, cell in enumerate(first[:width], start=1)]
    if all(isinstance(cell, NUMBERS) for cell in first[:width]):
        raise TableError(f"{label} begins with numbers, {', '.join(names[:3])}: its first row must name the columns.")
    chunks = []
    while block := list(islice(rows, BATCH_ROWS)):
        if any(cell not in (None, "") for row in block for cell in row[width:]):
            raise TableError(f"{label} has more columns than names in its first row with something in it; name each.")
        chunks.append([_typed([row[k] if k < len(row) else None for row in block]) for k in range(width)])
    columns = [_joined(each) for each in zip(*chunks, strict=True)] if chunks else [[]] * width
    return names, arrow().table(columns, names=[str(k) for k in range(width)])


def _typed(cells: list[Any]) -> Any:
    """Return cells in the one type that all have, or as texts."""
    present = [cell for cell in cells if cell is not None]
    for kinds, kind in (
        ((datetime.datetime, datetime.date), "timestamp[us]"),
        (bool, "bool"),
        (datetime.time, "time64[us]"),
        (NUMBERS, "float64"),
    ):
        if present and all(isinstance(cell, kinds) and isinstance(cell, bool) == (kinds is bool) for cell in present):
            return arrow().array(cells, kind)
    return arrow().array([None if cell is None else _text(cell) for cell in cells])


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _joined(chunks: tuple[Any, ...]) -> Any:
    """Return the parts of a column in one type; texts where they differ."""
    kinds = {chunk.type for chunk in chunks} - {arrow().null()}
    if len(kinds) > 1:
        chunks = tuple(arrow().array([None if c is None else _text(c) for c in chunk.to_pylist()]) for chunk in chunks)
        kinds = {arrow().string()}
    kind = next(iter(kinds), arrow().null())
    return arrow().chunked_array([chunk.cast(kind) for chunk in chunks], kind)
