"""Excel workbooks: one sheet as a table with types."""
# SPDX-License-Identifier: MIT

import datetime
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from fairpca._utils.extras import require
from fairpca.exceptions import TableError
from fairpca.tables._text import BATCH_ROWS, arrow, in_plain_words

DATES, NUMBERS = (datetime.datetime, datetime.date), (int, float)


def is_workbook(path: Path) -> bool:
    """Tell whether a file is a workbook of Excel.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return "xl/workbook.xml" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def read_workbook(path: Path, label: str, sheet: str | None) -> tuple[list[str], Any, tuple[str, ...]]:
    """Return the names of columns, the rows as a table of pyarrow, and what must be said of a workbook.

    Parameters
    ----------
    path : Path
        The file.
    label : str
        What messages call it.
    sheet : str or None
        Which sheet; by default the first that holds something.
    """
    excel = require("openpyxl", "excel")
    with path.open("rb") as file:
        try:
            book = excel.load_workbook(file, read_only=True, data_only=True)
        except Exception:  # its parts may be broken in any way
            raise TableError(f"{label} cannot be read: it is damaged or not complete.") from None
        with in_plain_words(label, "cannot be read: it is damaged or not complete"):
            names = [each.title for each in book.worksheets]
            if sheet is not None and sheet not in names:
                raise TableError(f"sheet={sheet!r} is no sheet of {label}; it has {', '.join(map(repr, names[:10]))}.")
            filled = [name for name in names if name == (sheet or name) and any(_rows(book[name]))]
            if not filled:
                raise TableError(f"{label} is empty.")
            notes = f"{label} has {len(filled)} sheets; the first, {filled[0]!r}, was read. Name another by sheet."
            header, table = _table(_rows(book[filled[0]]), label)
            return header, table, (notes,) if len(filled) > 1 else ()


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that hold something."""
    for row in sheet.iter_rows(values_only=True):
        if any(cell not in (None, "") for cell in row):
            yield row


def _table(rows: Iterator[tuple[Any, ...]], label: str) -> tuple[list[str], Any]:
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
    dates = [cell for cell in present if isinstance(cell, DATES)]
    if present and len(dates) == len(present):
        return arrow().array(cells, arrow().timestamp("us"))
    for kinds in (bool, datetime.time, NUMBERS):
        if present and all(isinstance(cell, kinds) and isinstance(cell, bool) == (kinds is bool) for cell in present):
            return arrow().array(cells, arrow().float64() if kinds is NUMBERS else None)
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
