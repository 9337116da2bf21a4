"""The cells of a column, and numbers, dates and times as people write them, a column in one way."""
# SPDX-License-Identifier: MIT

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any
from unicodedata import category

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.tables._text import arrow

DECIMAL_MARKS = (".", ",")
DATE_ORDERS = ("YMD", "DMY", "MDY", "time")
"""Orders of year, month and day; a time is one without a day."""

CODES = "CHF|EUR|USD|GBP|INR|JPY|CNY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|TRY|BRL|MXN|ZAR|SGD|HKD|KRW|ILS"
MONEY = rf"[A-Z]{{0,3}}\p{{Sc}}|{CODES}|R\$|Rs\.?|S?Fr\.?|kr\.?|zł|Kč"
"""Signs and codes of money, which may stand before a number or behind it."""

ATTACHED = "kg|g|mg|t|lbs?|oz|km|m|cm|mm|mi|ft|in|m²|m2|ha|l|ml|h|hrs?|min|s|sec|ms|yrs?|°C|°F|kWh|kW|W|k|K|M|bn"
"""Units that may stand behind a number without a blank; behind a blank any word may."""

NUMERAL = (
    r"^(?P<open>\(?)\s*(?P<sign>[-+−–]?)\s*"
    rf"(?P<before>(?:{MONEY})?)\s*(?P<minus>[-−–]?)\s*"
    r"(?P<digits>[.,]?[0-9](?:[0-9.,' ]*[0-9])?[.,]?)(?P<exponent>(?:[eE][-+]?[0-9]+)?)"
    rf"(?P<after>(?:\s?(?:{MONEY}|{ATTACHED}|[%‰°]|/-)|\s[\p{{L}}][\p{{L}}²³/.]{{0,15}})?)"
    r"(?P<behind>[-−]?)\)?$"
)
GROUPED = r"[1-9][0-9]{0,2}(?:(?:S[0-9]{2,3})*S[0-9]{3}|(?:'[0-9]{3})+|(?: [0-9]{3})+)"
"""Thousands, or lakhs and crores, parted by S, by apostrophes or by blanks."""

DATE = re.compile(
    r"(\d{4}|\d{1,2})([-/.]|\. ?| )(\d{1,2}|[a-z]{3,9}\.?)[-/. ] ?(\d{4}|\d{1,2})(?:[t ,] ?(\d.*))?",
    re.ASCII | re.IGNORECASE,
)
TIME = re.compile(
    r"(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d+)?))?\s?([ap])?\.?(?:m\.?)?\s?(?:z|utc|([-+]\d{2}):?(\d{2})?)?",
    re.ASCII | re.IGNORECASE,
)
BEGINS_LIKE_DATE = (
    r"^(?:[0-9]{1,4}(?:[-/. ]|\. )(?:[0-9]{1,2}|[A-Za-z]{3,9}\.?)[-/. ] ?[0-9]"
    r"|[A-Za-z]{3,9}\.? [0-9]{1,2}, |[0-9]+:[0-9]{2})"
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NO_VALUE_WORDS = (
    "-|--|–|—|.|..|...|*|?|n.a.|na|n/a|n.d.|nd|n.c.|nc|k.a.|k. a.|unknown|unk|missing|not known|not available|"
    "not applicable|not stated|not reported|no answer|no data|refused|prefer not to say|blank|keine angabe|"
    "ohne angabe|unbekannt|fehlt|inconnu|inconnue|non renseigné|non communiqué|sconosciuto|desconocido|sin dato|"
    "sin datos|#n/a|#div/0!|#value!|#ref!|#num!|#name?|#null!"
)
NO_VALUE = frozenset(NO_VALUE_WORDS.split("|"))
"""Words, in small letters, that stand for no value among numbers; among other words they may be an answer."""


@dataclass(frozen=True)
class Reading:
    """How the texts of a column become numbers.

    Attributes
    ----------
    way : {".", ",", "YMD", "DMY", "MDY", "time"}, default="."
        The decimal mark of numbers, or the order of year, month and day of dates.
    unit : str, default=""
        What stands with the numbers.
    words : tuple of str, default=()
        Texts that stand for no value, beside those of all columns.
    """

    way: str = "."
    unit: str = ""
    words: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of the column."""
        return "number" if self.way in DECIMAL_MARKS else "time" if self.way == "time" else "date"

    @property
    def note(self) -> str:
        """What there is to say of it."""
        says = {",": "decimal comma", "YMD": "days since 1970", "time": "hours"}
        of_days = "" if self.way in says or self.kind != "date" else f"{self.way}, days since 1970"
        words = f"{', '.join(map(repr, self.words))} taken as missing" if self.words else ""
        unit = f"in {self.unit}" if self.unit else ""
        return "; ".join(filter(None, (unit, says.get(self.way, of_days), words)))

    def numbers(self, values: Any) -> FloatArray:
        """Return texts as numbers; NaN where one cannot be read so, or has another unit.

        Parameters
        ----------
        values : pyarrow array of str
            The texts, without blanks around them.
        """
        numbers, units = read(values, self.way)
        return numbers if units is None else np.where((units == "") | (units == self.unit), numbers, np.nan)


PLAIN = Reading()
"""Of numbers as computers write them."""


def is_money(units: Sequence[str]) -> bool:
    """Tell whether one of some units is a sign or a code of money.

    Parameters
    ----------
    units : sequence of str
        The units.
    """
    return any(unit in CODES.split("|") or any(category(letter) == "Sc" for letter in unit) for unit in units)


def read(values: Any, way: str) -> tuple[FloatArray, Any]:
    """Return what texts are as numbers in one way, NaN where they are none, and their units, if any has one.

    Parameters
    ----------
    values : pyarrow array of str
        The texts.
    way : str
        As `Reading.way`.
    """
    if way in DECIMAL_MARKS:
        return _numerals(values, way)
    moments = np.full(len(values), np.nan)
    for k in np.flatnonzero(begin_like_dates(values)).tolist():
        moments[k] = _hours(values[k].as_py()) if way == "time" else _days(values[k].as_py(), way)
    return moments, None


def _numerals(values: Any, mark: str) -> tuple[FloatArray, Any]:
    compute, double, nothing = arrow(".compute"), arrow().float64(), arrow().scalar("", values.type)
    has_point = mark == "," and compute.any(compute.match_substring(values, ".")).as_py()
    if not has_point:
        try:
            return np.asarray(values.cast(double).to_numpy(zero_copy_only=False)), None
        except arrow().lib.ArrowInvalid:
            pass
    # Blanks and apostrophes of all kinds part thousands.
    texts = compute.replace_substring_regex(values, "[\u00a0\u2007\u2009\u202f]", " ")
    texts = compute.replace_substring_regex(texts, "[’`´]", "'")
    # "1200.-" is a price without cents.
    texts = compute.replace_substring_regex(texts, "([0-9])[.,][-–—]{1,2}", r"\1")
    found = compute.extract_regex(texts, NUMERAL)

    def part(*names: str) -> Any:
        return compute.binary_join_element_wise(*(compute.struct_field(found, name) for name in names), nothing)

    group = re.escape("," if mark == "." else ".")
    whole = rf"^(?:{GROUPED.replace('S', group)}|[0-9]+)(?:{re.escape(mark)}[0-9]*)?$|^{re.escape(mark)}[0-9]+$"
    digits = compute.if_else(compute.match_substring_regex(part("digits"), whole), part("digits"), None)
    digits = compute.replace_substring(compute.replace_substring_regex(digits, rf"[' {group}]", ""), mark, ".")
    numbers = compute.binary_join_element_wise(digits, part("exponent"), nothing).cast(double)
    infinite = compute.match_substring_regex(texts, r"^[-+]?(?i:inf|infinity)$")
    numbers = compute.if_else(infinite, compute.if_else(compute.starts_with(texts, "-"), -math.inf, math.inf), numbers)
    negative = compute.match_substring_regex(part("open", "sign", "minus", "behind"), r"[(\-−–]").fill_null(False)
    numbers = compute.if_else(negative, compute.negate(numbers), numbers)
    units = compute.utf8_trim_whitespace(part("before", "after")).fill_null("")
    return np.asarray(numbers.to_numpy(zero_copy_only=False)), np.array(units.to_pylist(), object)


def begin_like_dates(values: Any) -> BoolArray:
    """Tell which texts may be dates or times.

    Parameters
    ----------
    values : pyarrow array of str
        The texts.
    """
    like = arrow(".compute").match_substring_regex(values, BEGINS_LIKE_DATE).fill_null(False)
    return np.asarray(like.to_numpy(zero_copy_only=False))


def _days(text: str, order: str) -> float:
    parts = DATE.fullmatch(re.sub(r"^([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})", r"\2 \1 \3", text))
    if parts is None:
        return math.nan
    first, mark, second, third, time = parts.groups()
    is_named, begins_with_year = not second.isdigit(), len(first) == 4
    # A point, or the name of a month, is never that of an American date.
    if begins_with_year != (order == "YMD") or ((is_named or mark.startswith(".")) and order == "MDY"):
        return math.nan
    year, month, day = (first, second, third) if begins_with_year else (third, second, first)
    if order == "MDY":
        month, day = day, month
    hours = 0.0 if time is None else _hours(time)
    try:
        number = MONTHS.index(month[:3].lower()) + 1 if is_named else int(month)
        moment = datetime(_full(year), number, int(day), tzinfo=UTC)
    except ValueError:
        return math.nan
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1) + hours / 24


def _full(year: str) -> int:
    # As C and Excel have it: two digits are of 1969 to 2068.
    return int(year) if len(year) == 4 else (1900 if int(year) >= 69 else 2000) + int(year)


def _hours(text: str) -> float:
    parts = TIME.fullmatch(text)
    if parts is None:
        return math.nan
    hours, minutes, seconds, half, zone, zone_minutes = parts.groups()
    number = int(hours) if half is None else int(hours) % 12 + 12 * (half.lower() == "p")
    east = 0.0 if zone is None else int(zone) + math.copysign(int(zone_minutes or 0) / 60, float(zone))
    return number + int(minutes) / 60 + float((seconds or "0").replace(",", ".")) / 3600 - east


# Cells

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
        compute, column = arrow(".compute"), plain(column)
        family = _family(column.type)
        if family == "nested":
            codes = np.where(column.is_null().to_numpy(zero_copy_only=False), -1, 0)
            return cls(codes, arrow().array(["(nested)"]), family)
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
        values, scale = self.values, 1.0
        if self.family == "nested":
            return np.full(len(values), np.nan)
        if self.family in ("date", "time"):
            kind, scale = ("time64[us]", 3.6e9) if self.family == "time" else ("timestamp[us]", 8.64e10)
            values = values.cast(kind, safe=False).cast("int64")
        return np.asarray(values.cast("float64", safe=False).to_numpy(zero_copy_only=False)) / scale

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

    def texts_of_rows(self) -> AnyArray:
        """Return the text of each row, None where it is missing."""
        return self.rows_of(np.array(self.texts, dtype=object), None)


def texts_of(column: Any, missing_values: Sequence[str]) -> AnyArray:
    """Return a column of a batch as texts, with None for missing ones."""
    return Cells.of(column, missing_values).texts_of_rows()


def plain(column: Any) -> Any:
    """Return a column without a coding of its own, which changes from batch to batch, and texts in one type."""
    if arrow().types.is_dictionary(column.type):
        return plain(column.dictionary).take(column.indices)
    return column.cast(arrow().large_string()) if _family(column.type) == "text" else column


def _family(kind: Any) -> str:
    types = arrow().types
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
