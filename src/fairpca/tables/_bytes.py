"""The bytes of a file: what kind of file they are, unpacked, and in which encoding."""
# SPDX-License-Identifier: MIT

import bz2
import codecs
import gzip
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpca.exceptions import TableError
from fairpca.tables._arrow import arrow, in_plain_words

CHUNK = 2**20
DAMAGED = "cannot be unpacked: it is damaged or not complete"
NO_TABLES = {
    b"%PDF": "a PDF document",
    b"\xd0\xcf\x11\xe0": "an Excel file; save it as CSV",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
    b"\x93NUMPY": "a numpy file without column names",
    b"\x89HDF": "an HDF5 file",
    b"\x89PNG": "a picture",
    b"FEA1": "a Feather file of version 1; write it again with a newer library",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
}
"""How files begin that are no tables, or none that can be read."""

BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
MODEL = "model.json"
"""What a model file has, which is an archive too."""

UNDEFINED_IN_CP1252 = (b"\x81", b"\x8d", b"\x8f", b"\x90", b"\x9d")


def format_of(path: Path, label: str) -> str:
    """Return "parquet", "arrow", "arrow stream" or "text", from how a file begins.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        What it is called.
    """
    with in_plain_words(label, "cannot be read"):
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise TableError(f"{label} is not a plain file, which can be read more than once; save the table first.")
        with path.open("rb") as file:
            begin = file.read(16)
    found = [name for magic, name in BINARY.items() if begin.startswith(magic)]
    return found[0] if found else "text"


@contextmanager
def unpacked(path: Path, label: str) -> Iterator[Any]:
    """Open the text of a table, unpacked if it is packed by gzip, bzip2, xz, Zstandard or zip.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        What it is called.
    """
    try:
        with in_plain_words(label, DAMAGED), path.open("rb") as file:
            begin = file.read(4)
            file.seek(0)
            stream = _opener(begin, label)(file)
            try:
                yield stream
            finally:
                stream.close()
    except (lzma.LZMAError, zlib.error, zipfile.BadZipFile):
        raise TableError(f"{label} {DAMAGED}.") from None


def _opener(begin: bytes, label: str) -> Any:
    if begin.startswith(b"\x1f\x8b"):
        return gzip.open
    if begin.startswith(b"BZh"):
        return bz2.open
    if begin == b"\xfd7zX":
        return lzma.open
    if begin == b"\x28\xb5\x2f\xfd":
        return lambda file: arrow().CompressedInputStream(arrow().PythonFile(file, mode="r"), "zstd")
    if begin == b"PK\x03\x04":
        return lambda file: _only_member(file, label)
    return lambda file: file


def _only_member(file: Any, label: str) -> Any:
    archive = zipfile.ZipFile(file)
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if MODEL in names:
        raise TableError(f"{label} is a model of fairpca, not a table.")
    if "[Content_Types].xml" in names:
        raise TableError(f"{label} is an Excel or other office file; save it as CSV.")
    if len(names) != 1:
        raise TableError(f"{label} is an archive of {len(names)} files; give one that holds the table alone.")
    if archive.getinfo(names[0]).flag_bits & 1:
        raise TableError(f"{label} is protected by a password; unpack it first.")
    return archive.open(names[0])


@dataclass(frozen=True)
class Text:
    """What is known of a text file after all of it has been looked at.

    Attributes
    ----------
    encoding : str
        As Python calls it.
    begin : str
        How it begins.
    odd_quotes : bool
        Whether it has an odd number of quotation marks.
    guessed : bool
        Whether the encoding is a guess, for the bytes are not UTF-8 and say nothing.
    """

    encoding: str
    begin: str
    odd_quotes: bool
    guessed: bool


def look_at(path: Path, label: str, encoding: str | None) -> Text:
    """Read a text file once: its encoding, and whether it is text at all.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        What it is called.
    encoding : str or None
        What the user says.
    """
    with unpacked(path, label) as stream:
        first = stream.read(CHUNK)
        _refuse_other_files(first, label)
        named = encoding or _told_by(first)
        found = _Look(named or "utf-8")
        for chunk in _chunks(first, stream):
            found.add(chunk)
        found.end()
    if found.is_valid:
        name = found.name
    elif named:
        raise TableError(f"{label} is not text in the encoding {named}; name another encoding.")
    else:
        name = "latin-1" if found.beyond_cp1252 else "cp1252"
    begin = first.decode(name, errors="ignore").removeprefix("\ufeff")
    if found.has_nul or "\0" in begin:
        raise TableError(f"{label} has NUL bytes: it is not a text table, or it is damaged.")
    return Text(name, begin, found.n_quotes % 2 == 1, not found.is_valid)


def _chunks(first: bytes, stream: Any) -> Iterator[bytes]:
    while first:
        yield first
        first = stream.read(CHUNK)


def _refuse_other_files(first: bytes, label: str) -> None:
    if not first.strip():
        raise TableError(f"{label} is empty.")
    for magic, name in NO_TABLES.items():
        if first.startswith(magic):
            raise TableError(f"{label} is not a table: it is {name}.")
    if first.startswith(tuple(BINARY)):
        raise TableError(f"{label} is a packed binary table; unpack it first.")
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


class _Look:
    """Decodes a file piece by piece, and keeps nothing of it but what it has found."""

    def __init__(self, name: str) -> None:
        try:
            "a".encode(name)  # what is no encoding of texts, such as base64, is not taken for one
            self._decoder = codecs.getincrementaldecoder(name)()
        except (LookupError, UnicodeError):
            raise TableError(f"encoding={name!r} is unknown; name one that Python knows, such as 'utf-8'.") from None
        self.name = name
        self.is_valid, self.beyond_cp1252, self.has_nul, self.n_quotes = True, False, False, 0

    def add(self, chunk: bytes) -> None:
        """Look at the next piece."""
        if self.is_valid:
            try:
                self._count(self._decoder.decode(chunk))
                return
            except UnicodeError:
                self.is_valid = False
        self.beyond_cp1252 = self.beyond_cp1252 or any(byte in chunk for byte in UNDEFINED_IN_CP1252)
        self._count(chunk.decode("latin-1"))

    def end(self) -> None:
        """Look at what the last piece has left."""
        try:
            self._decoder.decode(b"", final=True)
        except UnicodeError:
            self.is_valid = False

    def _count(self, text: str) -> None:
        self.n_quotes += text.count('"')
        self.has_nul = self.has_nul or "\0" in text
