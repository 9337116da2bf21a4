"""Columns that tell a protected attribute: near copies of it, and values that only one group has."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.tables._column import MISSING_NAME
from fairpca.tables._encoder import TableEncoder
from fairpca.tables._split import codes_of, is_continuous

MOST_ROWS = 50_000
MOST_BYTES = 64 * 2**20
"""Rows, evenly spaced, and their size, that are looked at."""

LEAST_ROWS = 5
"""Rows of a value below which nothing can be said of it."""

MOST_VALUES = 50
COPIED = 0.9
"""Share of otherwise wrong guesses at an attribute that a near copy sets right, or of its variance that it explains."""

TOLD = 0.99
LEAST_SHARE = 0.05
"""Share of the rows of a telling value that are of one group, and least share of rows with such values."""

BY_CHANCE = 1e-6


@dataclass(frozen=True)
class NearCopy:
    """A column that tells a protected attribute.

    Attributes
    ----------
    column, attribute : str
        Their names.
    share : float
        For a near copy, the share of otherwise wrong guesses at the attribute that it sets right (of a continuous one,
        the share of its variance that it explains); else the share of rows whose value tells the attribute.
    values : tuple of str
        The values that tell it; empty for a near copy.
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
        return f"{self.column!r} tells {self.attribute!r} for {100 * self.share:.1f} % of the rows ({listed}{more})"


def step_between(n_rows: int, bytes_of_row: int) -> int:
    """Return from one to the next of the rows that are looked at.

    Parameters
    ----------
    n_rows : int
        All rows.
    bytes_of_row : int
        Size of one.
    """
    most = max(1, min(MOST_ROWS, MOST_BYTES // bytes_of_row))
    return -(-n_rows // most)


def near_copies(X: AnyArray, encoder: TableEncoder, attributes: Mapping[str, AnyArray]) -> list[NearCopy]:
    """Return the columns that tell protected attributes.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
        Rows, all or some.
    encoder : TableEncoder
        Which features belong to which column.
    attributes : mapping of str to ndarray of shape (n,)
        Protected attributes.
    """
    known = {name: values if is_continuous(values) else codes_of(values) for name, values in attributes.items()}
    continuous = {name for name, values in attributes.items() if is_continuous(values)}
    found = []
    for column in encoder.columns:
        values, names = _values(X[:, encoder.slices[column.name]], column)
        for attribute, about in known.items():
            if column.name != attribute:
                look = _near_standing if attribute in continuous else _near_groups
                found.append(look(column.name, attribute, values, names, about))
    return [copy for copy in found if copy is not None]


def _values(block: AnyArray, column: Any) -> tuple[IntArray, list[str]]:
    """Return which of a few values, or ranges of numbers, each row has, and what they are called."""
    if column.kind == "category":
        names = [MISSING_NAME if value is None else value for value in column.categories]
        return np.where(block.any(axis=1), block.argmax(axis=1), len(names)), [*names, "others"]
    numbers = block[:, 0]
    distinct, codes, counts = np.unique(numbers, return_inverse=True, return_counts=True)
    if len(distinct) <= MOST_VALUES and counts.min() >= LEAST_ROWS:
        return codes, [f"{value:g}" for value in distinct]
    n_ranges = min(MOST_VALUES, max(1, len(numbers) // (2 * LEAST_ROWS)))
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


def _near_groups(column: str, attribute: str, values: IntArray, names: list[str], about: AnyArray) -> NearCopy | None:
    """Return a column that tells groups."""
    table = np.zeros((len(names) + 1, int(about.max()) + 1))
    np.add.at(table, (_common(values, names), about), 1)
    base = table.sum(axis=0) / table.sum()
    wrong = 1 - table.max(axis=1).sum() / table.sum()
    share = 1 - wrong / (1 - base.max()) if base.max() < 1 else 0.0
    if share >= COPIED:
        return NearCopy(column, attribute, float(share))
    telling = [k for k in _telling(table, base) if k < len(names)]
    share = table[telling].sum() / table.sum()
    return NearCopy(column, attribute, float(share), tuple(names[k] for k in telling)) if share >= LEAST_SHARE else None


def _common(values: IntArray, names: list[str]) -> IntArray:
    """Return values with those of few rows, which say nothing by themselves, taken together as one beyond all."""
    counts = np.bincount(values, minlength=len(names))
    return np.where(counts[values] < LEAST_ROWS, len(names), values)


def _telling(table: AnyArray, base: AnyArray) -> IntArray:
    """Return the values of which nearly all rows are of one group, more than chance explains."""
    counts = table.sum(axis=1)
    group = table.argmax(axis=1)
    others = 1 - table.max(axis=1) / np.maximum(counts, 1)
    pure = others <= np.minimum(1 - TOLD, (1 - TOLD) * 10 * (1 - base[group]))
    return np.flatnonzero(pure & (counts >= LEAST_ROWS) & (counts * np.log(base[group]) < np.log(BY_CHANCE)))
