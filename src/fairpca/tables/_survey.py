"""The first look at a table: kinds, categories and missing values of all columns, and who the people are."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, IntArray
from fairpca.exceptions import TableError
from fairpca.tables._cells import Cells
from fairpca.tables._column import TableColumn
from fairpca.tables._encoder import TableEncoder
from fairpca.tables._file import TableFile
from fairpca.tables._kinds import ENCODED, Kind, check_kinds, kind_of
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._people import check_sensitive, values_of, weights_of
from fairpca.tables._tally import Tally

Progress = Callable[[int, int | None, str], None]
"""Takes the rows that are done, all rows where that is known, and a word on what is being done."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of a table after all rows have been seen once.

    Attributes
    ----------
    table : TableFile
        The table.
    roles : Roles
        Which columns are what.
    options : TableOptions
        How they are read.
    tallies : dict of str to Tally
        What was counted in each column.
    kinds : dict of str to Kind
        Their kinds.
    texts : dict of str to list of ndarray
        The columns of people, batch by batch.
    missing_rows : dict of str to ndarray of int
        Rows without a value, where they are to be dropped.
    n_rows : int
        Rows.
    learned : TableEncoder, default=None
        How a fit has encoded its columns, where these are new rows for it.
    """

    table: TableFile
    roles: Roles
    options: TableOptions
    tallies: dict[str, Tally]
    kinds: dict[str, Kind]
    texts: dict[str, list[AnyArray]]
    missing_rows: dict[str, IntArray]
    n_rows: int
    learned: TableEncoder | None = None

    @cached_property
    def features(self) -> list[str]:
        """Columns that become features, unless they are refused."""
        if self.learned is not None:
            return [column.name for column in self.learned.columns]
        return [
            name for name in self.table.names if self.roles.is_feature(name) and self.kinds[name].name != "constant"
        ]

    def check(self) -> None:
        """Refuse roles and columns that cannot be used, and missing values unless they are provided for."""
        for name in self.roles.sensitive:
            check_sensitive(name, self.tallies[name])
        if self.learned is None:
            check_kinds({name: self.kinds[name] for name in self.features})
            for name in self.features:
                self._check_finite(name)
        for name in self.people_columns:
            self._check_finite(name)
        self._check_missing()

    def rows_kept(self) -> BoolArray:
        """Tell which rows are kept: under "drop-rows" those that lack nothing."""
        kept = np.ones(self.n_rows, dtype=bool)
        for name in {*self.features, *self.people_columns} & set(self.missing_rows):
            kept[self.missing_rows[name]] = False
        if not kept.any():
            most = max(self.missing_rows, key=lambda name: len(self.missing_rows[name]))
            raise TableError(
                f"every row lacks something, {most!r} most often; drop that column, or use missing='fill'."
            )
        return kept

    @cached_property
    def people_columns(self) -> list[str]:
        """Columns with a role beside that of a feature."""
        return [name for name, role in self.roles.by_column.items() if role != "dropped"]

    def people(self) -> dict[str, AnyArray]:
        """Return the columns of people, of all rows."""
        columns = {
            name: values_of(name, self.texts[name], self.tallies[name], self.options, self.table.decimal)
            for name in self.people_columns
        }
        weight = self.roles.weight
        if weight is not None:
            columns[weight] = weights_of(weight, columns[weight], self.tallies[weight], self.table.decimal)
        return columns

    def encoder(self) -> TableEncoder:
        """Return that of the fit, or a new one, which does not know yet what missing numbers are taken for."""
        if self.learned is not None:
            return self.learned
        columns = tuple(self._column(name) for name in self.features)
        return TableEncoder(columns, self.options.missing, self.options.missing_values)

    def describe(self) -> list[dict[str, Any]]:
        """Return a row for each column, for people to look at."""
        return [self._describe(name) for name in self.table.names]

    def _column(self, name: str) -> TableColumn:
        kind, tally = self.kinds[name].name, self.tallies[name]
        if kind != "category":
            return TableColumn(name, kind)
        absent = [None] if tally.n_missing and self.options.missing == "fill" else []
        return TableColumn(name, kind, (*sorted(tally.counts), *absent))

    def _describe(self, name: str) -> dict[str, Any]:
        tally, kind = self.tallies[name], self.kinds[name]
        used = name in self.features and kind.name in ENCODED
        return {
            "column": name,
            "role": self.roles.of(name),
            "kind": kind.name,
            "distinct": tally.n_distinct,
            "more_distinct": tally.has_many_values,
            "missing": tally.n_missing,
            "features": len(self._column(name).feature_names) if used else 0,
            "note": kind.note,
        }

    def _check_finite(self, name: str) -> None:
        row = self.tallies[name].first_infinite
        if row is not None and self.tallies[name].are_numbers:
            raise TableError(f"column {name!r} holds an infinite number in row {row + 1}; numbers must be finite.")

    def _check_missing(self) -> None:
        if self.options.missing == "drop-rows":
            return
        must_be_there = [name for name in self.people_columns if self.roles.of(name) != "sensitive"]
        if self.options.missing == "refuse":
            must_be_there = [*self.features, *must_be_there]
        lacking = {name: self.tallies[name].n_missing for name in must_be_there if self.tallies[name].n_missing}
        if lacking:
            listed = ", ".join(f"{name!r} ({count})" for name, count in list(lacking.items())[:5])
            more = f" and {len(lacking) - 5} other columns" if len(lacking) > 5 else ""
            first = next(iter(lacking))
            ways = "missing='drop-rows'" if self.options.missing == "fill" else "missing='fill' or missing='drop-rows'"
            raise TableError(
                f"values are missing in {listed}{more}, the first of {first!r} in row "
                f"{(self.tallies[first].first_missing or 0) + 1}; use {ways}."
            )


def survey(
    table: TableFile,
    roles: Roles,
    options: TableOptions,
    progress: Progress,
    learned: TableEncoder | None = None,
) -> Survey:
    """Look at all rows once.

    Parameters
    ----------
    table : TableFile
        The table.
    roles : Roles
        Which columns are what.
    options : TableOptions
        How they are read.
    progress : callable
        Told how far it is.
    learned : TableEncoder, default=None
        How a fit has encoded its columns.
    """
    roles.check(table.names, table.label)
    if learned is not None:
        learned.check_names(table)
    options.check(table.names, table.label)
    tallies = {name: Tally(options.most_categories) for name in table.names}
    people = [name for name, role in roles.by_column.items() if role != "dropped"]
    texts: dict[str, list[AnyArray]] = {name: [] for name in people}
    missing: dict[str, list[IntArray]] = {name: [] for name in table.names if roles.of(name) != "dropped"}
    spellings, n_rows = frozenset(options.missing_values), 0
    for batch in table.batches():
        for name, column in zip(table.names, batch.columns, strict=True):
            cells = Cells.of(column, spellings, table.decimal)
            tallies[name].add(cells)
            if name in texts:
                texts[name].append(cells.rows_of(np.array([*cells.texts, None], dtype=object)[:-1], None))
            if name in missing and options.missing == "drop-rows":
                missing[name].append(np.flatnonzero(cells.missing) + n_rows)
        n_rows += batch.num_rows
        progress(n_rows, table.n_rows, "looking at columns")
    kinds = {name: kind_of(name, tally, options) for name, tally in tallies.items()}
    found = {name: np.concatenate(rows) for name, rows in missing.items() if rows}
    return Survey(table, roles, options, tallies, kinds, texts, found, n_rows, learned)
