"""Text tables: unpacked, decoded, and parsed by pyarrow into batches of texts."""
# SPDX-License-Identifier: MIT

import bz2
import codecs
import csv
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from fairpca._utils.extras import require
from fairpca.exceptions import TableError

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
BLOCK = 4 * 2**20
"""Bytes that are read at a time; no row may be longer."""

BATCH_ROWS = 2**14
"""Rows that are looked at or changed at a time."""

LOOKED_AT, LOOKED_INTO = 100, 2**20
"""Rows, and bytes, from which the delimiter is told."""

GUESSES = ("utf-8", "cp1252", "latin-1")
"""Encodings of a text that does not say its own, each taken where the one before cannot be; the last always can."""

DAMAGED = "cannot be unpacked: it is damaged or not complete"
UNREADABLE = (
    "cannot be read as a text table: a quotation mark is opened and never closed, a row is longer than "
    f"{BLOCK >> 20} MB, or it is no table"
)
PACKED = "a packed binary table; unpack it first"
NO_TABLES = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as .xlsx or CSV",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
    b"\x93NUMPY": "a numpy file without column names",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"FEA1": "a Feather file of version 1; write it again with a newer library",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"PAR1": PACKED,
    b"ARROW1": PACKED,
    b"\xff\xff\xff\xff": PACKED,
}
"""How files begin that are no tables, or none that can be read as text."""

MODEL = "model.json"
"""What a model file has, which is an archive too."""


def arrow(part: str = "") -> Any:
    """Return pyarrow, which reads and writes the files, or a part of it, such as ".compute"."""
    return require(f"pyarrow{part}", "table")


@contextmanager
def in_plain_words(label: str, otherwise: str) -> Iterator[None]:
    """Turn the faults of libraries and of the disk into one sentence on a table, `otherwise` if they say no more."""
    try:
        yield
    except (TableError, MemoryError):
        raise
    except FileNotFoundError:
        raise TableError(f"{label} does not exist.") from None
    except IsADirectoryError:
        raise TableError(f"{label} is a folder; give the file of the table.") from None
    except PermissionError:
        raise TableError(f"{label} may not be read: permission denied.") from None
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, arrow().lib.ArrowException):
        raise TableError(f"{label} {otherwise}.") from None


class TextTable:
    """A text file whose first row names the columns; `n_rows` and `notes` are known after all of it has been read."""

    def __init__(self, path: Path, label: str, delimiter: str | None, encoding: str | None) -> None:
        self._path, self._label, self._encoding = path, label, encoding
        self.n_rows: int | None = None
        self.notes: tuple[str, ...] = ()
        with self._opened() as letters:
            begin = io.BufferedReader(letters).read(LOOKED_INTO).decode("utf-8-sig", errors="ignore")
        # Excel takes such a line for the delimiter, and others write it for Excel.
        says = re.match(r'"?sep=(.)"?\r?\n', begin)
        self._n_before, delimiter = (1, delimiter or says[1]) if says else (0, delimiter)
        begin = begin[says.end() :] if says else begin
        self.delimiter = delimiter or max(DELIMITERS, key=lambda each: _fitness(begin, each))
        self.names = self._header(begin)

    def batches(self) -> Iterator[Any]:
        """Yield record batches of texts."""
        last, n_rows = None, 0
        with self._opened() as letters, in_plain_words(self._label, UNREADABLE):
            for batch in self._parsed(letters):
                if batch.num_rows:
                    last, n_rows = batch, n_rows + batch.num_rows
                    yield batch
        if last is None:
            raise TableError(f"{self._label} has a header but no rows.")
        if letters.n_quotes % 2 and any("\n" in str(column[-1]) for column in last.columns):
            raise TableError(f"{self._label} has a quotation mark that is opened and never closed.")
        self.n_rows = n_rows
        if letters.is_guessed:
            words = f"it was read as {letters.encoding}. Name its encoding if letters look wrong."
            self.notes = (f"{self._label} is not UTF-8; {words}",)

    @contextmanager
    def _opened(self) -> Iterator["_Letters"]:
        with _unpacked(self._path, self._label) as stream:
            yield _Letters(stream, self._label, self._encoding)

    def _parsed(self, letters: "_Letters") -> Iterator[Any]:
        reader, ragged, header = arrow(".csv"), [], 1

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        # In one thread no more is read ahead than is needed. Types are told by name: the header is read as a row.
        read = reader.ReadOptions(
            use_threads=False, block_size=BLOCK, autogenerate_column_names=True, skip_rows=self._n_before
        )
        parse = reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refuse)
        texts = {f"f{k}": arrow().string() for k in range(len(self.names))}
        convert = reader.ConvertOptions(column_types=texts, strings_can_be_null=False, check_utf8=False)
        try:
            with reader.open_csv(io.BufferedReader(letters), read, parse, convert) as rows:
                for batch in rows:
                    yield batch.slice(header)
                    header = 0 if batch.num_rows else header
        except arrow().lib.ArrowInvalid as error:
            if ragged:
                raise self._ragged(ragged[0]) from None
            if "Empty CSV" in str(error):
                return
            raise

    def _ragged(self, row: Any) -> TableError:
        line = self._line_of_ragged_row(row.expected_columns)
        where = f"line {line}" if line else f"row {row.number}"
        return TableError(
            f"{self._label} has {row.actual_columns} fields in {where}, where the header has {row.expected_columns} "
            f"(delimiter: {DELIMITERS.get(self.delimiter, self.delimiter)}); quote fields that hold the delimiter."
        )

    def _line_of_ragged_row(self, n_fields: int) -> int | None:
        """Return the line of the first row of another length; rows of quoted fields may span several."""
        with self._opened() as letters:
            text = io.TextIOWrapper(io.BufferedReader(letters), encoding="utf-8-sig", newline="")
            rows, line = csv.reader(islice(text, self._n_before, None), delimiter=self.delimiter), 1
            try:
                for row in rows:
                    if row and len(row) != n_fields:
                        return line + self._n_before
                    line = rows.line_num + 1
            except csv.Error:
                return line
        return None

    def _header(self, begin: str) -> list[str]:
        header = next(_rows(begin, self.delimiter), [])
        names = [name.strip() or f"unnamed {position}" for position, name in enumerate(header, start=1)]
        if len(names) < 2:
            known = ", ".join(DELIMITERS.values())
            raise TableError(f"{self._label} has one column: no delimiter ({known}) was found in its first line.")
        if _are_values(names):
            raise TableError(
                f"{self._label} begins with numbers, {', '.join(names[:3])}: its first line must name the columns."
            )
        return names


def _fitness(begin: str, delimiter: str) -> tuple[float, int]:
    """Return the share of rows that have as many fields by a delimiter as the header, and how many that are."""
    lengths = [len(row) for row in islice(_rows(begin, delimiter), LOOKED_AT)]
    if not lengths or lengths[0] < 2:
        return 0.0, 0
    # The last row may be cut off.
    whole = lengths[:-1] if len(lengths) > 2 else lengths
    return round(whole.count(lengths[0]) / len(whole), 1), lengths[0]


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows at the beginning of a text, as far as they can be read."""
    try:
        yield from filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error:
        return


def _are_values(names: list[str]) -> bool:
    """Tell whether names are numbers, but for those that count columns."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers not in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))


# Bytes


@contextmanager
def _unpacked(path: Path, label: str) -> Iterator[Any]:
    """Open a file, unpacked if it is packed by gzip, bzip2, xz, Zstandard or zip."""
    openers: dict[bytes, Callable[[Any], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zX": lzma.open,
        b"\x28\xb5\x2f\xfd": lambda file: arrow().CompressedInputStream(arrow().PythonFile(file, mode="r"), "zstd"),
        b"PK\x03\x04": lambda file: _only_member(zipfile.ZipFile(file), label),
    }
    with in_plain_words(label, DAMAGED), path.open("rb") as file:
        begin = file.peek(4)
        opened = [opener for magic, opener in openers.items() if begin.startswith(magic)]
        with closing(opened[0](file) if opened else file) as stream:
            yield stream


def _only_member(archive: zipfile.ZipFile, label: str) -> Any:
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if MODEL in names:
        raise TableError(f"{label} is a model of fairpca, not a table.")
    if "[Content_Types].xml" in names:
        raise TableError(f"{label} is an office file other than Excel; save its table as CSV.")
    if len(names) != 1:
        raise TableError(f"{label} is an archive of {len(names)} files; give one that holds the table alone.")
    if archive.getinfo(names[0]).flag_bits & 1:
        raise TableError(f"{label} is protected by a password; unpack it first.")
    return archive.open(names[0])


class _Letters(io.RawIOBase):
    """A text as UTF-8, whatever its encoding; it counts quotation marks and refuses what is no text."""

    def __init__(self, stream: Any, label: str, encoding: str | None) -> None:
        super().__init__()
        self._stream, self._label = stream, label
        first = self._read()
        _refuse_other_files(first, label)
        named = encoding or _told_by(first)
        self._guesses = [] if named else list(GUESSES)
        self.encoding = named or self._guesses.pop(0)
        self._decoder = _decoder(self.encoding)
        self.is_guessed, self.n_quotes, self._ended = False, 0, False
        self._left = memoryview(self._as_utf8(first))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left and not self._ended:
            chunk = self._read()
            self._ended = not chunk
            self._left = memoryview(self._as_utf8(chunk))
        size = min(len(buffer), len(self._left))
        buffer[:size], self._left = self._left[:size], self._left[size:]
        return size

    def _read(self) -> bytes:
        with in_plain_words(self._label, DAMAGED):
            return self._stream.read(BLOCK)

    def _as_utf8(self, chunk: bytes) -> bytes:
        text = self._decoded(chunk, is_last=not chunk)
        if "\0" in text:
            raise TableError(f"{self._label} has NUL bytes: it is not a text table, or it is damaged.")
        self.n_quotes += text.count('"')
        return text.encode()

    def _decoded(self, chunk: bytes, *, is_last: bool) -> str:
        while True:
            try:
                return self._decoder.decode(chunk, is_last)
            except UnicodeError:
                if not self._guesses:
                    words = f"{self._label} is not text in the encoding {self.encoding}; name another encoding."
                    raise TableError(words) from None
            # A letter may have begun in the chunk before.
            chunk = self._decoder.getstate()[0] + chunk
            self.encoding, self.is_guessed = self._guesses.pop(0), True
            self._decoder = _decoder(self.encoding)


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        "a".encode(encoding)  # what is no encoding of texts, such as base64, is not taken for one
        return codecs.getincrementaldecoder(encoding)()
    except (LookupError, UnicodeError):
        raise TableError(f"encoding={encoding!r} is unknown; name one that Python knows, such as 'utf-8'.") from None


def _refuse_other_files(first: bytes, label: str) -> None:
    if not first.strip():
        raise TableError(f"{label} is empty.")
    for magic, name in NO_TABLES.items():
        if first.startswith(magic):
            raise TableError(f"{label} is not a table: it is {name}.")
    begin = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:20].lower()
    if begin.startswith((b"{", b"[{", b"[[")):
        raise TableError(f"{label} is JSON, not a table; write it as CSV or Parquet.")
    if begin.startswith((b"<!doctype", b"<html", b"<?xml")):
        raise TableError(f"{label} is a page of HTML or XML, not a table; write it as CSV or Parquet.")


def _told_by(first: bytes) -> str | None:
    """Return the encoding that a byte order mark tells, or that the zeros of UTF-16 tell."""
    if first.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    pairs = max(1, len(first[:1000]) // 2)
    for name, begin in (("utf-16-be", 0), ("utf-16-le", 1)):
        if first[begin:1000:2].count(0) > 0.4 * pairs and first[1 - begin : 1000 : 2].count(0) == 0:
            return name
    return None
