"""The cells of one column in one batch: which of a few distinct values each row has."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.tables._arrow import arrow, arrow_module

MISSING_VALUES = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NAN", "null", "NULL")
"""Texts that stand for no value. "None" is none of them, for it may be an answer."""

LOOKED_AT = 200
"""Rows from which it is told whether numbers repeat."""

NUMBER = r"^[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|(?i:inf|infinity))$"


@dataclass(frozen=True, eq=False)
class Cells:
    """A column of some rows.

    Attributes
    ----------
    codes : ndarray of int of shape (n,)
        The number of the value of each row; -1 where it is missing.
    values : pyarrow.Array
        The values, some of which may be equal.
    family : {"text", "number", "boolean", "date", "nested"}
        What the values are.
    decimal : {".", ","}
        The decimal mark of numbers in texts.
    """

    codes: IntArray
    values: Any
    family: str
    decimal: str = "."

    @classmethod
    def of(cls, column: Any, missing_values: frozenset[str], decimal: str) -> "Cells":
        """Read a column of a batch.

        Parameters
        ----------
        column : pyarrow.Array
            The column.
        missing_values : frozenset of str
            Texts that stand for no value.
        decimal : {".", ","}
            The decimal mark of numbers in texts.
        """
        family = _family(column.type)
        if family == "nested":
            codes = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, 0)
            return cls(codes, arrow().array(["(nested)"]), family)
        if arrow().types.is_floating(column.type) and _differ(column):
            numbers = column.cast(arrow().float64())
            codes = np.where(np.isnan(numbers.to_numpy(zero_copy_only=False)), -1, np.arange(len(numbers)))
            return cls(codes, numbers, family, decimal)
        coded = plain(column).dictionary_encode()
        codes, values = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), coded.dictionary
        if family == "text":
            values = arrow_module("compute").utf8_trim_whitespace(values)
            codes = _without(codes, [text in missing_values for text in values.to_pylist()])
        elif arrow().types.is_floating(values.type):
            codes = _without(codes, np.isnan(values.to_numpy(zero_copy_only=False)))
        return cls(codes, values, family, decimal)

    @property
    def missing(self) -> BoolArray:
        """Which rows have no value."""
        return self.codes < 0

    @cached_property
    def texts(self) -> list[str]:
        """The values as texts; whole numbers have no decimal mark."""
        if self.family == "text":
            return self.values.to_pylist()
        return [_plain(value) for value in self.values.to_pylist()]

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as numbers; NaN where a text is none."""
        if self.family == "text":
            return _parsed(self.values, self.decimal)
        if self.family in ("number", "boolean"):
            return np.asarray(self.values.cast(arrow().float64(), safe=False).to_numpy(zero_copy_only=False))
        return np.full(len(self.values), np.nan)

    @cached_property
    def booleans(self) -> FloatArray:
        """The values as 0 and 1; NaN where they are neither true nor false."""
        known = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}
        return np.array([known.get(text.lower(), np.nan) for text in self.texts], dtype=np.float64)

    @cached_property
    def occurring(self) -> IntArray:
        """The numbers of the values that some row has."""
        return np.flatnonzero(np.bincount(self.codes[self.codes >= 0]))

    def rows_of(self, values: AnyArray, absent: Any) -> AnyArray:
        """Return for each row what belongs to its value.

        Parameters
        ----------
        values : ndarray
            One for each of the values.
        absent : object
            What belongs to a missing one.
        """
        return np.append(values, np.array([absent], dtype=values.dtype))[self.codes]


def plain(column: Any) -> Any:
    """Return a column without a coding of its own, and texts in one type.

    Parameters
    ----------
    column : pyarrow.Array
        The column.
    """
    if arrow().types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return column.cast(arrow().large_string()) if _family(column.type) == "text" else column


def _family(kind: Any) -> str:
    types = arrow().types
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or getattr(types, "is_string_view", bool)(kind):
        return "text"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_boolean(kind) or types.is_null(kind):
        return "boolean"
    return "date" if types.is_temporal(kind) else "nested"


def _differ(numbers: Any) -> bool:
    """Tell from the first rows whether numbers are so different that it is not worth coding them."""
    first = numbers.slice(0, LOOKED_AT)
    return len(first.unique()) > LOOKED_AT // 2


def _without(codes: IntArray, left_out: Any) -> IntArray:
    """Return codes with -1 in place of those that are left out."""
    mask = np.append(np.asarray(left_out, dtype=bool), False)
    return np.where(mask[codes], -1, codes) if mask.any() else codes


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


def _parsed(values: Any, decimal: str) -> FloatArray:
    compute, double = arrow_module("compute"), arrow().float64()
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
