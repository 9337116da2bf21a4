"""What a column is: its values batch by batch, what is counted of them, and the kind that follows."""
# SPDX-License-Identifier: MIT

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.exceptions import TableError
from fairpca.tables._options import TableOptions
from fairpca.tables._text import arrow

NUMBER = r"^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|(?i:inf|infinity))$"
DATE = r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}([ ,].*)?|\d{1,2}/\d{1,2}/\d{2}([ ,].*)?"
ALL_LIKE = {
    "date": re.compile(DATE, re.ASCII).fullmatch,
    "decimal comma": re.compile(r"[+-]?\d+(,\d+)?", re.ASCII).fullmatch,
}
"""What all texts of a column may look like."""

LEADING_ZERO = re.compile(r"[+-]?0\d").match
LONGEST = 200
"""Characters beyond which a text is no name of a category."""

FEWEST_COUNTED = 20
"""Rows below which it says nothing of a column that it differs in each of them."""

NUMERIC = ("text", "number", "boolean")
ENCODED = ("number", "boolean", "category")
LEAVE_OUT = "leave it out with drop"
NAME_IT = f"{LEAVE_OUT}, or name it in categories if its values are few"
REFUSED = {
    "date": ("a date", NAME_IT),
    "identifier": ("an identifier, different in each row", NAME_IT),
    "row number": ("a count of the rows", f"{LEAVE_OUT}, or name it in numbers if it says something of people"),
    "free text": (
        "free text of many different values",
        f"{LEAVE_OUT}, or merge values, or allow for more with most_categories",
    ),
    "long text": ("long text", NAME_IT),
    "nested": ("made of lists, bytes or records", LEAVE_OUT),
    "decimal comma": (
        "made of numbers with commas",
        "read it with decimal=',' if these are decimal marks, else write it without them",
    ),
}
"""Kinds that no numbers are made of, in words, and the way out."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of some rows: the number of the value of each row, -1 where it is missing, and the values that occur."""

    codes: IntArray
    values: Any
    family: str
    decimal: str = "."

    @classmethod
    def of(cls, column: Any, missing_values: Sequence[str], decimal: str) -> "Cells":
        """Take a column of a batch; `family` is text, number, boolean, date or nested."""
        family = _family(column.type)
        if family == "nested":
            codes = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, 0)
            return cls(codes, arrow().array(["(nested)"]), family)
        compute, column = arrow(".compute"), plain(column)
        if arrow().types.is_floating(column.type):
            column = compute.if_else(compute.is_nan(column), None, column)
        coded = column.dictionary_encode()
        codes, values = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary
        if family == "text":
            values = compute.utf8_trim_whitespace(values)
            absent = compute.is_in(values, value_set=arrow().array(missing_values, values.type))
            # Texts may be equal but for blanks, and some stand for no value.
            again = compute.if_else(absent, None, values).dictionary_encode()
            places = again.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            codes, values = np.append(places, -1)[codes], again.dictionary
        return cls(codes, values, family, decimal)

    @cached_property
    def missing(self) -> BoolArray:
        """Which rows have no value."""
        return self.codes < 0

    @cached_property
    def counts(self) -> IntArray:
        """How many rows have each value."""
        return np.bincount(self.codes[~self.missing], minlength=len(self.values))

    @cached_property
    def texts(self) -> list[str]:
        """The values as texts; whole numbers have no decimal mark."""
        listed = self.values.to_pylist()
        return listed if self.family == "text" else [_as_text(value) for value in listed]

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as numbers; NaN where a text is none."""
        if self.family == "text":
            return _parsed(self.values, self.decimal)
        if self.family in NUMERIC:
            return np.asarray(self.values.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False))
        return np.full(len(self.values), np.nan)

    @cached_property
    def booleans(self) -> FloatArray:
        """The values as 0 and 1; NaN where they are neither true nor false."""
        known = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
        return np.array([known.get(text.lower(), np.nan) for text in self.texts], dtype=np.float64)

    def rows_of(self, values: AnyArray, absent: Any) -> AnyArray:
        """Return for each row what belongs to its value, or to a missing one."""
        return np.append(values, np.array([absent], dtype=values.dtype))[self.codes]


def plain(column: Any) -> Any:
    """Return a column without a coding of its own, which changes from batch to batch, and texts in one type."""
    if arrow().types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return column.cast(arrow().large_string()) if _family(column.type) == "text" else column


def _family(kind: Any) -> str:
    types = arrow().types
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_boolean(kind) or types.is_null(kind):
        return "boolean"
    return "date" if types.is_temporal(kind) else "nested"


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _parsed(values: Any, decimal: str) -> FloatArray:
    compute, double = arrow(".compute"), arrow().float64()
    if decimal == ",":
        # A point is no decimal mark then: it parts thousands, or the mark was named wrongly.
        values = compute.if_else(compute.match_substring(values, "."), "x", values)
        values = compute.replace_substring(values, ",", ".")
    try:
        numbers = values.cast(double)
    except arrow().lib.ArrowInvalid:
        is_number = compute.match_substring_regex(values, NUMBER)
        numbers = compute.if_else(is_number, values, None).cast(double)
    return np.asarray(numbers.to_numpy(zero_copy_only=False))


class Column:
    """A column of a table and what is known of it, added to batch by batch in bounded memory."""

    def __init__(self, name: str, role: str, options: TableOptions, decimal: str) -> None:
        self.name, self.role, self._options, self.decimal = name, role, options, decimal
        self.texts: list[AnyArray] = []
        self.missing_rows: list[IntArray] = []
        self.family = "boolean"
        self.n_rows = self.n_missing = 0
        self.counts: Counter[str] = Counter()
        self.has_many_values, self._differs = False, True
        self._all_look_like = set(ALL_LIKE)
        self._have_zeros = self._are_long = False
        self.first_missing = self.first_infinite = 0
        self.first_text: tuple[int, str] | None = None
        self.smallest, self.largest, self._offsets = math.inf, -math.inf, (math.inf, -math.inf)

    @property
    def is_of_people(self) -> bool:
        """Whether it says of the people behind the rows what is kept beside their features."""
        return self.role not in ("feature", "dropped")

    def add(self, values: Any) -> None:
        """Count the rows of a batch; rows have numbers from 1."""
        cells = Cells.of(values, self._options.missing_values, self.decimal)
        missing = np.flatnonzero(cells.missing)
        if len(missing) and not self.n_missing:
            self.first_missing = self.n_rows + int(missing[0]) + 1
        self.n_missing += len(missing)
        if self._options.missing == "drop-rows":
            self.missing_rows.append(missing + self.n_rows)
        if self.is_of_people:
            self.texts.append(cells.rows_of(np.array([*cells.texts, None], dtype=object)[:-1], None))
        if len(missing) < len(cells.codes):
            self.family = cells.family
            self._count(cells)
            if self.first_text is None and self.family in NUMERIC:
                self._look_at_numbers(cells)
        self.n_rows += len(cells.codes)

    @cached_property
    def kind(self) -> str:
        """One of `ENCODED`, "constant" or one of `REFUSED`."""
        return self._judged[0]

    @cached_property
    def note(self) -> str:
        """Why it is of that kind, where this is not plain to see."""
        return self._judged[1]

    @property
    def n_present(self) -> int:
        """Rows that have a value."""
        return self.n_rows - self.n_missing

    @property
    def are_numbers(self) -> bool:
        """Whether every value is a number."""
        return self.family in NUMERIC and self.n_present > 0 and self.first_text is None

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
        return self._differs and not few and self.n_present >= FEWEST_COUNTED

    @property
    def counts_rows(self) -> bool:
        """Whether its numbers are those of the rows but for one offset."""
        is_one = self._offsets[0] == self._offsets[1]
        return self.are_numbers and is_one and not self.n_missing and self.n_rows >= FEWEST_COUNTED

    def described(self, n_features: int) -> dict[str, Any]:
        """Return what there is to say of it, and how many features it becomes."""
        return {
            "column": self.name,
            "role": self.role,
            "kind": self.kind,
            "distinct": self._options.most_categories if self.has_many_values else len(self.counts),
            "more_distinct": self.has_many_values,
            "missing": self.n_missing,
            "features": n_features,
            "note": self.note,
        }

    def check_finite(self) -> None:
        """Refuse infinite numbers."""
        if self.first_infinite and self.are_numbers:
            where = f"column {self.name!r} holds an infinite number in row {self.first_infinite}"
            raise TableError(f"{where}; numbers must be finite.")

    def _count(self, cells: Cells) -> None:
        most, texts = self._options.most_categories, cells.family == "text"
        self._differs = self._differs and cells.counts.max() == 1
        if texts:
            self._all_look_like = {like for like in self._all_look_like if all(map(ALL_LIKE[like], cells.texts))}
            self._are_long = self._are_long or max(map(len, cells.texts)) > LONGEST
            if self.first_text is None and not self._have_zeros:
                self._have_zeros = any(map(LEADING_ZERO, cells.texts))
        # Numbers need no texts where there are more than can be counted.
        if not self.has_many_values and (texts or len(cells.values) <= most):
            for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
                self.counts[text] += count
        self.has_many_values = self.has_many_values or max(len(self.counts), len(cells.values)) > most

    def _look_at_numbers(self, cells: Cells) -> None:
        numbers, rows = cells.numbers, cells.rows_of(cells.numbers, math.nan)
        if np.isnan(numbers).any():
            row = int(np.argmax(np.isnan(rows) & ~cells.missing))
            self.first_text = self.n_rows + row + 1, cells.texts[cells.codes[row]]
            return
        if np.isinf(numbers).any() and not self.first_infinite:
            self.first_infinite = self.n_rows + int(np.argmax(np.isinf(rows))) + 1
        self.smallest, self.largest = min(self.smallest, numbers.min()), max(self.largest, numbers.max())
        if not (self.n_missing or self._offsets[0] < self._offsets[1]):
            offsets = rows - np.arange(self.n_rows, self.n_rows + len(rows))
            self._offsets = min(self._offsets[0], offsets.min()), max(self._offsets[1], offsets.max())

    @cached_property
    def _judged(self) -> tuple[str, str]:
        """The kind and the note, from all rows and from what the user says."""
        same, many = ("constant", "all values are the same"), ("free text", "too many distinct values")
        number = ("number", "") if self.smallest < self.largest else same
        is_named = self.name in self._options.categories
        if self.n_present == 0:
            return "constant", "all values are missing"
        if self.family == "nested":
            return "nested", ""
        if self.name in self._options.numbers:
            self._check_numbers()
            return number
        if not self.has_many_values and len(self.counts) == 1:
            says_who_is_missing = self.n_missing > 0 and self._options.missing == "fill"
            if not says_who_is_missing or not (is_named or not (self.are_numbers or self.are_booleans)):
                return same
        if is_named:
            return many if self.has_many_values else ("category", "as you say")
        are_texts = self.family == "text"
        looks = {
            ("date", ""): self.family == "date" or (are_texts and "date" in self._all_look_like),
            ("boolean", ""): self.are_booleans,
            ("row number", ""): self.counts_rows,
            number: self.are_numbers and not self.are_codes,
            ("decimal comma", ""): are_texts and not self.are_numbers and "decimal comma" in self._all_look_like,
            ("identifier", ""): self.differs_in_each_row,
            many: self.has_many_values,
            ("long text", ""): self._are_long,
            ("category", "numbers with leading zeros are codes" * self.are_numbers): True,
        }
        return next(kind for kind, fits in looks.items() if fits)

    def _check_numbers(self) -> None:
        if not self.are_numbers:
            where = f"{self.first_text[1]!r} in row {self.first_text[0]}" if self.first_text else self.family
            raise TableError(f"column {self.name!r} is named in numbers, but holds {where}.")


def check_kinds(columns: Sequence[Column]) -> None:
    """Refuse features that no numbers can be made of, all in one sentence."""
    refused = {column.name: REFUSED[column.kind] for column in columns if column.kind in REFUSED}
    if refused:
        listed = [f"{name!r} is {what}" for name, (what, _) in refused.items()]
        hints = sorted({hint for _, hint in refused.values()})
        more = f"; and {len(listed) - 5} others" if len(listed) > 5 else ""
        raise TableError(f"column {'; '.join(listed[:5])}{more}: {'; '.join(hints)}.")
