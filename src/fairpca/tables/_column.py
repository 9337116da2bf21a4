"""How one column becomes numbers."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.exceptions import TableError
from fairpca.tables._cells import Cells

MISSING_NAME = "(missing)"
"""What the category of rows without a value is called in names of features."""


@dataclass(frozen=True)
class TableColumn:
    """A column and what becomes of it.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "category"}
        How it is read.
    categories : tuple of (str or None), default=()
        The values of a category, in the order of its features; None stands for rows without a value.
    fill : float, default=None
        What a missing number is taken for; None where it is refused.
    """

    name: str
    kind: str
    categories: tuple[str | None, ...] = ()
    fill: float | None = None

    @property
    def feature_names(self) -> list[str]:
        """Names of its features."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={MISSING_NAME if value is None else value}" for value in self.categories]

    def encode(self, cells: Cells, out: AnyArray, first_row: int, *, fills: bool) -> tuple[BoolArray, "Counter[str]"]:
        """Write the features of some rows.

        Parameters
        ----------
        cells : Cells
            The column in these rows.
        out : ndarray of shape (n, k)
            Zeros, to be written to.
        first_row : int
            The number of the first row, for messages.
        fills : bool
            Whether a missing category that is not among `categories` is an unknown one.

        Returns
        -------
        complete : ndarray of bool of shape (n,)
            Which rows have a value, or one that was filled in.
        unknown : Counter of str
            Categories that are not known, with their rows.
        """
        if self.kind == "category":
            return self._mark(cells, out, fills)
        numbers = cells.booleans if self.kind == "boolean" else cells.numbers
        rows = cells.rows_of(numbers, math.nan)
        self._check(rows, cells, first_row)
        if self.fill is not None:
            rows = np.where(cells.missing, self.fill, rows)
        self._write(rows, out, first_row)
        return ~np.isnan(rows), Counter()

    def _write(self, rows: FloatArray, out: AnyArray, first_row: int) -> None:
        with np.errstate(over="ignore"):
            out[:, 0] = rows
        too_large = np.isinf(out[:, 0])
        if too_large.any():
            row = int(too_large.argmax())
            raise TableError(
                f"column {self.name!r} holds {rows[row]:g} in row {first_row + row + 1}, which is too large for "
                f"{out.dtype}; use float64."
            )

    def _mark(self, cells: Cells, out: AnyArray, fills: bool) -> tuple[BoolArray, "Counter[str]"]:
        place = {value: position for position, value in enumerate(self.categories)}
        places = np.array([place.get(text, -1) for text in cells.texts], dtype=np.int64)
        absent = place.get(None, -1)
        rows = cells.rows_of(places, absent)
        known = np.flatnonzero(rows >= 0)
        out[known, rows[known]] = 1
        strange = cells.codes[(rows < 0) & ~cells.missing]
        numbers, counts = np.unique(strange, return_counts=True)
        unknown: Counter[str] = Counter()
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            unknown[cells.texts[number]] += count
        if absent >= 0 or not cells.missing.any():
            return np.ones(len(rows), dtype=bool), unknown
        if fills:
            unknown[MISSING_NAME] += int(cells.missing.sum())
        return ~cells.missing | fills, unknown

    def _check(self, rows: FloatArray, cells: Cells, first_row: int) -> None:
        """Refuse texts and infinite numbers where numbers are expected."""
        for wrong in (np.isnan(rows) & ~cells.missing, np.isinf(rows)):
            if wrong.any():
                row = int(wrong.argmax())
                text = cells.texts[cells.codes[row]]
                allowed = "true or false" if self.kind == "boolean" else "finite numbers"
                raise TableError(
                    f"column {self.name!r} holds {text[:40]!r} in row {first_row + row + 1}, where {allowed} "
                    "are expected."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return plain types."""
        if self.kind == "category":
            return {"name": self.name, "kind": self.kind, "categories": list(self.categories)}
        return {"name": self.name, "kind": self.kind, "fill": self.fill}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "TableColumn":
        """Take checked fields.

        Parameters
        ----------
        fields : mapping
            What `to_dict` has returned.
        """
        return cls(fields["name"], fields["kind"], tuple(fields.get("categories", ())), fields.get("fill"))
