"""From raw files to columns of texts, with codes in words."""
# SPDX-License-Identifier: MIT

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from pathlib import Path
from sys import intern

from fairpca.datasets._entry import DataSet, Table


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


def keep_rows(table: Table, keep: Iterable[bool]) -> Table:
    """Return the rows of a table for which `keep` is true."""
    mask = list(keep)
    return {name: list(compress(column, mask)) for name, column in table.items()}


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
