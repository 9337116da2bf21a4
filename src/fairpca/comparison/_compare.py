"""From what a user says of people to who is compared with whom: cells of rows, segments of cells, measures."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca.comparison._columns import (
    MOST_CELLS,
    MOST_GROUPS,
    Height,
    LabelColumn,
    NumberColumn,
    Reading,
    listed,
    of_each_block,
    read_column,
    read_weights,
    smallest_codes,
    zeros_beside,
)
from fairpca.comparison._comparison import (
    MASS,
    Comparison,
    Contrast,
    DenseColumns,
    Ranks,
    Strata,
    features_of,
    masses_of,
)
from fairpca.comparison._errors import RIGHT, Correction, ErrorRates
from fairpca.comparison._people import People, read_columns, side_by_side
from fairpca.comparison._terms import Among, Terms
from fairpca.rows import PILOT_ROWS, compute, dense, is_dask, is_sparse, strata_of


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows sorted by all of their labels: those of a cell have all in common.

    Attributes
    ----------
    labels : ndarray of int of shape (n_cells, n_columns)
        The number of the label in each column; -1 where there is none.
    rows : ndarray of int of shape (n_cells,)
        Rows with a mass above 0.
    masses, heaviest : ndarray of shape (n_cells,)
        Sum and maximum of their masses.
    codes : ndarray of int, or dask.array.Array, of shape (n, 1)
        The cell of each row; -1 for rows without mass.
    """

    labels: IntArray
    rows: IntArray
    masses: FloatArray
    heaviest: FloatArray
    codes: Any

    @classmethod
    def of(cls, columns: Sequence[LabelColumn], masses: Any, rows: Height) -> "Cells":
        """Sort rows into cells.

        Parameters
        ----------
        columns : sequence of LabelColumn
            Any number of columns, none included.
        masses : ndarray, or dask.array.Array, of shape (n, 1), or None
            Masses of rows.
        rows : int or tuple of int
            Number of rows; of a Dask table the rows of each block.
        """
        sizes = [len(column.labels) + 1 for column in columns]
        strides = [prod(sizes[:k]) for k in range(len(sizes))]
        if prod(sizes) > np.iinfo(np.int64).max // 2:
            raise ValueError(f"the columns have {prod(sizes):.2g} combinations of values; compare fewer at a time.")
        keys = zeros_beside(rows)
        for column, stride in zip(columns, strides, strict=True):
            keys = keys + stride * (column.codes.astype(np.int64) + 1)
        known = [keys] if masses is None else [keys, masses]
        parts = of_each_block(sums_of_cells, *known)
        found, counts, summed, heaviest = parts[0] if len(parts) == 1 else _added(parts)
        if len(found) > MOST_CELLS:
            raise ValueError(
                f"the rows have {len(found)} different combinations of values; at most {MOST_CELLS} can be kept "
                "apart. Use fewer columns, or merge some of their values."
            )
        labels = [found // stride % size - 1 for stride, size in zip(strides, sizes, strict=True)]
        of_cells = np.stack(labels, axis=1) if labels else np.zeros((len(found), 0), dtype=np.int64)
        code, dtype = partial(codes_of_cells, cells=found), smallest_codes(len(found))
        codes = keys.map_blocks(code, *known[1:], dtype=dtype) if is_dask(keys) else code(*known)
        return cls(of_cells, counts, summed, heaviest, codes)


Sums = tuple[IntArray, IntArray, FloatArray, FloatArray]
"""The numbers of cells, increasing, their rows, and sum and maximum of the masses of these."""


def sums_of_cells(keys: IntArray, masses: FloatArray | None = None) -> Sums:
    """Return the cells of some rows.

    Parameters
    ----------
    keys : ndarray of int of shape (n, 1)
        The number of the cell of each row.
    masses : ndarray of shape (n, 1), default=None
        Their masses; by default all are 1. Rows without mass count as absent.
    """
    flat = keys[:, 0]
    if masses is None:
        if len(flat) and flat.max() <= 64 * MOST_CELLS:
            # Without sorting where they are few.
            counts = np.bincount(flat)
            found = np.flatnonzero(counts)
            rows = counts[found]
        else:
            found, rows = np.unique(flat, return_counts=True)
        return found, rows, rows.astype(np.float64), np.ones(len(found))
    present = masses[:, 0] > 0
    weights = masses[present, 0]
    return _added([(flat[present], np.ones(len(weights), dtype=np.int64), weights, weights)])


def _added(parts: Sequence[Sums]) -> Sums:
    """Return the cells of rows in several parts, each part with any cell any number of times."""
    keys, rows, masses, heaviest = (np.concatenate(each) for each in zip(*parts, strict=True))
    found, index = np.unique(keys, return_inverse=True)
    largest = np.zeros(len(found))
    np.maximum.at(largest, index, heaviest)
    counts, summed = (np.bincount(index, each, minlength=len(found)) for each in (rows, masses))
    return found, counts.astype(np.int64), summed.astype(np.float64), largest


def codes_of_cells(keys: IntArray, masses: FloatArray | None = None, *, cells: IntArray) -> AnyArray:
    """Return the position of each row's cell among some, of shape (n, 1); -1 for rows without mass.

    Parameters
    ----------
    keys : ndarray of int of shape (n, 1)
        The number of the cell of each row.
    masses : ndarray of shape (n, 1), default=None
        Their masses.
    cells : ndarray of int of shape (n_cells,)
        The numbers of cells, increasing.
    """
    codes = np.searchsorted(cells, keys).astype(smallest_codes(len(cells)))
    return codes if masses is None else np.where(masses > 0, codes, codes.dtype.type(-1))


def distinct_cells(labels: AnyArray) -> tuple[IntArray, IntArray]:
    """Return the distinct rows of labels of cells, in order, and which of them each cell has.

    Cells are few: they are compared as tuples, in a tenth of the time that `numpy.unique` needs to begin.

    Parameters
    ----------
    labels : ndarray of int of shape (n_cells, n_columns)
        Numbers of labels; there may be no columns.
    """
    cells = [tuple(row) for row in labels.tolist()]
    found = sorted(set(cells))
    number = {cell: position for position, cell in enumerate(found)}
    index = np.array([number[cell] for cell in cells], dtype=np.int64)
    return np.array(found, dtype=np.int64).reshape(len(found), labels.shape[1]), index


@dataclass(frozen=True, eq=False)
class GroupAttribute:
    """An attribute whose values are groups.

    Attributes
    ----------
    name : str
        Its name, or empty.
    labels : list of str
        Its values.
    of_cells : ndarray of int of shape (n_cells,)
        The number of the value of each cell; -1 where there is none.
    errors : ErrorRates or None, default=None
        How often its groups are recorded wrongly.
    """

    name: str
    labels: list[str]
    of_cells: IntArray
    errors: ErrorRates | None = None


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows among which groups are compared.

    Attributes
    ----------
    name : str
        In words; empty for all rows.
    cells : ndarray of bool of shape (n_cells,)
        The cells.
    """

    name: str
    cells: BoolArray

    def words(self, name: str) -> str:
        """Return the name of something with that of these rows."""
        return f"{name} among {self.name}" if self.name else name


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure, and what a user wants to know of it.

    Attributes
    ----------
    measured : Contrast
        What is computed.
    segment : str
        Among whom, in words; empty for all rows.
    kind : {"groups", "continuous"}
        Kind of the attribute.
    n_rows : int
        Rows that are compared.
    weight : float
        Their mass.
    sides : tuple of int
        Rows on each side of what is compared; of a continuous attribute there are no sides.
    correction : Correction
        What follows from groups that are recorded wrongly: the weights are those of the true groups.
    """

    measured: Contrast
    segment: str
    kind: str
    n_rows: int
    weight: float
    sides: tuple[int, ...] = ()
    correction: Correction = RIGHT

    def as_dict(self) -> dict[str, Any]:
        """Return the record: what is compared, among whom, and how many rows."""
        return {
            "name": self.measured.name,
            "attribute": self.measured.attribute,
            "among": self.segment,
            "kind": self.kind,
            "n_rows": self.n_rows,
            "sides": self.sides,
            "weight": self.weight,
        }


def group_attributes(columns: Sequence[LabelColumn], cells: Cells, crossed: bool) -> list[GroupAttribute]:
    """Return the attributes that are compared as groups.

    Parameters
    ----------
    columns : sequence of LabelColumn
        The protected attributes, the first columns of the cells.
    cells : Cells
        The cells.
    crossed : bool
        Whether their intersections are compared, in place of each by itself.
    """
    if not (crossed and len(columns) > 1):
        return [
            GroupAttribute(column.name, [str(label) for label in column.labels], cells.labels[:, k], column.errors)
            for k, column in enumerate(columns)
        ]
    own = cells.labels[:, : len(columns)]
    complete = np.all(own >= 0, axis=1)
    found, index = distinct_cells(own[complete])
    of_cells = np.full(len(own), -1, dtype=np.int64)
    of_cells[complete] = index
    labels = [" & ".join(str(column.labels[k]) for column, k in zip(columns, row, strict=True)) for row in found]
    return [GroupAttribute(" & ".join(column.name for column in columns), labels, of_cells)]


def segments(
    among: Sequence[Among], label: IntArray | None, controls: Sequence[LabelColumn], cells: Cells
) -> list[Segment]:
    """Return the rows among which groups are compared, each by itself.

    Parameters
    ----------
    among : sequence of Among
        What the notion of fairness asks for.
    label : ndarray of int of shape (n_cells,) or None
        The number of the label y of each cell.
    controls : sequence of LabelColumn
        Control features, the last columns of the cells.
    cells : Cells
        The cells.
    """
    of_controls = cells.labels[:, cells.labels.shape[1] - len(controls) :]
    found = []
    for each, values in product(among, distinct_cells(of_controls)[0]):
        inside = np.all(of_controls == values, axis=1)
        if each.label is not None and label is not None:
            inside &= label == each.label
        names = [f"{column.name or 'control'} = {column.labels[k]}" for column, k in zip(controls, values, strict=True)]
        found.append(Segment(", ".join(filter(None, [each.name, *names])), inside))
    return found


def measures_of_groups(
    attribute: GroupAttribute, compared_among: Sequence[Segment], cells: Cells, terms: Terms, prefix: str
) -> tuple[list[Measure], list[str]]:
    """Return the measures that compare the groups of an attribute, and what is left out, in words.

    Parameters
    ----------
    attribute : GroupAttribute
        The attribute.
    compared_among : sequence of Segment
        The segments, in each of which groups are compared by themselves.
    cells : Cells
        All cells.
    terms : Terms
        Say which groups are compared with which, and what becomes of small ones.
    prefix : str
        What the names of the measures begin with.
    """
    measures: list[Measure] = []
    left_out: list[str] = []
    for segment in compared_among:
        found, words = _measures_among(segment, attribute, cells, terms, prefix)
        measures += found
        left_out += words
    if not measures:
        where = attribute.name or "sensitive_features"
        if len(attribute.labels) == 1:
            raise ValueError(f"{where} has one group only, {attribute.labels[0]!r}; two are needed to compare.")
        raise ValueError(f"{where} leaves nobody to compare: left out are {'; '.join(left_out)}.")
    return measures, left_out


def _measures_among(
    segment: Segment, attribute: GroupAttribute, cells: Cells, terms: Terms, prefix: str
) -> tuple[list[Measure], list[str]]:
    where = segment.words(attribute.name or "sensitive_features")
    inside = segment.cells & (attribute.of_cells >= 0)
    summed = partial(np.bincount, attribute.of_cells[inside], minlength=len(attribute.labels))
    members, left_out = _settled(where, attribute.labels, summed(cells.rows[inside]).astype(np.int64), terms)
    if len(members) < 2:
        return [], [*left_out, f"{where}, where fewer than two groups are left to compare"]
    masses = summed(cells.masses[inside])
    labels = tuple(" + ".join(attribute.labels[g] for g in each) for each in members)
    strata = Strata(labels, np.array([masses[each].sum() for each in members]))
    group_of = np.full(len(attribute.labels), -1)
    for number, each in enumerate(members):
        group_of[each] = number
    of_cells = np.where(inside, group_of[attribute.of_cells], -1)
    taking_part = of_cells >= 0
    shares = np.zeros(len(of_cells))
    shares[taking_part] = cells.masses[taking_part] / strata.sizes[of_cells[taking_part]]
    measures, correction = [], RIGHT
    if attribute.errors is not None:
        n_rows = strata.sizes.sum() / cells.heaviest[taking_part].max()
        correction = attribute.errors.correction(labels, strata.sizes, n_rows)
    for contrast in terms.notion.contrasts(strata):
        assert isinstance(contrast.columns, np.ndarray)
        columns = correction.scale * shares[:, None] * contrast.columns[of_cells]
        columns = np.where(taking_part[:, None], columns, 0.0)
        used = np.any(columns != 0, axis=1)
        n_rows, weight = int(cells.rows[used].sum()), float(cells.masses[used].sum())
        sides = tuple(int(cells.rows[np.any(side, axis=1)].sum()) for side in (columns > 0, columns < 0))
        measured = Contrast(segment.words(prefix + contrast.name), columns, attribute.name)
        measures.append(Measure(measured, segment.name, "groups", n_rows, weight, sides, correction))
    return measures, left_out


def _settled(where: str, labels: list[str], rows: IntArray, terms: Terms) -> tuple[list[list[int]], list[str]]:
    """Return the groups that make up each of those that are compared, and what is left out, in words."""
    least = terms.min_group_size
    small = [g for g, n in enumerate(rows) if n < least]
    large = [[g] for g in range(len(labels)) if g not in small]
    if not small:
        return large, []
    words = listed(np.array(labels)[small], rows[small], MOST_GROUPS)
    if terms.small_groups == "refuse":
        raise ValueError(
            f"{where} has groups of fewer than min_group_size={least} rows: {words}. "
            'Merge them with others, use small_groups="merge" or small_groups="leave" to leave them out of the '
            "comparison, or lower min_group_size. A fold of a cross-validation may have fewer than the whole table."
        )
    if terms.small_groups == "leave":
        return large, [f"{words} of {where}"]
    merged = [g for g in small if rows[g] > 0]
    by_size = sorted(large, key=lambda members: int(rows[members[0]]))
    while merged and sum(int(rows[g]) for g in merged) < least and by_size:
        merged += by_size.pop(0)
    kept = [members for members in large if members[0] not in merged]
    return [*kept, sorted(merged)] if merged else kept, []


def in_ranks(column: NumberColumn, masses: Any) -> NumberColumn:
    """Return where the values of an attribute stand among all; those of a Dask table come together here for that.

    Parameters
    ----------
    column : NumberColumn
        The attribute.
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        Masses of rows.
    """
    values, of_rows = column.values, masses
    if is_dask(values):
        values, of_rows = compute(values, of_rows)
    where = column.name or "sensitive_features"
    if np.isnan(values).all():
        raise ValueError(f"{where} has no values, all are missing; leave it out.")
    ranks = Ranks.among(values[:, 0], None if of_rows is None else of_rows[:, 0])
    if len(ranks.values) == 1:
        raise ValueError(f"{where} has one value only, {ranks.values[0]:g}; two are needed.")
    if is_dask(column.values):
        return NumberColumn(column.name, column.values.map_blocks(ranks.of, dtype=np.float64))
    return NumberColumn(column.name, ranks.of(values))


def dependences(
    name: str, position: int, attached: Any, compared_among: Sequence[Segment], least: int
) -> list[Measure]:
    """Return the measures of dependence on a continuous attribute, one for each segment.

    Parameters
    ----------
    name : str
        Its name, or empty.
    position : int
        Where it is among the numbers attached to rows.
    attached : ndarray, or dask.array.Array, of shape (n, k)
        What is attached to rows.
    compared_among : sequence of Segment
        The segments.
    least : int
        Rows that a segment needs.
    """
    sums = partial(feature_sums_of_block, position=position, n_cells=len(compared_among[0].cells))
    rows, masses, features = (np.sum(each, axis=0) for each in zip(*of_each_block(sums, attached), strict=True))
    measures = []
    for segment in compared_among:
        total = float(masses[segment.cells].sum())
        n_rows = int(rows[segment.cells].sum())
        if n_rows < least:
            where = segment.words(name or "sensitive_features")
            raise ValueError(f"{where} has {n_rows} rows with a value; min_group_size={least} are needed.")
        means = features[segment.cells].sum(axis=0) / total
        scales = np.append(np.where(segment.cells, 1.0 / total, 0.0), 0.0)
        label = segment.words(f"dependence on {name or 'the attribute'}")
        measured = Contrast(label, DenseColumns(position, means, scales), name)
        measures.append(Measure(measured, segment.name, "continuous", n_rows, total))
    return measures


def feature_sums_of_block(
    attached: FloatArray, position: int, n_cells: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows, masses and sums of features of an attribute, for each cell.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    position : int
        Where the attribute is.
    n_cells : int
        Number of cells.
    """
    codes, masses, places = strata_of(attached), masses_of(attached), attached[:, position]
    assert masses is not None
    present = (codes >= 0) & ~np.isnan(places)
    codes, masses = codes[present], masses[present]
    weighted = masses[:, None] * features_of(places[present])
    rows = np.bincount(codes, minlength=n_cells).astype(np.float64)
    sums = [np.bincount(codes, column, minlength=n_cells) for column in weighted.T]
    summed = np.bincount(codes, masses, minlength=n_cells).astype(np.float64)
    return rows, summed, np.stack(sums, axis=1)


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
        _, first, group = np.unique(values, return_index=True, return_inverse=True)
        for start in range(0, len(columns), width):
            part = slice(start, start + width)
            chosen = columns[part]
            block = dense(table[:, chosen]) if is_sparse(X) else table[np.ix_(rows, chosen)]
            varies[part] = block.min(axis=0) < block.max(axis=0)
            block = block.astype(np.float64, copy=False)
            if self.is_continuous:
                follows[part] = [_rises_or_falls(column, values) for column in block.T]
            else:
                follows[part] = np.all(block == block[first][group], axis=0)
        return follows, varies


def _rises_or_falls(column: FloatArray, values: FloatArray) -> bool:
    one, other = Ranks.among(column).of(column), Ranks.among(values).of(values)
    return bool(np.allclose(one, other, atol=1e-9) or np.allclose(1 - one, other, atol=1e-9))


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


def compare(people: People, rows: Height, terms: Terms, tolerance: Any) -> Compared:
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
    needs_labels = terms.notion.needs_labels
    if people.sensitive_features is not None and needs_labels and people.y is None:
        raise ValueError(f"fairness={terms.fairness!r} speaks of labels: pass them as y, one for each row.")
    masses = read_weights(people.sample_weight, rows)
    if people.sensitive_features is None:
        codes = Cells.of([], masses, rows).codes
        return Compared(codes if masses is None else side_by_side(codes, masses, []), None, (), {}, ())
    attributes = read_columns("sensitive_features", people.sensitive_features, rows, terms)
    of_labels = [read_column("y", people.y, rows, Reading("y"))] if needs_labels else []
    of_controls = read_columns("control_features", people.control_features, rows)
    groups, labels, controls = (
        [column for column in columns if isinstance(column, LabelColumn)]
        for columns in (attributes, of_labels, of_controls)
    )
    numbers = [in_ranks(column, masses) for column in attributes if isinstance(column, NumberColumn)]
    cells = Cells.of([*groups, *labels, *controls], masses, rows)
    attached = cells.codes if masses is None and not numbers else side_by_side(cells.codes, masses, numbers)
    among = terms.notion.among(labels[0].labels.tolist() if labels else [], terms.favourable)
    compared_among = segments(among, cells.labels[:, len(groups)] if labels else None, controls, cells)
    compared = group_attributes(groups, cells, terms.sensitive == "intersections")
    several = len({each.name for each in compared} | {each.name for each in numbers}) > 1
    measures: list[Measure] = []
    left_out: list[str] = []
    for attribute in compared:
        prefix = f"{attribute.name}: " if several else ""
        found, words = measures_of_groups(attribute, compared_among, cells, terms, prefix)
        measures += found
        left_out += words
    for position, number in enumerate(numbers, start=MASS + 1):
        measures += dependences(number.name, position, attached, compared_among, terms.min_group_size)
    heaviest = None if masses is None else cells.heaviest
    comparison = Comparison.of(cells.masses, [each.measured for each in measures], tolerance, heaviest)
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
    return Compared(attached, comparison, tuple(measures), kinds, tuple(left_out), tuple(known), exchangeable)
