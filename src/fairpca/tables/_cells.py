"""The cells of a column in some of its rows."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.tables._reading import Reading
from fairpca.tables._text import arrow

NUMERIC = ("text", "number", "boolean")
"""Families of types that may hold numbers."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of some rows: the number of the value of each row, -1 where it is missing, and the values that occur."""

    codes: IntArray
    values: Any
    family: str

    @classmethod
    def of(cls, column: Any, missing_values: Sequence[str]) -> "Cells":
        """Take a column of a batch; `family` is text, number, boolean, date, time or nested."""
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
        return cls(codes, values, family)

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
    def typed(self) -> FloatArray:
        """Values that are no texts as numbers: those of dates are days since 1970, those of times are hours."""
        values = self.values
        if self.family == "nested":
            return np.full(len(values), np.nan)
        scale = 1.0
        if self.family in ("date", "time"):
            kind, scale = ("time64", 3.6e9) if self.family == "time" else ("timestamp", 8.64e10)
            values = values.cast(getattr(arrow(), kind)("us"), safe=False).cast(arrow().int64())
        return np.asarray(values.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False)) / scale

    @cached_property
    def booleans(self) -> FloatArray:
        """The values as 0 and 1; NaN where they are neither true nor false."""
        known = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
        return np.array([known.get(text.lower(), np.nan) for text in self.texts], dtype=np.float64)

    def numbers(self, reading: Reading) -> FloatArray:
        """Return the values as numbers; NaN where one is none."""
        if self.family == "text":
            return reading.numbers(self.values)
        fits = self.family == reading.kind or (self.family in NUMERIC and reading.kind == "number")
        return self.typed if fits else np.full(len(self.values), np.nan)

    def rows_of(self, values: AnyArray, absent: Any) -> AnyArray:
        """Return for each row what belongs to its value, or to a missing one."""
        return np.append(values, np.array([absent], dtype=values.dtype))[self.codes]


def texts_of(column: Any, missing_values: Sequence[str]) -> AnyArray:
    """Return a column of a batch as texts, with None for missing ones."""
    cells = Cells.of(column, missing_values)
    return cells.rows_of(np.array(cells.texts, dtype=object), None)


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
    if types.is_timestamp(kind) or types.is_date(kind):
        return "date"
    return "time" if types.is_time(kind) else "nested"


def _as_text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)
