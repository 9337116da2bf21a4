"""What is known of one column after all of its rows have been seen."""
# SPDX-License-Identifier: MIT

import math
import re
from collections import Counter

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.tables._cells import Cells

DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([ ,].*)?|\d{1,2}/\d{1,2}/\d{2}([ ,].*)?",
    re.ASCII,
)
DECIMAL_COMMA = re.compile(r"[+-]?\d+(,\d+)?", re.ASCII)
LEADING_ZERO = re.compile(r"[+-]?0\d")
LONGEST = 200
"""Characters beyond which a text is no name of a category."""

FEWEST_COUNTED = 20
"""Rows below which it says nothing of a column that it differs in each of them."""


class Tally:
    """Counts of a column, added to batch by batch in bounded memory.

    Parameters
    ----------
    most_values : int
        Distinct values that are counted at most.
    """

    def __init__(self, most_values: int) -> None:
        self._most_values = most_values
        self.family = "boolean"
        self.n_rows = self.n_missing = 0
        self.first_missing: int | None = None
        self.counts: Counter[str] = Counter()
        self.has_many_values = False
        self.first_text: tuple[int, str] | None = None
        self.first_infinite: int | None = None
        self.smallest, self.largest = math.inf, -math.inf
        self.has_leading_zeros = self.has_long_texts = False
        self._may_be_dates = self._may_have_decimal_commas = True
        self._differs, self._counts_rows, self._last = True, True, math.nan

    def add(self, cells: Cells) -> None:
        """Count the rows of a batch.

        Parameters
        ----------
        cells : Cells
            The column in this batch.
        """
        missing = cells.missing
        if missing.any():
            self.first_missing = (
                self.n_rows + int(missing.argmax()) if self.first_missing is None else self.first_missing
            )
            self.n_missing += int(missing.sum())
            self._counts_rows = False
        if not missing.all():
            self.family = cells.family
            self._count_values(cells)
            self._look_at_numbers(cells)
        self.n_rows += len(missing)

    @property
    def n_present(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        """Distinct values, as far as they were counted."""
        return self._most_values if self.has_many_values else len(self.counts)

    @property
    def are_numbers(self) -> bool:
        """Whether every value is a number."""
        return self.family in ("text", "number", "boolean") and self.n_present > 0 and self.first_text is None

    @property
    def are_booleans(self) -> bool:
        """Whether every value is true or false."""
        few = not self.has_many_values and len(self.counts) <= FEWEST_COUNTED
        return self.family == "boolean" or (few and {text.lower() for text in self.counts} <= {"true", "false"})

    @property
    def are_dates(self) -> bool:
        """Whether every value looks like a date."""
        return self.family == "date" or (self.family == "text" and self._may_be_dates)

    @property
    def have_decimal_commas(self) -> bool:
        """Whether every text would be a number if its comma were a decimal mark, and some are none as they are."""
        return self.family == "text" and self.first_text is not None and self._may_have_decimal_commas

    @property
    def differ_in_each_row(self) -> bool:
        """Whether no two rows have the same value, as far as they were compared."""
        few = not self.has_many_values and len(self.counts) < self.n_present
        return self._differs and not few and self.n_present >= FEWEST_COUNTED

    @property
    def count_rows(self) -> bool:
        """Whether each row has the number that follows that of the row before."""
        return self.are_numbers and self._counts_rows and self.n_rows >= FEWEST_COUNTED

    def _count_values(self, cells: Cells) -> None:
        occurring = cells.occurring
        if cells.family == "number":
            self.has_many_values = self.has_many_values or self._are_many(cells.numbers[occurring])
            if self.has_many_values:
                return
        texts = [cells.texts[k] for k in occurring]
        self._differs = self._differs and len(set(texts)) == len(cells.codes[~cells.missing])
        if cells.family == "text":
            self._look_at_texts(texts)
        if not self.has_many_values:
            frequencies = np.bincount(cells.codes[cells.codes >= 0])[occurring]
            self.counts.update(_summed(texts, frequencies.tolist()))
            self.has_many_values = len(self.counts) > self._most_values

    def _are_many(self, numbers: FloatArray) -> bool:
        # Numbers need no texts where there are more than can be counted.
        return len(numbers) > self._most_values and len(np.unique(numbers)) > self._most_values

    def _look_at_texts(self, texts: list[str]) -> None:
        self._may_be_dates = self._may_be_dates and all(map(DATE.fullmatch, texts))
        self._may_have_decimal_commas = self._may_have_decimal_commas and all(map(DECIMAL_COMMA.fullmatch, texts))
        self.has_long_texts = self.has_long_texts or any(len(text) > LONGEST for text in texts)
        if self.first_text is None and not self.has_leading_zeros:
            self.has_leading_zeros = any(map(LEADING_ZERO.match, texts))

    def _look_at_numbers(self, cells: Cells) -> None:
        if self.first_text is not None or cells.family not in ("text", "number", "boolean"):
            self._counts_rows = False
            return
        numbers = cells.numbers[cells.occurring]
        rows = cells.rows_of(cells.numbers, math.nan)
        if np.isnan(numbers).any():
            row = int(np.argmax(np.isnan(rows) & ~cells.missing))
            self.first_text = self.n_rows + row, cells.texts[cells.codes[row]]
            return
        if np.isinf(numbers).any() and self.first_infinite is None:
            self.first_infinite = self.n_rows + int(np.argmax(np.isinf(rows)))
        self.smallest, self.largest = min(self.smallest, numbers.min()), max(self.largest, numbers.max())
        self._look_whether_rows_are_counted(rows)

    def _look_whether_rows_are_counted(self, rows: FloatArray) -> None:
        if self._counts_rows:
            before = [] if math.isnan(self._last) else [self._last]
            following = np.append(before, rows)
            self._counts_rows = bool(np.all(following[1:] == following[:-1] + 1))
            self._last = float(rows[-1])


def _summed(texts: list[str], frequencies: list[int]) -> Counter[str]:
    """Return how often each text occurs; a text may stand there twice, with other blanks around it."""
    summed: Counter[str] = Counter()
    for text, frequency in zip(texts, frequencies, strict=True):
        summed[text] += frequency
    return summed
