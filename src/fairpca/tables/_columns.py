"""What a column is: its values batch by batch, what is counted of them, and the kind that follows."""
# SPDX-License-Identifier: MIT

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
SOME_LIKE = {"code": re.compile(r"[+-]?0\d").match, "long text": re.compile(r".{201}", re.DOTALL).match}
"""What all texts of a column, or some of them, may look like. Longer ones than 200 letters name no category."""

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
        compute = arrow(".compute")
        coded = plain(column).dictionary_encode()
        values, absent = coded.dictionary, None
        if family == "text":
            values = compute.utf8_trim_whitespace(values)
            absent = compute.is_in(values, value_set=arrow().array(missing_values, values.type))
        elif arrow().types.is_floating(values.type):
            absent = compute.is_nan(values)
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        if absent is not None:
            # Texts may be equal but for blanks, and values that stand for none are no values.
            again = compute.if_else(absent, None, values).dictionary_encode()
            numbers = again.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            codes, values = np.append(numbers, -1)[codes], again.dictionary
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


class Tally:
    """What is known of a column, added to batch by batch in bounded memory; at most so many values are counted."""

    def __init__(self, most_values: int) -> None:
        self._most_values = most_values
        self.family = "boolean"
        self.n_rows = self.n_missing = 0
        self.counts: Counter[str] = Counter()
        self.has_many_values, self.differs = False, True
        self.all_look_like, self.some_look_like = set(ALL_LIKE), set[str]()
        self.first_missing: int | None = None
        self.first_infinite: int | None = None
        self.first_text: tuple[int, str] | None = None
        self.smallest, self.largest = math.inf, -math.inf
        self._offsets = math.inf, -math.inf

    def add(self, cells: Cells) -> None:
        """Count the rows of a batch."""
        if cells.missing.any() and not self.n_missing:
            self.first_missing = self.n_rows + int(cells.missing.argmax())
        self.n_missing += int(cells.missing.sum())
        if not cells.missing.all():
            self.family = cells.family
            self._count(cells)
            if self.first_text is None and self.family in NUMERIC:
                self._look_at_numbers(cells)
        self.n_rows += len(cells.codes)

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
        return self.family in NUMERIC and self.n_present > 0 and self.first_text is None

    @property
    def are_booleans(self) -> bool:
        """Whether every value is true or false."""
        words = not self.has_many_values and {text.lower() for text in self.counts} <= {"true", "false"}
        return self.family == "boolean" or words

    @property
    def have_leading_zeros(self) -> bool:
        """Whether some values begin with a 0 that no number needs."""
        return "code" in self.some_look_like

    @property
    def differ_in_each_row(self) -> bool:
        """Whether no two rows have the same value, as far as they were compared."""
        few = not self.has_many_values and len(self.counts) < self.n_present
        return self.differs and not few and self.n_present >= FEWEST_COUNTED

    @property
    def count_rows(self) -> bool:
        """Whether the numbers are those of the rows but for one offset."""
        is_one = self._offsets[0] == self._offsets[1]
        return self.are_numbers and is_one and not self.n_missing and self.n_rows >= FEWEST_COUNTED

    def _count(self, cells: Cells) -> None:
        self.differs = self.differs and cells.counts.max() == 1
        if cells.family == "number":
            # Numbers need no texts where there are more than can be counted.
            self.has_many_values = self.has_many_values or len(cells.values) > self._most_values
        elif cells.family == "text":
            self.all_look_like = {like for like in self.all_look_like if all(map(ALL_LIKE[like], cells.texts))}
            self.some_look_like |= {like for like in SOME_LIKE if any(map(SOME_LIKE[like], cells.texts))}
        if not self.has_many_values:
            for text, count in zip(cells.texts, cells.counts.tolist(), strict=True):
                self.counts[text] += count
            self.has_many_values = len(self.counts) > self._most_values

    def _look_at_numbers(self, cells: Cells) -> None:
        numbers, rows = cells.numbers, cells.rows_of(cells.numbers, math.nan)
        if np.isnan(numbers).any():
            row = int(np.argmax(np.isnan(rows) & ~cells.missing))
            self.first_text = self.n_rows + row, cells.texts[cells.codes[row]]
            return
        if np.isinf(numbers).any() and self.first_infinite is None:
            self.first_infinite = self.n_rows + int(np.argmax(np.isinf(rows)))
        self.smallest, self.largest = min(self.smallest, numbers.min()), max(self.largest, numbers.max())
        if not (self.n_missing or self._offsets[0] < self._offsets[1]):
            offsets = rows - np.arange(self.n_rows, self.n_rows + len(rows))
            self._offsets = min(self._offsets[0], offsets.min()), max(self._offsets[1], offsets.max())


@dataclass(frozen=True)
class Kind:
    """The kind of a column: one of `ENCODED`, "constant" or one of `REFUSED`; and why, where it is not plain to see."""

    name: str
    note: str = ""


def kind_of(name: str, tally: Tally, options: TableOptions) -> Kind:
    """Return the kind of a column, from what was counted in all of its rows and what the user says."""
    if tally.n_present == 0:
        return Kind("constant", "all values are missing")
    if tally.family == "nested":
        return Kind("nested")
    if name in options.numbers:
        _check_numbers(name, tally)
        return _number(tally)
    is_named = name in options.categories
    if _is_constant(tally, options, as_category=is_named):
        return Kind("constant", "all values are the same")
    if is_named:
        many = Kind("free text", "too many distinct values")
        return many if tally.has_many_values else Kind("category", "as you say")
    return _seen(tally)


def _seen(tally: Tally) -> Kind:
    """Return the kind of a column that varies, as it looks."""
    are_texts, numbers = tally.family == "text", tally.are_numbers
    looks = {
        "date": tally.family == "date" or (are_texts and "date" in tally.all_look_like),
        "boolean": tally.are_booleans,
        "row number": tally.count_rows,
        "number": numbers and not tally.have_leading_zeros,
        "decimal comma": are_texts and not numbers and "decimal comma" in tally.all_look_like,
        "identifier": tally.differ_in_each_row,
        "free text": tally.has_many_values,
        "long text": "long text" in tally.some_look_like,
    }
    name = next((name for name, fits in looks.items() if fits), "category")
    if name == "number":
        return _number(tally)
    notes = {"free text": "too many distinct values", "category": "numbers with leading zeros are codes" * numbers}
    return Kind(name, notes.get(name, ""))


def check_kinds(kinds: Mapping[str, Kind]) -> None:
    """Refuse features that no numbers can be made of, all in one sentence."""
    refused = {name: REFUSED[kind.name] for name, kind in kinds.items() if kind.name in REFUSED}
    if refused:
        listed = [f"{name!r} is {what}" for name, (what, _) in refused.items()]
        hints = sorted({hint for _, hint in refused.values()})
        more = f"; and {len(listed) - 5} others" if len(listed) > 5 else ""
        raise TableError(f"column {'; '.join(listed[:5])}{more}: {'; '.join(hints)}.")


def _check_numbers(name: str, tally: Tally) -> None:
    if not tally.are_numbers:
        where = f"{tally.first_text[1]!r} in row {tally.first_text[0] + 1}" if tally.first_text else tally.family
        raise TableError(f"column {name!r} is named in numbers, but holds {where}.")


def _is_constant(tally: Tally, options: TableOptions, *, as_category: bool) -> bool:
    if tally.has_many_values or len(tally.counts) > 1:
        return False
    says_who_is_missing = tally.n_missing > 0 and options.missing == "fill"
    is_text = as_category or not (tally.are_numbers or tally.are_booleans)
    return not (says_who_is_missing and is_text)


def _number(tally: Tally) -> Kind:
    return Kind("number") if tally.smallest < tally.largest else Kind("constant", "all values are the same")
