"""What a column is: what is counted of its values batch by batch, and the kind that follows."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.exceptions import TableError
from fairpca.tables._attempt import Attempt, settle
from fairpca.tables._cells import NUMERIC, Cells
from fairpca.tables._options import FEW, TableOptions
from fairpca.tables._reading import DATE_ORDERS, DECIMAL_MARKS, PLAIN, Reading, begin_like_dates, is_money
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


class Column:
    """A column of a table and what is known of it, added to batch by batch in bounded memory."""

    def __init__(self, name: str, role: str, options: TableOptions, decimal: str | None) -> None:
        self.name, self.role, self._options, self._decimal = name, role, options, decimal
        self.texts: list[AnyArray] = []
        self._empty_rows: list[IntArray] = []
        self.family = "boolean"
        self.n_rows = self._n_empty = self._first_empty = 0
        self.counts: Counter[str] = Counter()
        self.has_many_values, self._differs = False, True
        self._have_zeros = self._are_long = False
        self._attempts: dict[str, Attempt] = {}
        self._preferred = decimal

    @property
    def is_of_people(self) -> bool:
        """Whether it says of the people behind the rows what is kept beside their features."""
        return self.role not in ("feature", "dropped")

    def add(self, values: Any) -> None:
        """Count the rows of a batch; rows have numbers from 1."""
        cells = Cells.of(values, self._options.missing_values)
        empty = np.flatnonzero(cells.missing)
        if len(empty) and not self._n_empty:
            self._first_empty = self.n_rows + int(empty[0]) + 1
        self._n_empty += len(empty)
        if self._options.missing == "drop-rows":
            self._empty_rows.append(empty + self.n_rows)
        if self.is_of_people:
            self.texts.append(cells.rows_of(np.array([*cells.texts, None], dtype=object)[:-1], None))
        if len(empty) < len(cells.codes):
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
        return self.n_rows - self._n_empty

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
        live = [each for each in self._attempts.values() if each.way in DECIMAL_MARKS and each.n_read]
        return live[0].way if self.family == "text" and sum(not each.given_up for each in live) == 1 else None

    def compare_marks(self, others: str | None, delimiter: str | None) -> None:
        """Choose the decimal mark of numbers such as 1.234 by that of other columns, or by how files are written.

        Parameters
        ----------
        others : str or None
            The mark that all other columns show.
        delimiter : str or None
            What stands between columns; files of decimal commas have semicolons there.
        """
        found = self.numerals
        self._preferred = self._decimal or others
        if self._preferred or not self._open_mark:
            pass
        elif is_money(found.named_units):
            # No money has three digits behind its mark.
            self._preferred = "," if "." in self._open_mark else "."
        elif delimiter == "," or ("." in self._open_mark and delimiter != ";"):
            self._preferred = "."
        del self.numerals

    @cached_property
    def numerals(self) -> Attempt:
        """The decimal mark by which most texts are numbers."""
        return self._best(DECIMAL_MARKS, self._preferred or ".")

    @property
    def _open_mark(self) -> str:
        """A number that both marks read, where no other text says which is right."""
        marks = [self._attempts.get(mark, Attempt(mark)) for mark in DECIMAL_MARKS]
        is_open = not any(each.given_up for each in marks) and marks[0].n_read == marks[1].n_read
        return marks[0].ambiguous if is_open else ""

    def _best(self, ways: Sequence[str], preferred: str) -> Attempt:
        attempts = [self._attempts.get(way, Attempt(way)) for way in ways]
        return max(attempts, key=lambda each: (not each.given_up, each.n_read, each.way == preferred))

    @cached_property
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
    def first_text(self) -> tuple[str, int] | None:
        """The first text that is no number, and its row; None where all are numbers."""
        return next(((text, each.first_row) for text, each in self.numerals.unread.items()), None)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Texts among its numbers that stand for no value, beside those of all columns."""
        return self._gaps.reading.words if self._gaps else ()

    def rows_of_word(self, word: str) -> int:
        """Return how many rows hold one of `words`."""
        return int(self._gaps.unread[word].count)

    @property
    def n_missing(self) -> int:
        """Rows without a value."""
        return self._n_empty + sum(map(self.rows_of_word, self.words))

    @property
    def first_missing(self) -> int:
        """The first row without a value, from 1."""
        firsts = [self._gaps.unread[word].first_row for word in self.words]
        return min([*firsts, *([self._first_empty] if self._n_empty else [])])

    @property
    def missing_rows(self) -> list[IntArray]:
        """Rows without a value, where rows are to be dropped."""
        return [*self._empty_rows, *(rows for word in self.words for rows in self._gaps.unread[word].rows)]

    @property
    def smallest(self) -> float:
        """The least of its numbers."""
        return self._measured.smallest

    @property
    def largest(self) -> float:
        """The largest of its numbers."""
        return self._measured.largest

    def described(self, n_features: int) -> dict[str, Any]:
        """Return what there is to say of it, and how many features it becomes."""
        return {
            "column": self.name,
            "role": self.role,
            "kind": self.kind,
            "distinct": self._options.most_categories if self.has_many_values else len(self.counts) - len(self.words),
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
        other = {"decimal": "," if self.numerals.way == "," or self.kind == "ambiguous number" else "."}
        ways: dict[str, dict[str, Any]] = {
            "date": {"dates": (self.name,)},
            "time": {"dates": (self.name,)},
            "ambiguous date": {"dates": (f"{self.name}=DMY",)},
            "ambiguous number": other,
            "decimal mark": other,
        }
        return ways.get(self.kind, {"drop": (self.name,)})

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
            self._attempts = {way: Attempt(way, self._options.missing == "drop-rows") for way in ways}
        numbers = {way: each.add(cells, self.n_rows) for way, each in self._attempts.items() if not each.given_up}
        for one, other in ((".", ","), ("DMY", "MDY")):
            if one in numbers and other in numbers:
                settle(self._attempts[one], self._attempts[other], cells, numbers[one], numbers[other])

    @property
    def _n_distinct(self) -> int:
        return max(len(self.counts), FEW * self.has_many_values)

    @property
    def _gaps(self) -> Any:
        """The attempt whose unread texts stand for no value."""
        has_gaps = not self.is_of_people and self.kind in ("number", "date", "time")
        return (self.numerals if self.kind == "number" else self.dates) if has_gaps else None

    @property
    def _measured(self) -> Attempt:
        return self.dates if self.kind in ("date", "time") else self.numerals

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
            return self._as_numbers(self._named_numbers())
        if self.name in self._options.date_orders:
            return self._as_dates()
        if not self.has_many_values and len(self.counts) == 1:
            says_who_is_missing = self._n_empty > 0 and self._options.missing == "fill"
            if not says_who_is_missing or not (is_named or not (self.are_numbers or self.are_booleans)):
                return same
        if is_named:
            return many if self.has_many_values else ("category", "as you say")
        are_numbers = self.family in NUMERIC and self.numerals.reads_all_but_words(self._n_distinct)
        counts_rows = self.are_numbers and self.numerals.counts_rows and not self._n_empty and self.n_rows >= FEW
        looks = {
            (self.dates.reading.kind, ""): self._are_dates,
            ("boolean", ""): self.are_booleans,
            ("row number", ""): counts_rows,
            self._as_numbers(self.numerals): are_numbers and not self.are_codes,
            ("mixed", ""): self.family == "text"
            and self.numerals.is_mostly_numbers(self._n_distinct)
            and not are_numbers,
            ("identifier", ""): self.differs_in_each_row,
            many: self.has_many_values,
            ("long text", ""): self._are_long,
            ("category", "numbers with leading zeros are codes" * self.are_numbers): True,
        }
        return next(kind for kind, fits in looks.items() if fits)

    def _as_numbers(self, found: Attempt) -> tuple[str, str]:
        if self._decimal not in (None, found.way) and self.family == "text":
            return "decimal mark", ""
        if self._open_mark and not self._preferred:
            return "ambiguous number", ""
        if not (found.smallest < found.largest):
            return "constant", "all values are the same"
        # Of a mark that no number has there is nothing to say.
        said = found.reading if self.mark else replace(found.reading, way=".")
        return "number", said.note if self.family == "text" else ""

    def _named_numbers(self) -> Attempt:
        if self.family not in NUMERIC or not self.numerals.reads_all_but_words(self._n_distinct):
            where = f"{self.first_text[0]!r} in row {self.first_text[1]}" if self.first_text else self.family
            raise TableError(f"column {self.name!r} is named in numbers, but holds {where}.")
        return self.numerals

    def _as_dates(self) -> tuple[str, str]:
        found = self.dates
        if not self._are_dates:
            text, unread = next(iter(found.unread.items()), (self.family, None))
            where = f"{text[:40]!r} in row {unread.first_row}" if unread else text
            raise TableError(f"column {self.name!r} is named in dates, but holds {where}.")
        is_open = found.ambiguous and not any(self._attempts[order].given_up for order in ("DMY", "MDY"))
        if is_open and self._options.date_orders[self.name] is None:
            return "ambiguous date", ""
        if not found.smallest < found.largest:
            return "constant", "all values are the same"
        return found.reading.kind, found.reading.note


def check_kinds(columns: Sequence[Column], way_out: dict[str, Any]) -> None:
    """Refuse features that no numbers can be made of, all in one sentence, each with its way out."""
    refused = [column.why_refused() for column in columns if column.is_refused]
    if refused:
        more = f"; and {len(refused) - 4} others" if len(refused) > 4 else ""
        raise TableError(f"column {'; '.join(refused[:4])}{more}.", **way_out)
