"""Text tables whose first line names the columns."""
# SPDX-License-Identifier: MIT

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from sys import intern

from fairpca.datasets._tables import Table, as_table, check_length


def read_columns(path: Path, names: Sequence[str]) -> Table:
    """Read some columns of a table; of columns with the same name the first counts.

    Parameters
    ----------
    path : Path
        The file, with fields between commas.
    names : sequence of str
        Which columns. The others are dropped line by line, so that a wide file takes little memory.

    Returns
    -------
    table : dict of str to sequence of str
        The columns.
    """
    with path.open(newline="", encoding="utf-8") as stream:
        lines = csv.reader(stream, skipinitialspace=True)
        header = [name.strip() for name in next(lines, [])]
        missing = sorted(set(names) - set(header))
        if missing:
            raise ValueError(
                f"{path.name} has no columns {missing}; its first line must name the columns as published."
            )
        positions = [header.index(name) for name in names]
        # Fields repeat: interned, they take a tenth of the memory.
        rows = [[intern(line[position].strip()) for position in positions] for line in _whole(lines, header, path)]
    return as_table(rows, names, path)


def _whole(lines: Iterator[list[str]], header: Sequence[str], path: Path) -> Iterator[list[str]]:
    """Yield the lines that are not blank, each as long as the header."""
    for number, line in enumerate(filter(None, lines), start=1):
        check_length(line, len(header), number, path)
        yield line
