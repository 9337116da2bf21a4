"""Numbers, dates and times as people write them, a column in one way."""
# SPDX-License-Identifier: MIT

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from unicodedata import category

import numpy as np

from fairpca._utils.typing import BoolArray, FloatArray
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
NO_VALUE = {
    *(
        "-",
        "--",
        "–",
        "—",
        ".",
        "..",
        "...",
        "*",
        "?",
        "n.a.",
        "na",
        "n/a",
        "n.d.",
        "nd",
        "n.c.",
        "nc",
        "k.a.",
        "k. a.",
    ),
    *("unknown", "unk", "missing", "not known", "not available", "not applicable", "not stated", "not reported"),
    *("no answer", "no data", "refused", "prefer not to say", "blank", "keine angabe", "ohne angabe", "unbekannt"),
    *("fehlt", "inconnu", "inconnue", "non renseigné", "non communiqué", "sconosciuto", "desconocido", "sin dato"),
    *("sin datos", "#n/a", "#div/0!", "#value!", "#ref!", "#num!", "#name?", "#null!"),
}
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
    return _moments(values, way), None


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
    parts = {name: compute.struct_field(found, name) for name in ("digits", "exponent", "before", "after")}
    group = re.escape("," if mark == "." else ".")
    whole = rf"^(?:{GROUPED.replace('S', group)}|[0-9]+)(?:{re.escape(mark)}[0-9]*)?$|^{re.escape(mark)}[0-9]+$"
    digits = parts["digits"]
    is_whole = compute.match_substring_regex(digits, whole)
    digits = compute.replace_substring_regex(compute.if_else(is_whole, digits, None), rf"[' {group}]", "")
    digits = compute.replace_substring(digits, mark, ".")
    numbers = compute.binary_join_element_wise(digits, parts["exponent"], nothing).cast(double)
    infinite = compute.match_substring_regex(texts, r"^[-+]?(?i:inf|infinity)$")
    numbers = compute.if_else(infinite, compute.if_else(compute.starts_with(texts, "-"), -math.inf, math.inf), numbers)
    signs = [compute.struct_field(found, name) for name in ("open", "sign", "minus", "behind")]
    negative = compute.match_substring_regex(compute.binary_join_element_wise(*signs, nothing), r"[(\-−–]")
    numbers = compute.if_else(compute.fill_null(negative, False), compute.negate(numbers), numbers)
    units = compute.utf8_trim_whitespace(compute.binary_join_element_wise(parts["before"], parts["after"], nothing))
    return np.asarray(numbers.to_numpy(zero_copy_only=False)), np.array(
        compute.fill_null(units, "").to_pylist(), object
    )


def begin_like_dates(values: Any) -> BoolArray:
    """Tell which texts may be dates or times.

    Parameters
    ----------
    values : pyarrow array of str
        The texts.
    """
    like = arrow(".compute").match_substring_regex(values, BEGINS_LIKE_DATE).fill_null(False)
    return np.asarray(like.to_numpy(zero_copy_only=False))


def _moments(values: Any, order: str) -> FloatArray:
    """Return days since 1970, or hours."""
    found = np.full(len(values), np.nan)
    for k in np.flatnonzero(begin_like_dates(values)).tolist():
        text = values[k].as_py()
        found[k] = _hours(text) if order == "time" else _days(text, order)
    return found


def _days(text: str, order: str) -> float:
    parts = DATE.fullmatch(re.sub(r"^([A-Za-z]{3,9})\.? (\d{1,2}), (\d{4})", r"\2 \1 \3", text))
    if parts is None:
        return math.nan
    first, mark, second, third, time = parts.groups()
    is_named = not second.isdigit()
    begins_with_year = len(first) == 4
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
    number = int(hours)
    if half is not None:
        number = number % 12 + 12 * (half.lower() == "p")
    east = 0.0 if zone is None else int(zone) + math.copysign(int(zone_minutes or 0) / 60, float(zone))
    return number + int(minutes) / 60 + float((seconds or "0").replace(",", ".")) / 3600 - east
