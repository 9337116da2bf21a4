"""The people behind the rows: their attributes, labels, segments and weights, and who is held out."""
# SPDX-License-Identifier: MIT

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.validation import check_random_state

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.exceptions import TableError
from fairpca.tables._columns import Column
from fairpca.tables._encoder import MISSING_NAME, TableEncoder
from fairpca.tables._options import FEW, MOST_CATEGORIES
from fairpca.tables._reading import Cells
from fairpca.tables._text import arrow

WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII).fullmatch

LEAST_ROWS = 5
"""Rows of a value below which nothing can be said of it."""

COPIED = 0.9
"""Share of otherwise wrong guesses at an attribute that a near copy sets right, or of its variance that it explains."""


def values_of(column: Column) -> AnyArray:
    """Return a column of people: numbers where all are numbers, booleans, or texts with None for missing ones."""
    texts = np.concatenate(column.texts)
    if column.are_codes or not (column.are_numbers or column.are_booleans):
        return texts
    if column.are_booleans:
        return texts if column.n_missing else np.array([text.lower() == "true" for text in texts.tolist()])
    if not column.n_missing and all(map(WHOLE, set(texts.tolist()))):
        return texts.astype(np.int64)
    return _as_numbers(column, texts)


def _as_numbers(column: Column, texts: AnyArray) -> FloatArray:
    cells = Cells.of(arrow().array(texts, "large_string"), ())
    return cells.rows_of(cells.numbers(column.numerals.reading), math.nan)


def check_sensitive(column: Column) -> None:
    """Refuse a protected attribute that makes no groups."""
    where, n_groups = f"the sensitive column {column.name!r}", len(column.counts)
    if column.n_present == 0:
        raise TableError(f"{where} has no values at all; name another.")
    if column.family == "nested":
        raise TableError(f"{where} is made of lists, bytes or records; it must hold texts or numbers.")
    if not column.has_many_values and n_groups == 1:
        raise TableError(f"{where} has the one value {next(iter(column.counts))[:40]!r}: there is nothing to compare.")
    if not column.are_numbers and column.differs_in_each_row:
        raise TableError(f"{where} is different in each row: it names people, not groups.")
    if not column.are_numbers and (column.has_many_values or n_groups > MOST_CATEGORIES):
        raise TableError(
            f"{where} has more than {MOST_CATEGORIES} values; merge some, for groups must have several rows."
        )


def weights_of(column: Column) -> FloatArray:
    """Return weights, and refuse what is none."""
    where = f"the weight column {column.name!r}"
    if not column.are_numbers:
        raise TableError(f"{where} must hold numbers; it holds {column.numerals.first_unread or 'no values'}.")
    values = values_of(column)
    weights = _as_numbers(column, values) if values.dtype == object else values.astype(np.float64)
    if (weights < 0).any():
        row = int(np.argmax(weights < 0)) + 1
        raise TableError(f"{where} holds a negative number in row {row}; weights are at least 0.")
    if not (weights > 0).any():
        raise TableError(f"{where} has no weight above 0.")
    return weights


# Who is held out


def held_out_rows(share: float, attributes: Iterable[AnyArray], random_state: Any) -> BoolArray:
    """Draw the rows that are held out: the same share of all who have the same attributes."""
    random = check_random_state(random_state)
    strata = _strata(attributes)
    steps = np.floor(share * np.arange(len(strata) + 1) + random.random_sample())
    held_out = np.zeros(len(strata), dtype=bool)
    held_out[np.lexsort([random.random_sample(len(strata)), strata])] = np.diff(steps) > 0
    return held_out


def _codes_of(values: AnyArray) -> IntArray:
    """Return the number of the group of each row; a missing value is a group of its own."""
    if values.dtype == object:
        code_of = {text: code for code, text in enumerate([*sorted(set(values.tolist()) - {None}), None])}
        return np.array([code_of[text] for text in values.tolist()])
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def is_continuous(values: AnyArray) -> bool:
    """Tell whether an attribute is a number of many values."""
    return values.dtype.kind in "if" and len(np.unique(values)) > FEW


def _strata(attributes: Iterable[AnyArray]) -> IntArray:
    columns = [_binned(values) if is_continuous(values) else _codes_of(values) for values in attributes]
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _binned(values: AnyArray, n_bins: int = 4) -> IntArray:
    """Return parts of a continuous attribute, each of which has its share of rows held out."""
    missing = np.isnan(values.astype(np.float64))
    bins = np.full(len(values), n_bins)
    bins[~missing] = (rankdata(values[~missing]) - 1) * n_bins // max(1, (~missing).sum())
    return bins


# Columns that reveal an attribute


@dataclass(frozen=True)
class NearCopy:
    """A column that reveals a protected attribute.

    Attributes
    ----------
    column, attribute : str
        Their names.
    share : float
        For a near copy, the share of otherwise wrong guesses at the attribute that it sets right (of a continuous one,
        the share of its variance that it explains); else the share of rows whose value reveals the attribute.
    values : tuple of str
        The values that reveal it; empty for a near copy.
    """

    column: str
    attribute: str
    share: float
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.values:
            return f"{self.column!r} is nearly a copy of {self.attribute!r} ({100 * self.share:.1f} %)"
        more = ", ..." if len(self.values) > 3 else ""
        listed = ", ".join(map(repr, self.values[:3]))
        return f"{self.column!r} reveals {self.attribute!r} for {100 * self.share:.1f} % of the rows ({listed}{more})"


def step_between(n_rows: int, bytes_of_row: int, most_rows: int = 50_000, most_bytes: int = 64 * 2**20) -> int:
    """Return from one to the next of the rows in which copies are looked for."""
    return max(1, math.ceil(n_rows / max(1, min(most_rows, most_bytes // bytes_of_row))))


def near_copies(X: AnyArray, encoder: TableEncoder, attributes: Mapping[str, AnyArray]) -> list[NearCopy]:
    """Return the columns that reveal protected attributes, from rows, all or some, and the attributes of the same."""
    looks = {
        name: (_near_standing, about) if is_continuous(about) else (_near_groups, _codes_of(about))
        for name, about in attributes.items()
    }
    found = []
    for column in encoder.columns:
        values, names = _values(X[:, encoder.slices[column.name]], column)
        for attribute, (look, about) in looks.items():
            if column.name != attribute:
                found.append(look(column.name, attribute, values, names, about))
    return [copy for copy in found if copy is not None]


def _values(block: AnyArray, column: Any, most: int = 50) -> tuple[IntArray, list[str]]:
    """Return which of a few values, or ranges of numbers, each row has, and what they are called."""
    if column.kind == "category":
        names = [MISSING_NAME if value is None else value for value in column.categories]
        return np.where(block.any(axis=1), block.argmax(axis=1), len(names)), [*names, "others"]
    numbers = block[:, 0]
    distinct, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if len(distinct) <= most and counts.min() >= LEAST_ROWS:
        return codes, [f"{value:g}" for value in distinct]
    n_ranges = min(most, max(1, len(numbers) // (2 * LEAST_ROWS)))
    codes = ((rankdata(numbers) - 1) * n_ranges // len(numbers)).astype(np.int64)
    _, codes = np.unique(codes, return_inverse=True)
    ranges = [numbers[codes == k] for k in range(int(codes.max()) + 1)]
    return codes, [f"{each.min():g} to {each.max():g}" for each in ranges]


def _near_standing(column: str, attribute: str, values: IntArray, names: list[str], about: AnyArray) -> NearCopy | None:
    """Return a column that explains the ranks of a continuous attribute."""
    known = ~np.isnan(about.astype(np.float64))
    values, ranks = _common(values, names)[known], rankdata(about[known])
    means = np.bincount(values, ranks) / np.maximum(np.bincount(values), 1)
    share = float(np.var(means[values]) / np.var(ranks)) if np.ptp(ranks) else 0.0
    return NearCopy(column, attribute, share) if share >= COPIED else None


def _near_groups(
    column: str, attribute: str, values: IntArray, names: list[str], about: AnyArray, least_share: float = 0.05
) -> NearCopy | None:
    """Return a column that reveals groups: of all rows, or by some values those of a share that is worth a word."""
    table = np.zeros((len(names) + 1, int(about.max()) + 1))
    np.add.at(table, (_common(values, names), about), 1)
    base = table.sum(axis=0) / table.sum()
    wrong = 1 - table.max(axis=1).sum() / table.sum()
    share = 1 - wrong / (1 - base.max()) if base.max() < 1 else 0.0
    if share >= COPIED:
        return NearCopy(column, attribute, float(share))
    revealing = [k for k in _revealing(table, base) if k < len(names)]
    share = table[revealing].sum() / table.sum()
    return (
        NearCopy(column, attribute, float(share), tuple(names[k] for k in revealing)) if share >= least_share else None
    )


def _common(values: IntArray, names: list[str]) -> IntArray:
    """Return values with those of few rows, which say nothing by themselves, taken together as one beyond all."""
    counts = np.bincount(values, minlength=len(names))
    return np.where(counts[values] < LEAST_ROWS, len(names), values)


def _revealing(table: AnyArray, base: AnyArray, told: float = 0.99, by_chance: float = 1e-6) -> IntArray:
    """Return the values of which nearly all rows, `told`, are of one group, more than chance explains."""
    counts = table.sum(axis=1)
    group = table.argmax(axis=1)
    others = 1 - table.max(axis=1) / np.maximum(counts, 1)
    pure = others <= np.minimum(1 - told, (1 - told) * 10 * (1 - base[group]))
    return np.flatnonzero(pure & (counts >= LEAST_ROWS) & (counts * np.log(base[group]) < np.log(by_chance)))
