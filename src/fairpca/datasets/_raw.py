"""What the raw table of a data set holds, and how its rows are read."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.datasets._describe import About
from fairpca.datasets._sources import Bundled, Fetched, PathLike
from fairpca.datasets._tables import Table, numbers, stack, whole_numbers

Block = dict[str, list[str | None]]
"""Some rows of a raw table: cells as texts, None where the source has no value."""


@dataclass(frozen=True)
class RawSource:
    """The raw table of a data set.

    Attributes
    ----------
    name : str
        What the data set is called in calls.
    about : About
        What a user should know of it.
    origin : Bundled or Fetched
        Where its files come from.
    read : callable
        From the files to tables of some rows each, as texts, with codes in words where the words are known.
    n_rows : int
        Rows of the files as published.
    columns : tuple of str
        Its columns, in their order.
    sensitive : tuple of str
        Columns that hold protected attributes, the usual one first.
    label : str
        The column that holds the label.
    whole, decimal : tuple of str
        Columns of whole numbers and of other numbers. All others hold texts.
    categories : tuple of str
        Columns of texts that look like numbers and are codes.
    drop : tuple of str
        Columns that are best left out of the features.
    missing : frozenset of str
        Texts that stand for no value.
    """

    name: str
    about: About
    origin: Bundled | Fetched
    read: Callable[[Sequence[Path]], Iterable[Table]]
    n_rows: int
    columns: tuple[str, ...]
    sensitive: tuple[str, ...]
    label: str
    whole: tuple[str, ...] = ()
    decimal: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()

    def table(self, data_home: PathLike | None, path: PathLike | None) -> Table:
        """Return all rows, with texts for missing values as the source has them."""
        return stack(list(self.read(self.origin.files(data_home, path))))

    def blocks(self, files: Sequence[Path]) -> Iterator[Block]:
        """Yield the rows of the files, some at a time."""
        for table in self.read(files):
            yield {name: self._cells(table[name]) for name in self.columns}

    def values(self, block: Block) -> dict[str, AnyArray]:
        """Return rows with their numbers as numbers; anything else in a column of numbers is refused."""
        return {name: self._values(name, cells) for name, cells in block.items()}

    def _values(self, name: str, cells: Sequence[str | None]) -> AnyArray:
        if name not in self.whole and name not in self.decimal:
            return np.array(cells, dtype=object)
        present = [cell for cell in cells if cell is not None]
        parsed = whole_numbers(name, present) if name in self.whole else numbers(name, present)
        if len(present) == len(cells):
            return parsed
        values = np.full(len(cells), np.nan)
        values[[cell is not None for cell in cells]] = parsed
        return values

    def _cells(self, column: Sequence[str]) -> list[str | None]:
        return [None if cell in self.missing else cell for cell in column] if self.missing else list(column)
