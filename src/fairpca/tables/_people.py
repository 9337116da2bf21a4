"""What is known of the people behind the rows: attributes, labels, segments and weights."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison import People
from fairpca.exceptions import TableError
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._tally import Tally

MOST_GROUPS = 100
"""Values of a protected attribute of texts at most; `FairPCA` compares no more groups."""


def values_of(
    name: str, texts: Sequence[AnyArray], tally: Tally, options: TableOptions, decimal: str = "."
) -> AnyArray:
    """Return a column of people: numbers where all are numbers, booleans, or texts with None for missing ones.

    Parameters
    ----------
    name : str
        Its name.
    texts : sequence of ndarray of object
        Its values batch by batch, as texts.
    tally : Tally
        What was counted.
    options : TableOptions
        What the user says.
    decimal : {".", ","}, default="."
        The decimal mark of numbers in texts.
    """
    column = np.concatenate(texts)
    if name in options.categories or (tally.has_leading_zeros and name not in options.numbers):
        return column
    if tally.are_booleans and tally.n_present:
        return column if tally.n_missing else _each(column, lambda text: text.lower() == "true", np.dtype(bool))
    if not tally.are_numbers:
        return column
    if not tally.n_missing and all(map(_is_whole, set(column.tolist()))):
        return _each(column, int, np.dtype(np.int64))
    return _each(column, lambda text: _number(text, decimal), np.dtype(np.float64))


def check_sensitive(name: str, tally: Tally) -> None:
    """Refuse a protected attribute that makes no groups.

    Parameters
    ----------
    name : str
        The column.
    tally : Tally
        What was counted.
    """
    where = f"the sensitive column {name!r}"
    if tally.n_present == 0:
        raise TableError(f"{where} has no values at all; name another.")
    if tally.family == "nested":
        raise TableError(f"{where} is made of lists, bytes or records; it must hold texts or numbers.")
    if not tally.has_many_values and len(tally.counts) == 1:
        raise TableError(f"{where} has the one value {next(iter(tally.counts))[:40]!r}: there is nothing to compare.")
    if not tally.are_numbers and tally.differ_in_each_row:
        raise TableError(f"{where} is different in each row: it names people, not groups.")
    if not tally.are_numbers and (tally.has_many_values or len(tally.counts) > MOST_GROUPS):
        raise TableError(f"{where} has more than {MOST_GROUPS} values; merge some, for groups must have several rows.")


def weights_of(name: str, values: AnyArray, tally: Tally, decimal: str = ".") -> FloatArray:
    """Return weights, and refuse what is none.

    Parameters
    ----------
    name : str
        The column.
    values : ndarray of shape (n,)
        Its values.
    tally : Tally
        What was counted.
    decimal : {".", ","}, default="."
        The decimal mark of numbers in texts.
    """
    if not tally.are_numbers:
        what = f"{tally.first_text[1][:40]!r} in row {tally.first_text[0] + 1}" if tally.first_text else "no values"
        raise TableError(f"the weight column {name!r} must hold numbers; it holds {what}.")
    weights = np.array([_number(value, decimal) for value in values], dtype=np.float64)
    if (weights < 0).any():
        raise TableError(
            f"the weight column {name!r} holds a negative number in row {int(np.argmax(weights < 0)) + 1}; weights are "
            "at least 0."
        )
    if not (weights > 0).any():
        raise TableError(f"the weight column {name!r} has no weight above 0.")
    return weights


def people_in(rows: IntArray | BoolArray, columns: Mapping[str, AnyArray], roles: Roles) -> People:
    """Return what is known of some of the people.

    Parameters
    ----------
    rows : ndarray of int or bool
        Which rows.
    columns : mapping of str to ndarray
        Their columns.
    roles : Roles
        Which is what.
    """
    return People(
        sensitive_features={name: columns[name][rows] for name in roles.sensitive},
        y=None if roles.label is None else columns[roles.label][rows],
        control_features={name: columns[name][rows] for name in roles.control} or None,
        sample_weight=None if roles.weight is None else columns[roles.weight][rows],
    )


def _each(column: AnyArray, convert: Callable[[str], object], dtype: "np.dtype[np.generic]") -> AnyArray:
    """Return what becomes of each text; equal ones are converted once."""
    texts = column.tolist()
    table = {text: convert(text) for text in set(texts)}
    return np.fromiter(map(table.__getitem__, texts), dtype=dtype, count=len(texts))


def _number(value: Any, decimal: str) -> float:
    if value is None:
        return np.nan
    return float(value.replace(decimal, ".") if isinstance(value, str) else value)


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-").removeprefix("+")
    return digits.isascii() and digits.isdigit() and len(digits) < 19
