"""The first look at a table: what its columns are, and whether they can be used."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray
from fairpca.exceptions import TableError
from fairpca.tables._columns import Column, check_kinds
from fairpca.tables._encoder import TableColumn, TableEncoder
from fairpca.tables._file import TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._people import check_sensitive, values_of, weights_of

Progress = Callable[[int, int | None, str], None]
"""Takes the rows that are done, all rows where that is known, and a word on what is being done."""


class Survey:
    """What is known of a table after all rows have been seen once; `learned` is how a fit has encoded its columns."""

    def __init__(
        self, table: Any, roles: Roles, options: TableOptions, callback: Progress | None, learned: TableEncoder | None
    ) -> None:
        self.table = table = TableFile.of(table)
        self.roles, self.options, self.learned, self._callback = roles, options, learned, callback
        roles.check(table.names, table.label)
        if learned is not None:
            learned.check_names(table)
        options.check(table.names, table.label)
        self.columns = {name: Column(name, roles.of(name), options, table.decimal) for name in table.names}
        self.n_rows = 0
        for batch in table.batches():
            for column, values in zip(self.columns.values(), batch.columns, strict=True):
                column.add(values)
            self.n_rows += batch.num_rows
            self.progress(self.n_rows, table.n_rows, "looking at columns")
        marks = {column.mark for column in self.columns.values()} - {None}
        for column in self.columns.values():
            column.compare_marks(next(iter(marks)) if len(marks) == 1 else None, table.delimiter)
        could_be = [column for name, column in self.columns.items() if roles.is_feature(name)]
        self.constant = [column.name for column in could_be if column.kind == "constant"]
        self.features = [column for column in could_be if column.kind != "constant"]
        if learned is not None:
            self.constant, self.features = [], [self.columns[column.name] for column in learned.columns]
        self.of_people = [self.columns[name] for name in roles.by_column if self.columns[name].is_of_people]

    def progress(self, done: int, total: int | None, what: str) -> None:
        """Tell who wants to know how far it is."""
        if self._callback is not None:
            self._callback(done, total, what)

    @cached_property
    def encoder(self) -> TableEncoder:
        """That of the fit, or a new one, which does not know yet what missing numbers are taken for."""
        if self.learned is not None:
            return self.learned
        columns = tuple(map(self._encoded, self.features))
        return TableEncoder(columns, self.options.missing, self.options.missing_values)

    @property
    def numbers(self) -> list[str]:
        """Columns that become one number each."""
        return [column.name for column in self.encoder.columns if column.kind != "category"]

    def check(self) -> None:
        """Refuse roles and columns that cannot be used, and missing values unless they are provided for."""
        for name in self.roles.sensitive:
            check_sensitive(self.columns[name])
        new = self.features if self.learned is None else []
        check_kinds(new, self._way_out())
        for column in [*new, *self.of_people]:
            column.check_finite()
        if self.options.missing != "drop-rows":
            self._check_missing()

    def rows_kept(self) -> BoolArray:
        """Tell which rows are kept: under "drop-rows" those that lack nothing."""
        kept, used = np.ones(self.n_rows, dtype=bool), [*self.features, *self.of_people]
        for rows in (rows for column in used for rows in column.missing_rows):
            kept[rows] = False
        if not kept.any():
            most = max(used, key=lambda column: column.n_missing).name
            words = f"every row lacks something, {most!r} most often"
            raise TableError(f"{words}; drop that column, or use missing='fill'.")
        return kept

    def people(self) -> dict[str, AnyArray]:
        """Return the columns of people, of all rows."""
        return {
            column.name: weights_of(column) if column.role == "weight" else values_of(column)
            for column in self.of_people
        }

    def needs_digits(self) -> bool:
        """Tell whether float32 would blur a column, of which its seven digits show fewer than three, or overflow."""
        with_digits = ("number", "date", "time")
        columns = [self.columns[column.name] for column in self.encoder.columns if column.kind in with_digits]
        ranges = [(each.largest - each.smallest, max(abs(each.smallest), abs(each.largest))) for each in columns]
        return any(most > np.finfo(np.float32).max or width < 1e-4 * most for width, most in ranges)

    def describe(self) -> list[dict[str, Any]]:
        """Return a row for each column, for people to look at."""
        sizes = {each.name: len(self._encoded(each).feature_names) for each in self.features if not each.is_refused}
        return [each.described(sizes.get(name, 0)) for name, each in self.columns.items()]

    def _encoded(self, column: Column) -> TableColumn:
        if column.kind != "category":
            return TableColumn(column.name, column.kind, reading=column.reading)
        absent = [None] if column.n_missing and self.options.missing == "fill" else []
        return TableColumn(column.name, column.kind, (*sorted(column.counts), *absent))

    def _lacking(self) -> list[Column]:
        """Return the columns in which something is missing that must be there."""
        must_be_there = [column for column in self.of_people if column.role != "sensitive"]
        if self.options.missing == "refuse":
            usable = [column for column in self.features if not column.is_refused]
            must_be_there = [*usable, *must_be_there]
        return [column for column in must_be_there if column.n_missing]

    def _check_missing(self) -> None:
        lacking = self._lacking()
        if lacking:
            listed = ", ".join(_counted(column) for column in lacking[:5])
            more = f" and {len(lacking) - 5} other columns" if len(lacking) > 5 else ""
            ways = "missing='drop-rows'" if self.options.missing == "fill" else "missing='fill' or missing='drop-rows'"
            first = f"the first of {lacking[0].name!r} in row {lacking[0].first_missing}"
            raise TableError(f"values are missing in {listed}{more}, {first}; use {ways}.", **self._way_out())

    def _way_out(self) -> dict[str, Any]:
        """Return options with which this table can be used."""
        ways: dict[str, Any] = {}
        for column in self.features:
            for name, value in column.way_out().items() if column.is_refused else ():
                ways[name] = value if isinstance(value, str) else (*ways.get(name, ()), *value)
        lacking = self._lacking() if self.options.missing != "drop-rows" else []
        if lacking:
            ways["missing"] = "drop-rows" if any(column.is_of_people for column in lacking) else "fill"
        return ways


def _counted(column: Column) -> str:
    words = f" with {', '.join(map(repr, column.words))}" if column.words else ""
    return f"{column.name!r} ({column.n_missing}{words})"
