"""Text tables: delimiter, header and rows in batches."""
# SPDX-License-Identifier: MIT

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from fairpca.exceptions import TableError
from fairpca.tables._arrow import arrow, arrow_module, in_plain_words
from fairpca.tables._bytes import Text, look_at, unpacked

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
BLOCK = 4 * 2**20
"""Bytes that are read at a time; no row may be longer."""

LOOKED_AT = 100
"""Rows from which the delimiter is told."""

UNREADABLE = (
    "cannot be read as a text table: a quotation mark is opened and never closed, a row is longer than "
    f"{BLOCK >> 20} MB, or it is no table"
)


class TextTable:
    """A text file whose first row names the columns.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        What it is called.
    delimiter, encoding : str or None
        What the user says of it.
    """

    n_rows: int | None = None
    """Not known before all of it has been read."""

    def __init__(self, path: Path, label: str, delimiter: str | None, encoding: str | None) -> None:
        self._path, self._label = path, label
        self._text = look_at(path, label, encoding)
        self.delimiter = delimiter or _delimiter_of(self._text.begin)
        self.names = self._header()
        self.notes = _notes(label, self._text)

    def batches(self) -> Iterator[Any]:
        """Yield record batches of texts."""
        last = None
        begin, stream = unpacked(self._path, self._label), unpacked(self._path, self._label)
        with begin as head, stream as whole, in_plain_words(self._label, UNREADABLE):
            for batch in self._read(head, whole):
                if batch.num_rows:
                    last = batch
                    yield batch
        if last is None:
            raise self._no_rows()
        if self._text.odd_quotes and any("\n" in str(column[-1]) for column in last.columns):
            raise TableError(f"{self._label} has a quotation mark that is opened and never closed.")

    def _read(self, begin: Any, stream: Any) -> Iterator[Any]:
        reader = arrow_module("csv")
        ragged: list[Any] = []

        def refuse(row: Any) -> str:
            ragged.append(row)
            return "error"

        # In one thread rows have numbers, and as much is read ahead as is needed.
        read = reader.ReadOptions(use_threads=False, block_size=BLOCK, encoding=self._text.encoding)
        parse = reader.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=refuse)
        try:
            # Types are told by name, and names are those that this reader makes of the header.
            with reader.open_csv(begin, read, parse) as head:
                texts = dict.fromkeys(head.schema.names, arrow().string())
            convert = reader.ConvertOptions(column_types=texts, strings_can_be_null=False)
            yield from reader.open_csv(stream, read, parse, convert)
        except arrow().lib.ArrowInvalid as error:
            if ragged:
                raise self._ragged(ragged[0]) from None
            if "Empty CSV" in str(error):
                raise self._no_rows() from None
            raise

    def _no_rows(self) -> TableError:
        return TableError(f"{self._label} has a header but no rows.")

    def _ragged(self, row: Any) -> TableError:
        line = self._line_of_ragged_row(row.expected_columns)
        where = f"line {line}" if line else f"row {row.number}"
        return TableError(
            f"{self._label} has {row.actual_columns} fields in {where}, where the header has {row.expected_columns} "
            f"(delimiter: {DELIMITERS.get(self.delimiter, self.delimiter)}); quote fields that hold the delimiter."
        )

    def _line_of_ragged_row(self, n_fields: int) -> int | None:
        """Return the line of the first row of another length; rows of quoted fields may span several."""
        with unpacked(self._path, self._label) as stream:
            text = io.TextIOWrapper(io.BufferedReader(stream), encoding=self._text.encoding, newline="")
            rows, line = csv.reader(text, delimiter=self.delimiter), 1
            try:
                for row in rows:
                    if row and len(row) != n_fields:
                        return line
                    line = rows.line_num + 1
            except csv.Error:
                return line
        return None

    def _header(self) -> list[str]:
        header = next(_rows(self._text.begin, self.delimiter), [])
        names = [name.strip() or f"unnamed {position}" for position, name in enumerate(header, start=1)]
        if len(names) < 2:
            known = ", ".join(DELIMITERS.values())
            raise TableError(f"{self._label} has one column: no delimiter ({known}) was found in its first line.")
        if _are_values(names):
            raise TableError(
                f"{self._label} begins with numbers, {', '.join(names[:3])}: its first line must name the columns."
            )
        return names


def _delimiter_of(begin: str) -> str:
    """Return the delimiter by which most rows have as many fields as the header, and most fields."""
    return max(DELIMITERS, key=lambda delimiter: _fitness(begin, delimiter))


def _fitness(begin: str, delimiter: str) -> tuple[float, int]:
    lengths = [len(row) for row in islice(_rows(begin, delimiter), LOOKED_AT)]
    if not lengths or lengths[0] < 2:
        return 0.0, 0
    # The last row may be cut off.
    whole = lengths[:-1] if len(lengths) > 2 else lengths
    agreeing = sum(length == lengths[0] for length in whole) / len(whole)
    return round(agreeing, 1), lengths[0]


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows at the beginning of a text, as far as they can be read."""
    try:
        yield from (row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row)
    except csv.Error:
        return


def _are_values(names: Iterable[str]) -> bool:
    """Tell whether names are numbers, but for those that count columns."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    return numbers not in ([float(k) for k in range(len(numbers))], [float(k + 1) for k in range(len(numbers))])


def _notes(label: str, text: Text) -> list[str]:
    if not text.guessed:
        return []
    return [f"{label} is not UTF-8; it was read as {text.encoding}. Name its encoding if letters look wrong."]
