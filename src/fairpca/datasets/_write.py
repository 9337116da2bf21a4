"""Raw tables as files."""
# SPDX-License-Identifier: MIT

import csv
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray
from fairpca.datasets._catalogue import source_of
from fairpca.datasets._raw import Block, RawSource
from fairpca.datasets._sources import PathLike
from fairpca.tables import TableSink, check_output

_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True)
class WrittenTable:
    """What was written.

    Attributes
    ----------
    path : Path
        The file.
    n_rows : int
        Its rows.
    columns : tuple of str
        Its columns.
    """

    path: Path
    n_rows: int
    columns: tuple[str, ...]


def write_table(
    name: str,
    path: PathLike,
    *,
    data_home: PathLike | None = None,
    raw_path: PathLike | None = None,
    callback: Callable[[int, int | None, str], None] | None = None,
) -> WrittenTable:
    """Write the raw table of a data set, some rows at a time; the file appears when all is written.

    What it holds is told by `raw_table`. Text files have empty fields where a value is missing, and numbers with the
    digits of the source.

    Parameters
    ----------
    name : {"adult", "census", "compas", "credit", "crime", "german", "law", "meps"}
        The data set; `available` says more of them, and on which terms they may be used and handed on.
    path : path-like
        The file: .csv, .tsv, .parquet, .arrow or .feather. One that exists is replaced. All but the first two need
        `pip install 'fairpca[table]'`.
    data_home : path-like, default=None
        Where raw files are cached, see `get_data_home`.
    raw_path : path-like, default=None
        Your own raw files: the folder that holds them, or the file if there is one only.
    callback : callable, default=None
        Called with the rows that are done, all rows (None where that is not known) and a word on what is done.

    Returns
    -------
    written : WrittenTable
        Where, how many rows, and the names of the columns.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairpca.datasets import write_table
    >>> written = write_table("german", Path(tempfile.mkdtemp()) / "german.csv")
    >>> written.n_rows, len(written.columns)
    (1000, 22)
    """
    source, target = source_of(name), check_output(path)
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be a function of rows done, all rows and a text, or None; got {callback!r}.")
    opened = _sink_for(target)
    files = source.origin.files(data_home, raw_path, "raw_path")
    _check_another_file(target, files)
    n_rows, total = 0, source.n_rows if raw_path is None else None
    with writing(target) as temporary, closing(opened(temporary, target, source)) as sink:
        for block in source.blocks(files):
            sink.write(block, source.values(block))
            n_rows += len(block[source.label])
            if callback is not None:
                callback(n_rows, total, "writing rows")
    return WrittenTable(target, n_rows, source.columns)


def _sink_for(path: Path) -> "type[_TextSink | _ArrowSink]":
    """Return what writes such a file; what it needs is imported before anything is fetched."""
    if path.suffix.lower() in _DELIMITERS:
        return _TextSink
    require("pyarrow", "table")
    return _ArrowSink


def _check_another_file(path: Path, files: Sequence[Path]) -> None:
    if path.exists() and any(path.samefile(file) for file in files):
        raise ValueError(f"path={str(path)!r} is the raw file itself; write to another file.")


class _TextSink:
    """A text file, which needs no other library."""

    def __init__(self, temporary: Path, path: Path, source: RawSource) -> None:
        self._stream = temporary.open("w", newline="", encoding="utf-8")
        delimiter = _DELIMITERS[path.suffix.lower()]
        self._writer = csv.writer(self._stream, delimiter=delimiter, lineterminator="\n")
        self._writer.writerow(source.columns)

    def write(self, block: Block, values: dict[str, AnyArray]) -> None:
        # The texts, and not the numbers made of them, have the digits of the source.
        self._writer.writerows(zip(*block.values(), strict=True))

    def close(self) -> None:
        self._stream.close()


class _ArrowSink:
    """A Parquet or Arrow file, whose columns of numbers are numbers."""

    def __init__(self, temporary: Path, path: Path, source: RawSource) -> None:
        self._sink, self._arrow = TableSink(temporary, path), require("pyarrow", "table")
        self._kinds = dict.fromkeys(source.whole, self._arrow.int64())
        self._kinds |= dict.fromkeys(source.decimal, self._arrow.float64())

    def write(self, block: Block, values: dict[str, AnyArray]) -> None:
        columns = [self._column(name, column) for name, column in values.items()]
        self._sink.write(self._arrow.record_batch(columns, names=list(values)))

    def close(self) -> None:
        self._sink.close()

    def _column(self, name: str, column: AnyArray) -> Any:
        # As in a frame of pandas, None and NaN are missing values.
        return self._arrow.array(column, type=self._kinds.get(name, self._arrow.string()), from_pandas=True)
