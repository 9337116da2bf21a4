"""From cells of rows to measures: which attribute, among whom, which groups; what becomes of small ones."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, IntArray
from fairpca.comparison._cells import Cells, distinct_cells
from fairpca.comparison._columns import LabelColumn
from fairpca.comparison._comparison import Contrast, Dependence, Strata
from fairpca.comparison._terms import Among, Notion


@dataclass(frozen=True)
class SmallGroups:
    """The rule for groups with few rows.

    Attributes
    ----------
    least : int
        Rows that a group needs.
    rule : {"refuse", "merge", "leave"}
        What becomes of smaller ones.
    """

    least: int
    rule: str

    def settle(self, where: str, labels: list[str], rows: IntArray) -> "Settled":
        """Decide which groups are compared.

        Parameters
        ----------
        where : str
            What they are groups of, in words.
        labels : list of str
            Their names.
        rows : ndarray of int of shape (n_groups,)
            Their rows.
        """
        small = [g for g, n in enumerate(rows) if n < self.least]
        if not small:
            return Settled([[g] for g in range(len(labels))], [])
        if self.rule == "refuse":
            raise ValueError(
                f"{where} has groups of fewer than min_group_size={self.least} rows: {named(labels, rows, small)}. "
                'Merge them with others, use small_groups="merge" or small_groups="leave" to leave them out of the '
                "comparison, or lower min_group_size."
            )
        large = [[g] for g in range(len(labels)) if g not in small]
        if self.rule == "leave":
            return Settled(large, [f"{named(labels, rows, small)} of {where}"])
        merged = [g for g in small if rows[g] > 0]
        by_size = sorted(large, key=lambda members: int(rows[members[0]]))
        while merged and sum(int(rows[g]) for g in merged) < self.least and by_size:
            merged += by_size.pop(0)
        kept = [members for members in large if members[0] not in merged]
        return Settled([*kept, sorted(merged)] if merged else kept, [])


@dataclass(frozen=True)
class Settled:
    """Groups that are compared.

    Attributes
    ----------
    members : list of list of int
        The groups that make up each of them.
    left_out : list of str
        What is left out of the comparison, in words.
    """

    members: list[list[int]]
    left_out: list[str]


def named(labels: list[str], rows: IntArray, chosen: list[int]) -> str:
    """Return some groups with their rows, in words."""
    return ", ".join(f"{labels[g]!r} ({rows[g]} {'row' if rows[g] == 1 else 'rows'})" for g in chosen)


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
    """

    name: str
    labels: list[str]
    of_cells: IntArray


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
    """

    measured: Contrast | Dependence
    segment: str
    kind: str
    n_rows: int
    weight: float
    sides: tuple[int, ...] = ()

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
            GroupAttribute(column.name, [str(label) for label in column.labels], cells.labels[:, k])
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
    attribute: GroupAttribute, segment: Segment, cells: Cells, notion: Notion, rule: SmallGroups
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
    notion : Notion
        Says which groups are compared with which.
    rule : SmallGroups
        Says what becomes of small ones.
    """
    where = segment.words(attribute.name)
    inside = segment.cells & (attribute.of_cells >= 0)
    rows = _summed(attribute, inside, cells.sums.rows).astype(np.int64)
    settled = rule.settle(where, attribute.labels, rows)
    if len(settled.members) < 2:
        return [], [*settled.left_out, f"{where}, where fewer than two groups are left to compare"]
    masses = _summed(attribute, inside, cells.sums.masses)
    labels = tuple(" + ".join(attribute.labels[g] for g in members) for members in settled.members)
    strata = Strata(labels, np.array([masses[members].sum() for members in settled.members]))
    group_of = np.full(len(attribute.labels), -1)
    for number, members in enumerate(settled.members):
        group_of[members] = number
    of_cells = np.where(inside, group_of[attribute.of_cells], -1)
    taking_part = of_cells >= 0
    shares = np.zeros(len(of_cells))
    shares[taking_part] = cells.sums.masses[taking_part] / strata.sizes[of_cells[taking_part]]
    measures = []
    for contrast in notion.contrasts(strata):
        columns = np.where(taking_part[:, None], shares[:, None] * contrast.columns[of_cells], 0.0)
        used = np.any(columns != 0, axis=1)
        measured = replace(contrast, columns=columns, attribute=attribute.name)
        n_rows, weight = int(cells.sums.rows[used].sum()), float(cells.sums.masses[used].sum())
        sides = tuple(int(cells.sums.rows[np.any(side, axis=1)].sum()) for side in (columns > 0, columns < 0))
        measures.append(Measure(measured, segment.name, "groups", n_rows, weight, sides))
    return measures, settled.left_out


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


def _summed(attribute: GroupAttribute, inside: BoolArray, numbers: AnyArray) -> AnyArray:
    return np.bincount(attribute.of_cells[inside], numbers[inside], minlength=len(attribute.labels))
