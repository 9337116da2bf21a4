"""What a column is: how far its cells can be read in each way, batch by batch, and the kind that follows."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.exceptions import TableError
from fairpca.tables._options import FEW, TableOptions
from fairpca.tables._reading import (
    DATE_ORDERS,
    DECIMAL_MARKS,
    NO_VALUE,
    NUMERIC,
    PLAIN,
    Cells,
    Reading,
    begin_like_dates,
    is_money,
    read,
)
from fairpca.tables._text import arrow

LONGEST = 200
"""Characters beyond which a text is no name of a category."""

LEAVE_OUT = "leave it out with drop"
NAME_IT = f"{LEAVE_OUT}, or name it in categories if its values are few"
DATE_IT = f"name it in dates to make numbers of it, or {LEAVE_OUT}"
REFUSED = {
    "date": ("a date", DATE_IT),
    "time": ("a time of day", DATE_IT),
    "ambiguous date": ("a date of which the day or the month may come first", "name it in dates with =DMY or =MDY"),
    "ambiguous number": (
        "made of numbers whose mark may be a decimal mark or part thousands",
        "say which with decimal='.' or decimal=','",
    ),
    "decimal mark": ("made of numbers with another decimal mark", "name that one with decimal"),
    "mixed": (
        "made of numbers and other texts",
        f"name these in missing_values if they say that nothing is known, or {LEAVE_OUT}",
    ),
    "identifier": ("an identifier, different in each row", NAME_IT),
    "row number": ("a count of the rows", f"{LEAVE_OUT}, or name it in numbers if it says something of people"),
    "free text": (
        "free text of many different values",
        f"{LEAVE_OUT}, or merge values, or allow for more with most_categories",
    ),
    "long text": ("long text", NAME_IT),
    "nested": ("made of lists, bytes or records", LEAVE_OUT),
}
"""Kinds that no numbers are made of by themselves, in words, and the way out."""


@dataclass
class Rows:
    """Rows that have something in common: how many, the first, from 1, and where rows are dropped all, from 0."""

    count: int = 0
    first: int = 0
    all: list[IntArray] = field(default_factory=list)

    def add(self, rows: IntArray, keep: bool) -> None:
        """Count some rows, by their numbers from 0, and keep these if asked to."""
        if len(rows):
            self.count, self.first = self.count + len(rows), self.first or int(rows[0]) + 1
            self.all += [rows] * keep


class Attempt:
    """What one way makes of the cells; it is given up where more than a few texts cannot be read."""

    def __init__(self, way: str, keep_rows: bool = False) -> None:
        self.way, self._keep_rows = way, keep_rows
        self.unread: dict[str, Rows] = {}
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
    def first_unread(self) -> str:
        """The first text that cannot be read, and its row, in words; nothing where all can be."""
        return next((f"{text[:40]!r} in row {rows.first}" for text, rows in self.unread.items()), "")

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
            rows = np.flatnonzero(cells.codes == k) + first_row
            self.unread.setdefault(cells.texts[k], Rows()).add(rows, self._keep_rows)
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


class Column:
    """A column of a table and what is known of it, added to batch by batch in bounded memory."""

    def __init__(self, name: str, role: str, options: TableOptions, decimal: str | None) -> None:
        self.name, self.role, self._options = name, role, options
        self._decimal = self._preferred = decimal
        self._keep_rows = options.missing == "drop-rows"
        self.texts: list[AnyArray] = []
        self._empty = Rows()
        self.family, self.n_rows = "boolean", 0
        self.counts: Counter[str] = Counter()
        self.has_many_values, self._differs = False, True
        self._have_zeros = self._are_long = False
        self._attempts: dict[str, Attempt] = {}

    @property
    def is_of_people(self) -> bool:
        """Whether it says of the people behind the rows what is kept beside their features."""
        return self.role not in ("feature", "dropped")

    def add(self, values: Any) -> None:
        """Count the rows of a batch."""
        cells = Cells.of(values, self._options.missing_values)
        self._empty.add(np.flatnonzero(cells.missing) + self.n_rows, self._keep_rows)
        if self.is_of_people:
            self.texts.append(cells.texts_of_rows())
        if not cells.missing.all():
            self.family = cells.family
            self._count(cells)
            self._try(cells)
        self.n_rows += len(cells.codes)

    @cached_property
    def kind(self) -> str:
        """One of "number", "boolean", "category", "constant", "date", "time" or another of `REFUSED`."""
        return self._judged[0]

    @cached_property
    def note(self) -> str:
        """Why it is of that kind, where this is not plain to see."""
        return self._judged[1]

    @property
    def n_present(self) -> int:
        """Rows that have a text or a number."""
        return self.n_rows - self._empty.count

    @property
    def are_numbers(self) -> bool:
        """Whether every value is a number."""
        return self.family in NUMERIC and self.numerals.reads_all

    @property
    def are_booleans(self) -> bool:
        """Whether every value is true or false."""
        words = not self.has_many_values and {text.lower() for text in self.counts} <= {"true", "false"}
        return self.family == "boolean" or words

    @property
    def are_codes(self) -> bool:
        """Whether its numbers are codes: the user says so, or some have leading zeros."""
        has_zeros = self._have_zeros and self.name not in self._options.numbers
        return has_zeros or self.name in self._options.categories

    @property
    def differs_in_each_row(self) -> bool:
        """Whether no two rows have the same value, as far as they were compared."""
        few = not self.has_many_values and len(self.counts) < self.n_present
        return self._differs and not few and self.n_present >= FEW

    @property
    def mark(self) -> str | None:
        """The decimal mark that its own numbers show; None where they show none."""
        live = [each.way for each in self._tried(DECIMAL_MARKS) if each.n_read and not each.given_up]
        return live[0] if self.family == "text" and len(live) == 1 else None

    def compare_marks(self, others: str | None, delimiter: str | None) -> None:
        """Choose the decimal mark of numbers such as 1.234 by that of other columns, or by how files are written.

        Parameters
        ----------
        others : str or None
            The mark that all other columns show.
        delimiter : str or None
            What stands between columns; files of decimal commas have semicolons there.
        """
        self._preferred = self._decimal or others or self._usual_mark(delimiter)

    def _usual_mark(self, delimiter: str | None) -> str | None:
        number = self._open_mark
        if number and is_money(self.numerals.named_units):
            # No money has three digits behind its mark.
            return "," if "." in number else "."
        is_point = number and (delimiter == "," or ("." in number and delimiter != ";"))
        return "." if is_point else None

    @property
    def numerals(self) -> Attempt:
        """The decimal mark by which most texts are numbers."""
        return self._best(DECIMAL_MARKS, self._preferred or ".")

    @property
    def _open_mark(self) -> str:
        """A number that both marks read, where no other text says which is right."""
        marks = self._tried(DECIMAL_MARKS)
        is_open = not any(each.given_up for each in marks) and marks[0].n_read == marks[1].n_read
        return marks[0].ambiguous if is_open else ""

    def _tried(self, ways: Sequence[str]) -> list[Attempt]:
        return [self._attempts.get(way, Attempt(way)) for way in ways]

    def _best(self, ways: Sequence[str], preferred: str) -> Attempt:
        return max(self._tried(ways), key=lambda each: (not each.given_up, each.n_read, each.way == preferred))

    @property
    def dates(self) -> Attempt:
        """The order by which most texts are dates or times, or that which the user names."""
        named = self._options.date_orders.get(self.name)
        return self._best([named] if named else DATE_ORDERS, "DMY")

    @cached_property
    def reading(self) -> Reading:
        """How its texts become numbers."""
        if self.kind in ("date", "time"):
            return self.dates.reading
        return self.numerals.reading if self.family == "text" and self.kind == "number" else PLAIN

    @property
    def _measured(self) -> Attempt:
        return self.dates if self.kind in ("date", "time") else self.numerals

    @cached_property
    def gaps(self) -> dict[str, Rows]:
        """Texts among its numbers that stand for no value, beside those of all columns, with their rows."""
        has_gaps = not self.is_of_people and self.kind in ("number", "date", "time")
        return dict(sorted(self._measured.unread.items())) if has_gaps else {}

    @property
    def missing(self) -> list[Rows]:
        """Rows without a value."""
        return [rows for rows in (self._empty, *self.gaps.values()) if rows.count]

    @property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return sum(rows.count for rows in self.missing)

    @property
    def needs_digits(self) -> bool:
        """Whether float32 would blur its numbers, of which its seven digits show fewer than three, or overflow."""
        smallest, largest = self._measured.smallest, self._measured.largest
        most = max(abs(smallest), abs(largest))
        return bool(most > np.finfo(np.float32).max or largest - smallest < 1e-4 * most)

    def described(self, n_features: int) -> dict[str, Any]:
        """Return what there is to say of it, and how many features it becomes."""
        return {
            "column": self.name,
            "role": self.role,
            "kind": self.kind,
            "distinct": self._options.most_categories if self.has_many_values else len(self.counts) - len(self.gaps),
            "more_distinct": self.has_many_values,
            "missing": self.n_missing,
            "features": n_features,
            "note": self.note,
        }

    def check_finite(self) -> None:
        """Refuse infinite numbers."""
        is_used = self.are_numbers if self.is_of_people else self.kind == "number"
        if self.numerals.first_infinite and is_used and not self.are_codes:
            where = f"column {self.name!r} holds an infinite number in row {self.numerals.first_infinite}"
            raise TableError(f"{where}; numbers must be finite.")

    @property
    def is_refused(self) -> bool:
        """Whether no numbers are made of it by itself; of dates they are where the user names them."""
        named = self.kind in ("date", "time") and self.name in self._options.date_orders
        return self.kind in REFUSED and not named

    def why_refused(self) -> str:
        """Return what it is, as no numbers are made of it, and the way out."""
        what, hint = REFUSED[self.kind]
        examples = {
            "mixed": [*self.numerals.unread, *self.numerals.named_units[1:]],
            "ambiguous number": [self._open_mark],
            "ambiguous date": [self.dates.ambiguous],
        }.get(self.kind, [])
        such = f" such as {', '.join(repr(text[:20]) for text in examples[:3])}" if examples else ""
        return f"{self.name!r} is {what}{such}: {hint}"

    def way_out(self) -> dict[str, Any]:
        """Return options with which it can be used, or is left out."""
        if self.kind in ("date", "time", "ambiguous date"):
            return {"dates": (f"{self.name}=DMY" if self.kind == "ambiguous date" else self.name,)}
        if self.kind in ("ambiguous number", "decimal mark"):
            return {"decimal": "," if self.numerals.way == "," or self.kind == "ambiguous number" else "."}
        return {"drop": (self.name,)}

    def _count(self, cells: Cells) -> None:
        most, texts = self._options.most_categories, cells.family == "text"
        self._differs = self._differs and cells.counts.max() == 1
        if texts:
            self._are_long = self._are_long or max(map(len, cells.texts)) > LONGEST
            if not self._have_zeros:
                zeros = arrow(".compute").match_substring_regex(cells.values, r"^[+-]?0[0-9]")
                self._have_zeros = bool(arrow(".compute").any(zeros).as_py())
        # Numbers need no texts where there are more than can be counted.
        if not self.has_many_values and (texts or len(cells.values) <= most):
            for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
                self.counts[text] += count
        self.has_many_values = self.has_many_values or max(len(self.counts), len(cells.values)) > most

    def _try(self, cells: Cells) -> None:
        """Read the cells in every way that is left."""
        if not self._attempts:
            typed = {"date": ["YMD"], "time": ["time"], "nested": []}.get(cells.family, ["."])
            like_dates = cells.family == "text" and begin_like_dates(cells.values).any()
            ways = [*DECIMAL_MARKS, *DATE_ORDERS * bool(like_dates)] if cells.family == "text" else typed
            self._attempts = {way: Attempt(way, self._keep_rows) for way in ways}
        numbers = {way: each.add(cells, self.n_rows) for way, each in self._attempts.items() if not each.given_up}
        for one, other in ((".", ","), ("DMY", "MDY")):
            if one in numbers and other in numbers:
                settle(self._attempts[one], self._attempts[other], cells, numbers[one], numbers[other])

    @property
    def _n_distinct(self) -> int:
        return max(len(self.counts), FEW * self.has_many_values)

    @property
    def _are_dates(self) -> bool:
        return self.family not in ("number", "boolean", "nested") and self.dates.reads_all_but_words(self._n_distinct)

    @cached_property
    def _judged(self) -> tuple[str, str]:
        """The kind and the note, from all rows and from what the user says."""
        same, many = ("constant", "all values are the same"), ("free text", "too many distinct values")
        is_named = self.name in self._options.categories
        if self.n_present == 0:
            return "constant", "all values are missing"
        if self.family == "nested":
            return "nested", ""
        if self.name in self._options.numbers:
            if self.family not in NUMERIC or not self.numerals.reads_all_but_words(self._n_distinct):
                raise self._is_not("numbers", self.numerals)
            return self._as_numbers()
        if self.name in self._options.date_orders:
            return self._as_dates()
        if not self.has_many_values and len(self.counts) == 1:
            says_who_is_missing = self._empty.count > 0 and self._options.missing == "fill"
            if not says_who_is_missing or not (is_named or not (self.are_numbers or self.are_booleans)):
                return same
        if is_named:
            return many if self.has_many_values else ("category", "as you say")
        if self._are_dates:
            return self.dates.reading.kind, ""
        if self.are_booleans:
            return "boolean", ""
        if self.are_numbers and self.numerals.counts_rows and not self._empty.count and self.n_rows >= FEW:
            return "row number", ""
        are_numbers = self.family in NUMERIC and self.numerals.reads_all_but_words(self._n_distinct)
        if are_numbers and not self.are_codes:
            return self._as_numbers()
        if not are_numbers and self.family == "text" and self.numerals.is_mostly_numbers(self._n_distinct):
            return "mixed", ""
        if self.differs_in_each_row:
            return "identifier", ""
        if self.has_many_values:
            return many
        if self._are_long:
            return "long text", ""
        return "category", "numbers with leading zeros are codes" * self.are_numbers

    def _as_numbers(self) -> tuple[str, str]:
        found = self.numerals
        if self._decimal not in (None, found.way) and self.family == "text":
            return "decimal mark", ""
        if self._open_mark and not self._preferred:
            return "ambiguous number", ""
        if not (found.smallest < found.largest):
            return "constant", "all values are the same"
        # Of a mark that no number has there is nothing to say.
        said = found.reading if self.mark else replace(found.reading, way=".")
        return "number", said.note if self.family == "text" else ""

    def _as_dates(self) -> tuple[str, str]:
        found = self.dates
        if not self._are_dates:
            raise self._is_not("dates", found)
        is_open = found.ambiguous and not any(self._attempts[order].given_up for order in ("DMY", "MDY"))
        if is_open and self._options.date_orders[self.name] is None:
            return "ambiguous date", ""
        if not found.smallest < found.largest:
            return "constant", "all values are the same"
        return found.reading.kind, found.reading.note

    def _is_not(self, argument: str, found: Attempt) -> TableError:
        where = found.first_unread or self.family
        return TableError(f"column {self.name!r} is named in {argument}, but holds {where}.")


def check_kinds(columns: Sequence[Column], way_out: dict[str, Any]) -> None:
    """Refuse features that no numbers can be made of, all in one sentence, each with its way out."""
    refused = [column.why_refused() for column in columns if column.is_refused]
    if refused:
        more = f"; and {len(refused) - 4} others" if len(refused) > 4 else ""
        raise TableError(f"column {'; '.join(refused[:4])}{more}.", **way_out)
