"""From what a user says of people to who is compared with whom."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison._cells import Cells, distinct_cells
from fairpca.comparison._columns import LabelColumn, NumberColumn, Reading, read_column
from fairpca.comparison._comparison import Comparison
from fairpca.comparison._dask_columns import read_column_beside
from fairpca.comparison._errors import ErrorRates
from fairpca.comparison._measures import (
    Measure,
    Segment,
    dependences,
    group_attributes,
    group_measures,
    in_ranks,
    segments,
    with_full_names,
)
from fairpca.comparison._terms import People, Terms, columns_of
from fairpca.comparison._weights import MASS, Ranks, read_weights
from fairpca.rows import PILOT_ROWS, dense, is_dask, is_sparse


@dataclass(frozen=True, eq=False)
class KnownAttribute:
    """A protected attribute, row by row.

    Attributes
    ----------
    name : str
        Its name, or empty.
    values : ndarray of shape (n,)
        The number of the group of each row, -1 where it has none; or where it stands, NaN where it does not.
    is_continuous : bool
        Which of the two.
    labels : tuple of str, default=()
        What the groups are called, in the order of their numbers.
    errors : ErrorRates or None, default=None
        How often groups are recorded wrongly.
    """

    name: str
    values: AnyArray
    is_continuous: bool
    labels: tuple[str, ...] = ()
    errors: ErrorRates | None = None

    def scale_among(self, rows: BoolArray | slice = slice(None)) -> float:
        """Return how many times larger a difference of the true groups is than that of the recorded ones, on rows."""
        if self.errors is None:
            return 1.0
        values = self.values[rows]
        sizes = np.bincount(values[values >= 0], minlength=2)
        return self.errors.correction(self.labels, sizes, sizes.sum()).scale if sizes.all() else 1.0

    def proxies(self, X: Any) -> BoolArray:
        """Tell which columns reveal the attribute: functions of the groups, or monotone in the numbers, on all rows.

        Parameters
        ----------
        X : ndarray or compressed sparse rows, of shape (n, p)
            Rows.
        """
        known = np.flatnonzero(~np.isnan(self.values) if self.is_continuous else self.values >= 0)
        # Most columns differ on a part of the rows already; what is constant there may still vary elsewhere.
        follows, varies = self._compared(X, known[:: max(1, len(known) // PILOT_ROWS)], np.arange(X.shape[1]))
        candidates = np.flatnonzero(follows | ~varies)
        follows, varies = self._compared(X, known, candidates)
        proxies = np.zeros(X.shape[1], dtype=bool)
        proxies[candidates] = follows & varies
        return proxies

    def _compared(self, X: Any, rows: IntArray, columns: IntArray) -> tuple[BoolArray, BoolArray]:
        """Tell of some columns whether they follow the attribute on some rows, and whether they vary there."""
        table = X[rows].tocsc() if is_sparse(X) else X
        width = max(1, 4 * BLOCK_NUMBERS // max(1, len(rows)))
        values, follows, varies = self.values[rows], np.zeros(len(columns), bool), np.zeros(len(columns), bool)
        for start in range(0, len(columns), width):
            part = slice(start, start + width)
            chosen = columns[part]
            block = dense(table[:, chosen]) if is_sparse(X) else table[np.ix_(rows, chosen)]
            varies[part] = block.min(axis=0) < block.max(axis=0)
            follows[part] = self._followed_by(block.astype(np.float64, copy=False), values)
        return follows, varies

    def _followed_by(self, block: FloatArray, values: AnyArray) -> BoolArray:
        if self.is_continuous:
            return np.array([_rises_or_falls(column, values) for column in block.T], dtype=bool)
        _, first, index = np.unique(values, return_index=True, return_inverse=True)
        return np.all(block == block[first][index], axis=0)


def _rises_or_falls(column: FloatArray, values: FloatArray) -> bool:
    one, other = Ranks.among(column).of(column), Ranks.among(values).of(values)
    return bool(np.allclose(one, other, atol=1e-9) or np.allclose(1 - one, other, atol=1e-9))


Column = LabelColumn | NumberColumn


@dataclass(frozen=True, eq=False)
class Compared:
    """Rows in strata, and what is compared.

    Attributes
    ----------
    attached : ndarray, or dask.array.Array, of shape (n, k)
        For each row its stratum; then, where rows have masses or continuous attributes, its mass and where it stands
        in each attribute.
    comparison : Comparison or None
        Contrasts between the strata and dependence on attributes; None without sensitive features.
    measures : tuple of Measure
        What users want to know of the measures.
    kinds : dict of str to str
        Whether each attribute is compared as "groups" or as "continuous".
    left_out : tuple of str
        What is left out of the comparison because it is small, in words.
    known : tuple of KnownAttribute
        The attributes row by row, where rows are in memory.
    exchangeable : ndarray of int of shape (n_strata,)
        A number for each stratum, the same for those whose rows may change places if nothing depends on the
        attributes: they have the same label and controls, and lack the same attributes.
    """

    attached: Any
    comparison: Comparison | None
    measures: tuple[Measure, ...]
    kinds: dict[str, str]
    left_out: tuple[str, ...]
    known: tuple[KnownAttribute, ...] = ()
    exchangeable: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))


def compare(people: People, rows: int | tuple[int, ...], terms: Terms, tolerance: Any) -> Compared:
    """Sort rows into strata and say which of them are compared.

    Parameters
    ----------
    people : People
        What is known of the rows.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    terms : Terms
        How they are to be compared.
    tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
        tau, for all measures, one by one, or by attribute.
    """
    if people.sensitive_features is not None and terms.notion.needs_labels and people.y is None:
        raise ValueError(f"fairness={terms.fairness!r} speaks of labels: pass them as y, one for each row.")
    masses = read_weights(people.sample_weight, rows)
    if people.sensitive_features is None:
        return Compared(_attached(Cells.of([], masses, _zeros(rows)), masses, []), None, (), {}, ())
    attributes = read_attributes(people, rows, terms)
    of_labels = [read_either("y", people.y, rows, Reading("y"))] if terms.notion.needs_labels else []
    of_controls = [] if people.control_features is None else _columns("control_features", people.control_features, rows)
    groups, labels, controls = (
        [column for column in columns if isinstance(column, LabelColumn)]
        for columns in (attributes, of_labels, of_controls)
    )
    numbers = [in_ranks(column, masses) for column in attributes if isinstance(column, NumberColumn)]
    cells = Cells.of([*groups, *labels, *controls], masses, _zeros(rows))
    attached = _attached(cells, masses, numbers)
    among = terms.notion.among(labels[0].labels.tolist() if labels else [], terms.favourable)
    compared_among = segments(among, cells.labels[:, len(groups)] if labels else None, controls, cells)
    measures, left_out = _of_groups(groups, cells, compared_among, terms)
    for position, number in enumerate(numbers, start=MASS + 1):
        measures += dependences(number.name, position, attached, compared_among, terms.min_group_size)
    named = tuple(with_full_names(measures))
    heaviest = None if masses is None else cells.sums.heaviest
    comparison = Comparison.of(cells.sums.masses, [each.measured for each in named], tolerance, heaviest)
    kinds = {each.name or "sensitive_features": "groups" if each in groups else "continuous" for each in attributes}
    known: list[KnownAttribute] = []
    if isinstance(rows, int):
        known = [
            KnownAttribute(each.name, each.codes[:, 0], False, tuple(map(str, each.labels)), each.errors)
            for each in groups
        ]
        known += [KnownAttribute(each.name, each.values[:, 0], is_continuous=True) for each in numbers]
    lacking = cells.labels[:, : len(groups)] < 0
    exchangeable = distinct_cells(np.hstack([lacking, cells.labels[:, len(groups) :]]))[1]
    return Compared(attached, comparison, named, kinds, tuple(left_out), tuple(known), exchangeable)


def _of_groups(
    groups: Sequence[LabelColumn], cells: Cells, compared_among: Sequence[Segment], terms: Terms
) -> tuple[list[Measure], list[str]]:
    """Return the measures that compare groups, and what is left out, in words."""
    measures: list[Measure] = []
    left_out: list[str] = []
    for attribute in group_attributes(groups, cells, terms.sensitive == "intersections"):
        found = [group_measures(attribute, segment, cells, terms) for segment in compared_among]
        words = list(chain.from_iterable(each for _, each in found))
        if not any(each for each, _ in found):
            where = attribute.name or "sensitive_features"
            if len(attribute.labels) == 1:
                raise ValueError(f"{where} has one group only, {attribute.labels[0]!r}; two are needed to compare.")
            raise ValueError(f"{where} leaves nobody to compare: left out are {'; '.join(words)}.")
        measures += chain.from_iterable(each for each, _ in found)
        left_out += words
    return measures, left_out


def read_attributes(people: People, rows: int | tuple[int, ...], terms: Terms) -> list[Column]:
    """Return the protected attributes, checked and coded."""
    return _columns("sensitive_features", people.sensitive_features, rows, terms)


def _columns(argument: str, table: Any, rows: int | tuple[int, ...], terms: Terms | None = None) -> list[Column]:
    """Return the columns that were passed as an argument, checked and coded; with terms those of attributes."""
    named = columns_of(table, argument)
    names = [name for name, _ in named]
    kinds = ["groups"] * len(named) if terms is None else terms.kinds_of(names)
    errors = [None] * len(named) if terms is None else terms.errors_of(names)
    missing = "refuse" if terms is None else terms.missing
    found = []
    for column, kind, rates in zip(named, kinds, errors, strict=True):
        where = f"{argument}[{column[0]!r}]" if len(named) > 1 else argument
        read = read_either(*column, rows, Reading(where, kind, missing, terms is not None))
        if rates is not None:
            rates.check_groups(where, [str(label) for label in getattr(read, "labels", [])])
            assert isinstance(read, LabelColumn)
            read = replace(read, errors=rates)
        found.append(read)
    return found


def read_either(name: str, values: Any, rows: int | tuple[int, ...], reading: Reading) -> Column:
    """Return a column beside rows in memory or in a Dask table, checked and coded."""
    if isinstance(rows, int):
        return read_column(name, values, rows, reading)
    return read_column_beside(name, values, rows, reading)


def _zeros(rows: int | tuple[int, ...]) -> Any:
    if isinstance(rows, int):
        return np.zeros((rows, 1), dtype=np.int64)
    return require("dask.array", "dask").zeros((sum(rows), 1), chunks=(rows, (1,)), dtype=np.int64)


def _attached(cells: Cells, masses: Any, numbers: Sequence[NumberColumn]) -> Any:
    if masses is None and not numbers:
        return cells.codes
    array = require("dask.array", "dask") if is_dask(cells.codes) else np
    ones = array.ones_like(cells.codes, dtype=np.float64)
    columns = [cells.codes.astype(np.float64), ones if masses is None else masses]
    columns += [number.values for number in numbers]
    attached = array.concatenate(columns, axis=1)
    return attached.rechunk({1: -1}) if is_dask(attached) else attached
