"""People of a stream on the sides of comparisons that are known by their names."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairpca._utils.typing import IntArray
from fairpca.comparison._columns import ABSENT, LabelColumn, Reading, read_column
from fairpca.comparison._compare import Cells
from fairpca.comparison._people import People, columns_of
from fairpca.comparison._terms import Terms

OTHERS = "all others"


class NamedSides:
    """Finds the sides of people in comparisons, from the records of these: `name`, `attribute` and `among`.

    Rows may come one by one and may have any of the groups: unlike in `compare`, nothing is made of how many there are.

    Parameters
    ----------
    records : sequence of mappings
        The comparisons of groups.
    terms : Terms
        How people are compared.
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], terms: Terms) -> None:
        self.terms = terms
        # Small groups are merged or left out in each segment by itself.
        self._where = [(record["attribute"], _plain_segment(record["among"])) for record in records]
        pairs = [_sides_in(record) for record in records]
        self._groups: dict[tuple[str, str], dict[str, str]] = {where: {} for where in self._where}
        for where, sides in zip(self._where, pairs, strict=True):
            self._groups[where].update(self._members(side for side in sides if side != OTHERS))
        self._sides = [self._numbered(*each) for each in zip(self._where, pairs, strict=True)]

    def of(self, people: People, n_rows: int) -> IntArray:
        """Return 0 or 1 for the side of each row in each comparison, -1 where it takes no part, of shape (n, k).

        Parameters
        ----------
        people : People
            What is known of the rows; those whose attribute is missing take no part, unless they are a group.
        n_rows : int
            Their number.
        """
        if self.terms.notion.needs_labels and people.y is None:
            raise ValueError(f"fairness={self.terms.fairness!r} speaks of labels: pass them as y, one for each row.")
        attributes = self._read(people.sensitive_features, "sensitive_features", n_rows)
        labels = [_read("y", people.y, "y", n_rows)] if self.terms.notion.needs_labels else []
        controls = (
            [] if people.control_features is None else self._read(people.control_features, "control_features", n_rows)
        )
        if not controls and (segment := next(filter(self._has_control, self._where), None)):
            raise ValueError(f"control_features=None, but the certificate compares people among {segment[1]}.")
        cells = Cells.of([*attributes, *labels, *controls], None, n_rows)
        table = [self._of_cell(row, attributes, [*labels, *controls]) for row in cells.labels.tolist()]
        return np.array(table, dtype=np.int64).reshape(-1, len(self._where))[cells.codes[:, 0]]

    def _read(self, table: Any, argument: str, n_rows: int) -> list[LabelColumn]:
        return [_read(name, column, argument, n_rows) for name, column in columns_of(table, argument)]

    def _has_control(self, where: tuple[str, str]) -> bool:
        parts = where[1].split(", ")
        return any(" = " in part for part in parts[self.terms.notion.needs_labels :])

    def _of_cell(self, row: list[int], attributes: list[LabelColumn], others: list[LabelColumn]) -> list[int]:
        own, rest = row[: len(attributes)], row[len(attributes) :]
        named = (f"{each.name or 'control'} = {_text(each, code)}" for each, code in zip(others, rest, strict=True))
        among = _plain_segment(", ".join(named))
        groups = {
            where: self._group(where, attributes, own) for where in self._groups if not where[1] or where[1] == among
        }
        return [sides.get(groups.get(where) or "", -1) for where, sides in zip(self._where, self._sides, strict=True)]

    def _group(self, where: tuple[str, str], columns: list[LabelColumn], codes: list[int]) -> str | None:
        """Return which of the groups of an attribute people have, or None where that is not known."""
        attribute, names = where[0], [column.name for column in columns]
        if attribute in names:
            chosen = [names.index(attribute)]
        elif len(columns) == 1 and not (names[0] and attribute):
            chosen = [0]
        elif attribute == " & ".join(names):
            chosen = list(range(len(columns)))
        else:
            has = ", ".join(map(repr, names)) if any(names) else "columns without names"
            raise ValueError(f"sensitive_features has {has}; the certificate compares groups of {attribute!r}.")
        texts = [_text(columns[k], codes[k]) for k in chosen]
        if None in texts:
            if self.terms.missing != "group":
                return None
            texts = [text or ABSENT for text in texts]
        known, text = self._groups[where], " & ".join(filter(None, texts))
        if text in known or (text := _plain(text)) in known:
            return known[text]
        if self.terms.small_groups == "leave":
            return None
        raise ValueError(
            f"sensitive_features has the group {text!r}, which the certificate does not know; it compares "
            f"{', '.join(map(repr, dict.fromkeys(known.values())))}. Call it as there, or pass None for people whose "
            "group is not known."
        )

    def _numbered(self, where: tuple[str, str], sides: list[str]) -> dict[str, int]:
        first, second = sides
        groups = self._groups[where].values()
        return {group: int(group != first) for group in groups if group == first or second in (group, OTHERS)}

    def _members(self, groups: Iterable[str]) -> dict[str, str]:
        """Return groups by what their people may be called: those that were merged, and numbers as texts."""
        found: dict[str, str] = {}
        for group in groups:
            for label in [group, *(group.split(" + ") if self.terms.small_groups == "merge" else [])]:
                found[label] = group
        return {_plain(label): group for label, group in found.items()} | found


def _sides_in(record: Mapping[str, Any]) -> list[str]:
    name, among = record["name"], f" among {record['among']}"
    name = name.removesuffix(among) if record["among"] else name
    sides = name.removeprefix(f"{record['attribute']}: ").split(" against ")
    if len(sides) != 2:
        raise ValueError(f"{record['name']!r} does not name two sides, so nobody can be told to be on one of them.")
    return list(sides)


def _read(name: str, values: Any, argument: str, n_rows: int) -> LabelColumn:
    where = argument if argument == "y" or not name else f"{argument}[{name!r}]"
    column = read_column(name, values, n_rows, Reading(where, "groups", "leave", is_attribute=True))
    assert isinstance(column, LabelColumn)
    return column


def _text(column: LabelColumn, code: int) -> str | None:
    return None if code < 0 else str(column.labels[code])


def _plain(label: str) -> str:
    """Return a label as files may write it otherwise: 1.0 as 1, True as true."""
    try:
        number = float(label)
    except ValueError:
        return label.lower() if label.lower() in ("true", "false") else label
    return f"{number:.15g}"


def _plain_segment(among: str) -> str:
    parts = (part.rpartition(" = ") for part in among.split(", "))
    return ", ".join(f"{name}{equals}{_plain(value)}" for name, equals, value in parts)
