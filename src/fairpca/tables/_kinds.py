"""Which kind a column is of, from what was counted in all of its rows."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import dataclass

from fairpca.exceptions import TableError
from fairpca.tables._options import TableOptions
from fairpca.tables._tally import Tally

ENCODED = ("number", "boolean", "category")
REFUSED = {
    "date": "a date",
    "identifier": "an identifier, different in each row",
    "row number": "a count of the rows",
    "free text": "free text of many different values",
    "long text": "long text",
    "nested": "made of lists, bytes or records",
    "decimal comma": "made of numbers with commas",
}
"""Kinds that no numbers are made of, in words."""


@dataclass(frozen=True)
class Kind:
    """The kind of a column.

    Attributes
    ----------
    name : str
        "number", "boolean", "category", "constant", or one of those that are refused.
    note : str
        Why, where it is not plain to see.
    """

    name: str
    note: str = ""


def kind_of(name: str, tally: Tally, options: TableOptions) -> Kind:
    """Return the kind of a column.

    Parameters
    ----------
    name : str
        Its name.
    tally : Tally
        What was counted.
    options : TableOptions
        What the user says.
    """
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
        return (
            Kind("free text", "too many distinct values") if tally.has_many_values else Kind("category", "as you say")
        )
    return _seen(tally)


def _seen(tally: Tally) -> Kind:
    """Return the kind of a column that varies, as it looks."""
    if tally.are_dates:
        return Kind("date")
    if tally.are_booleans:
        return Kind("boolean")
    if tally.count_rows:
        return Kind("row number")
    if tally.are_numbers and not tally.has_leading_zeros:
        return _number(tally)
    if tally.have_decimal_commas:
        return Kind("decimal comma")
    return _category(tally, "numbers with leading zeros are codes" if tally.are_numbers else "")


def check_kinds(kinds: Mapping[str, Kind]) -> None:
    """Refuse columns that no numbers can be made of, all in one sentence.

    Parameters
    ----------
    kinds : mapping of str to Kind
        The kinds of the features.
    """
    refused = {name: kind.name for name, kind in kinds.items() if kind.name in REFUSED}
    if refused:
        listed = [f"{name!r} is {REFUSED[kind]}" for name, kind in refused.items()]
        hints = sorted({_hint(kind) for kind in refused.values()})
        more = f"; and {len(listed) - 5} others" if len(listed) > 5 else ""
        raise TableError(f"column {'; '.join(listed[:5])}{more}: {'; '.join(hints)}.")


def _hint(kind: str) -> str:
    if kind == "decimal comma":
        return "read it with decimal=',' if these are decimal marks, else write it without them"
    if kind == "nested":
        return "leave it out with drop"
    if kind == "row number":
        return "leave it out with drop, or name it in numbers if it says something of people"
    if kind == "free text":
        return "leave it out with drop, or merge values, or allow for more with most_categories"
    return "leave it out with drop, or name it in categories if its values are few"


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


def _category(tally: Tally, note: str) -> Kind:
    if tally.differ_in_each_row:
        return Kind("identifier")
    if tally.has_many_values:
        return Kind("free text", "too many distinct values")
    return Kind("long text") if tally.has_long_texts else Kind("category", note)
