"""How far the cells of a column can be read in one way, batch by batch."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.tables._cells import Cells
from fairpca.tables._options import FEW
from fairpca.tables._reading import NO_VALUE, Reading, read


@dataclass
class Unread:
    """A text that cannot be read: in how many rows, in which first, from 1, and where rows are dropped, in which."""

    first_row: int
    count: int = 0
    rows: list[IntArray] = field(default_factory=list)


class Attempt:
    """What one way makes of the cells; it is given up where more than a few texts cannot be read."""

    def __init__(self, way: str, keep_rows: bool = False) -> None:
        self.way, self._keep_rows = way, keep_rows
        self.unread: dict[str, Unread] = {}
        self.units: Counter[str] = Counter()
        self.n_read = self.first_infinite = 0
        self.given_up = self.counts_rows = False
        self.ambiguous = ""
        self.smallest, self.largest, self._offset = math.inf, -math.inf, math.nan

    @property
    def reading(self) -> Reading:
        """How a column is read that can be read so."""
        return Reading(self.way, next(iter(self.named_units), ""), tuple(sorted(self.unread)))

    @property
    def named_units(self) -> list[str]:
        """Units that stand with numbers, the most frequent first."""
        return [unit for unit, _ in self.units.most_common() if unit]

    @property
    def reads_all(self) -> bool:
        """Whether every value is a number, of one unit."""
        return self.n_read > 0 and not self.given_up and not self.unread and len(self.named_units) <= 1

    def reads_all_but_words(self, n_distinct: int) -> bool:
        """Tell whether what is left are words that say that nothing is known, or a few words beside many numbers."""
        if self.reads_all:
            return True
        # One number beside a word, as 1 beside "-", are two answers.
        if self.given_up or len(self.named_units) > 1 or not self.smallest < self.largest:
            return False
        if all(text.casefold() in NO_VALUE for text in self.unread):
            return True
        have_digits = any(letter.isdigit() for text in self.unread for letter in text)
        return not have_digits and self.is_mostly_numbers(n_distinct)

    def is_mostly_numbers(self, n_distinct: int) -> bool:
        """Tell whether a column has many different numbers and little else, of so many different texts."""
        n_left = sum(each.count for each in self.unread.values())
        # Four of five: codes with letters among them, and ages of which the last is "90+", are told apart by hand.
        return not self.given_up and n_distinct - len(self.unread) >= FEW and self.n_read >= 4 * n_left

    def add(self, cells: Cells, first_row: int) -> FloatArray:
        """Read the cells of a batch, of which some have values, and return their numbers."""
        numbers, units = (cells.typed, None) if cells.family != "text" else read(cells.values, self.way)
        is_read = ~np.isnan(numbers)
        self._note_unread(cells, np.flatnonzero(~is_read), first_row)
        if is_read.any():
            self.n_read += int(cells.counts[is_read].sum())
            self._measure(cells, numbers, numbers[is_read], first_row)
        for unit in () if units is None else np.unique(units[is_read].astype(str)):
            self.units[str(unit)] += int(cells.counts[is_read & (units == unit)].sum())
        return numbers

    def _note_unread(self, cells: Cells, left: IntArray, first_row: int) -> None:
        for k in left[: FEW + 1].tolist():
            rows = np.flatnonzero(cells.codes == k)
            unread = self.unread.setdefault(cells.texts[k], Unread(first_row + int(rows[0]) + 1))
            unread.count += len(rows)
            if self._keep_rows:
                unread.rows.append(rows + first_row)
        self.given_up = len(self.unread) > FEW

    def _measure(self, cells: Cells, numbers: FloatArray, known: FloatArray, first_row: int) -> None:
        self.smallest, self.largest = min(self.smallest, known.min()), max(self.largest, known.max())
        rows = cells.rows_of(numbers, math.nan)
        if np.isinf(known).any() and not self.first_infinite:
            self.first_infinite = first_row + int(np.argmax(np.isinf(rows))) + 1
        if first_row == 0 or self.counts_rows:
            self._offset = rows[0] - first_row if first_row == 0 else self._offset
            with np.errstate(invalid="ignore"):
                self.counts_rows = bool((rows - np.arange(first_row, first_row + len(rows)) == self._offset).all())


def settle(first: Attempt, second: Attempt, cells: Cells, one: FloatArray, other: FloatArray) -> None:
    """Give up the attempt of a pair that has read nothing of its own where the other has; note what both read apart."""
    reads_one, reads_other = ~np.isnan(one), ~np.isnan(other)
    only_one, only_other = (reads_one & ~reads_other).any(), (reads_other & ~reads_one).any()
    second.given_up |= bool(only_one and not only_other)
    first.given_up |= bool(only_other and not only_one)
    apart = reads_one & reads_other & (one != other)
    if apart.any() and not first.ambiguous:
        first.ambiguous = second.ambiguous = cells.texts[int(np.argmax(apart))]
