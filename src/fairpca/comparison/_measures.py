"""From cells of rows to measures: which attribute, among whom, which groups, small ones, dependence on numbers."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import BoolArray, FloatArray, IntArray
from fairpca.comparison._cells import Cells, distinct_cells
from fairpca.comparison._columns import MOST_GROUPS, LabelColumn, NumberColumn, listed
from fairpca.comparison._comparison import Contrast, Dependence, Strata
from fairpca.comparison._errors import RIGHT, Correction, ErrorRates
from fairpca.comparison._terms import Among, Terms
from fairpca.comparison._weights import DenseColumns, Ranks, features_of, masses_of
from fairpca.rows import compute, is_dask, strata_of


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

    def words(self, attribute: str) -> str:
        """Return an attribute among these rows, in words."""
        return (attribute or "sensitive_features") + (f" among {self.name}" if self.name else "")


@dataclass(frozen=True, eq=False)
class Measure:
    """A measure, and what a user wants to know of it.

    Attributes
    ----------
    measured : Contrast or Dependence
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

    measured: Contrast | Dependence
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


def group_measures(
    attribute: GroupAttribute, segment: Segment, cells: Cells, terms: Terms
) -> tuple[list[Measure], list[str]]:
    """Return the measures that compare the groups of an attribute in a segment, and what is left out, in words.

    Parameters
    ----------
    attribute : GroupAttribute
        The attribute.
    segment : Segment
        The rows.
    cells : Cells
        All cells.
    terms : Terms
        Say which groups are compared with which, and what becomes of small ones.
    """
    where = segment.words(attribute.name)
    inside = segment.cells & (attribute.of_cells >= 0)
    summed = partial(np.bincount, attribute.of_cells[inside], minlength=len(attribute.labels))
    members, left_out = _settled(where, attribute.labels, summed(cells.sums.rows[inside]).astype(np.int64), terms)
    if len(members) < 2:
        return [], [*left_out, f"{where}, where fewer than two groups are left to compare"]
    masses = summed(cells.sums.masses[inside])
    labels = tuple(" + ".join(attribute.labels[g] for g in each) for each in members)
    strata = Strata(labels, np.array([masses[each].sum() for each in members]))
    group_of = np.full(len(attribute.labels), -1)
    for number, each in enumerate(members):
        group_of[each] = number
    of_cells = np.where(inside, group_of[attribute.of_cells], -1)
    taking_part = of_cells >= 0
    shares = np.zeros(len(of_cells))
    shares[taking_part] = cells.sums.masses[taking_part] / strata.sizes[of_cells[taking_part]]
    measures, correction = [], RIGHT
    if attribute.errors is not None:
        n_rows = strata.sizes.sum() / cells.sums.heaviest[taking_part].max()
        correction = attribute.errors.correction(labels, strata.sizes, n_rows)
    for contrast in terms.notion.contrasts(strata):
        columns = correction.scale * shares[:, None] * contrast.columns[of_cells]
        columns = np.where(taking_part[:, None], columns, 0.0)
        used = np.any(columns != 0, axis=1)
        measured = replace(contrast, columns=columns, attribute=attribute.name)
        n_rows, weight = int(cells.sums.rows[used].sum()), float(cells.sums.masses[used].sum())
        sides = tuple(int(cells.sums.rows[np.any(side, axis=1)].sum()) for side in (columns > 0, columns < 0))
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


def with_full_names(measures: Sequence[Measure]) -> Iterator[Measure]:
    """Yield measures whose names say the attribute, where there are several, and the segment, where there is one."""
    several = len({measure.measured.attribute for measure in measures}) > 1
    for measure in measures:
        name = measure.measured.name
        if several and measure.kind == "groups":
            name = f"{measure.measured.attribute}: {name}"
        if measure.segment:
            name = f"{name} among {measure.segment}"
        yield replace(measure, measured=replace(measure.measured, name=name))


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
    if np.isnan(values).all():
        raise ValueError(f"{column.name or 'sensitive_features'} has no values, all are missing; leave it out.")
    ranks = Ranks.among(values[:, 0], None if of_rows is None else of_rows[:, 0])
    if len(ranks.values) == 1:
        raise ValueError(
            f"{column.name or 'sensitive_features'} has one value only, {ranks.values[0]:g}; two are needed."
        )
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
    rows, masses, features = _feature_sums(attached, position, len(compared_among[0].cells))
    measures = []
    for segment in compared_among:
        total = float(masses[segment.cells].sum())
        n_rows = int(rows[segment.cells].sum())
        if n_rows < least:
            raise ValueError(
                f"{segment.words(name)} has {n_rows} rows with a value; min_group_size={least} are needed."
            )
        means = features[segment.cells].sum(axis=0) / total
        scales = np.append(np.where(segment.cells, 1.0 / total, 0.0), 0.0)
        columns = DenseColumns(position, means, scales)
        label = f"dependence on {name or 'the attribute'}"
        measures.append(Measure(Dependence(label, columns, name), segment.name, "continuous", n_rows, total))
    return measures


def _feature_sums(attached: Any, position: int, n_cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    function = partial(feature_sums_of_block, position=position, n_cells=n_cells)
    if not is_dask(attached):
        return function(attached)
    delayed = require("dask", "dask").delayed(function)
    found = compute(*map(delayed, attached.to_delayed()[:, 0]))
    rows, masses, features = (np.sum(each, axis=0) for each in zip(*found, strict=True))
    return rows, masses, features


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
