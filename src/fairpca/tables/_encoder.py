"""From the columns of a table to numbers, the same for new rows as for those that were fitted to."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fairpca._utils.checks import check_name
from fairpca._utils.schema import NUMBER, TABLE, TEXT, Kind, check_fields, list_of, or_null
from fairpca._utils.typing import AnyArray, BoolArray
from fairpca._utils.warn import warn_user
from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._file import TableFile
from fairpca.tables._options import MISSING, MISSING_VALUES, suggestion
from fairpca.tables._reading import DATE_ORDERS, DECIMAL_MARKS, NO_VALUE, PLAIN, Cells, Reading

MISSING_NAME = "(missing)"
"""What the category of rows without a value is called in names of features."""

UNKNOWN = ("warn", "refuse")


def _one_of(*allowed: str) -> Kind:
    return Kind(f"one of {', '.join(allowed)}", lambda value: value in allowed)


def _different(words: str, kind: Kind, least: int = 0) -> Kind:
    listed = list_of(f"different {words}", kind, least)
    return Kind(listed.words, lambda value: listed.fits(value) and len(set(value)) == len(value))


FIELDS = {
    # It grows where older versions would read what is written wrongly.
    "schema": Kind("1, which this version knows", lambda value: type(value) is int and value == 1),
    "missing": _one_of(*MISSING),
    "missing_values": _different("texts", TEXT),
    "columns": list_of("columns", TABLE, least=1),
}
OF_COLUMN = {
    "name": TEXT,
    "kind": _one_of("number", "boolean", "date", "time", "category"),
    "fill": or_null(NUMBER),
    "categories": _different("texts or null", or_null(TEXT), least=1),
    "reads": TABLE,
}
OF_READING = {"way": _one_of(*DECIMAL_MARKS, *DATE_ORDERS), "unit": TEXT, "words": _different("texts", TEXT)}
"""What an encoder is kept as: plain types, and nothing else."""


@dataclass(frozen=True)
class TableColumn:
    """A column and what becomes of it.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "date", "time", "category"}
        What it holds.
    categories : tuple of (str or None), default=()
        The values of a category, in the order of its features; None stands for rows without a value.
    fill : float, default=None
        What a missing number is taken for; None where it is refused.
    reading : Reading
        How texts become numbers; by default they are plain numbers.
    """

    name: str
    kind: str
    categories: tuple[str | None, ...] = ()
    fill: float | None = None
    reading: Reading = PLAIN

    @property
    def feature_names(self) -> list[str]:
        """Names of its features."""
        if self.kind != "category":
            return [self.name]
        return [f"{self.name}={MISSING_NAME if value is None else value}" for value in self.categories]

    def _encode(
        self, cells: Cells, out: AnyArray, first_row: int, *, fills: bool, decimal: str | None
    ) -> tuple[BoolArray, dict[str, int]]:
        """Write features to zeros; return which rows lack a value that cannot be filled, and unknown categories."""
        if self.kind == "category":
            return self._mark(cells, out, fills=fills)
        reading = replace(self.reading, way=decimal) if decimal and self.kind == "number" else self.reading
        rows = cells.rows_of(cells.booleans if self.kind == "boolean" else cells.numbers(reading), math.nan)
        wrong = (np.isnan(rows) & ~cells.missing) | np.isinf(rows)
        if wrong.any() and self.kind != "boolean":
            # Among numbers a new word may say, as others did, that nothing is known.
            wrong &= ~cells.rows_of(np.array([text.casefold() in NO_VALUE for text in cells.texts]), False)
        if wrong.any():
            row = int(wrong.argmax())
            allowed = {"boolean": "true or false", "number": "finite numbers"}.get(self.kind, f"{self.kind}s")
            found = repr(cells.texts[cells.codes[row]][:40])
            raise self._refused(found, first_row + row, f"where {allowed} are expected")
        if self.fill is not None:
            rows[np.isnan(rows)] = self.fill
        with np.errstate(over="ignore"):
            out[:, 0] = rows
        if np.isinf(out[:, 0]).any():
            row = int(np.isinf(out[:, 0]).argmax())
            raise self._refused(f"{rows[row]:g}", first_row + row, f"which is too large for {out.dtype}; use float64")
        return np.isnan(rows), {}

    def _refused(self, found: str, row: int, why: str) -> TableError:
        return TableError(f"column {self.name!r} holds {found} in row {row + 1}, {why}.")

    def _mark(self, cells: Cells, out: AnyArray, *, fills: bool) -> tuple[BoolArray, dict[str, int]]:
        place = {value: position for position, value in enumerate(self.categories)}
        places = np.array([place.get(text, -1) for text in cells.texts], dtype=np.int64)
        rows = cells.rows_of(places, place.get(None, -1))
        known = np.flatnonzero(rows >= 0)
        out[known, rows[known]] = 1
        unknown = {cells.texts[k]: int(cells.counts[k]) for k in np.flatnonzero(places < 0).tolist()}
        lacking = cells.missing & (None not in place)
        if fills and lacking.any():
            unknown[MISSING_NAME] = int(lacking.sum())
        return lacking & (not fills), unknown

    def _to_dict(self) -> dict[str, Any]:
        more: dict[str, Any] = {"fill": self.fill}
        if self.kind == "category":
            more = {"categories": list(self.categories)}
        elif self.reading != PLAIN:
            more["reads"] = asdict(self.reading) | {"words": list(self.reading.words)}
        return {"name": self.name, "kind": self.kind} | more

    @classmethod
    def _from_dict(cls, number: int, fields: Mapping[str, Any]) -> "TableColumn":
        where = f"column {number} of the table encoder"
        own = ["fill", "reads"] if "reads" in fields else ["fill"]
        if fields.get("kind") == "category":
            own = ["categories"]
        check_fields(where, fields, {name: OF_COLUMN[name] for name in ("name", "kind", *own)})
        kind, reading = fields["kind"], PLAIN
        if "reads" in fields:
            check_fields(where, fields["reads"], OF_READING)
            reading = Reading(**fields["reads"] | {"words": tuple(fields["reads"]["words"])})
        if kind not in ("category", "boolean", reading.kind):
            raise ValueError(f"{where} is said to be of the kind {kind}, but is read as a {reading.kind}.")
        return cls(fields["name"], kind, tuple(fields.get("categories", ())), fields.get("fill"), reading)


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Some rows as numbers.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        The numbers; rows that are not complete hold NaN or nothing.
    lacking : dict of str to ndarray of bool of shape (n,)
        Columns that lack values that cannot be filled, and in which rows.
    unknown : dict of (str, str) to int
        Columns and their categories that were not known, with their rows.
    batch : pyarrow.RecordBatch
        Where they come from.
    first_row : int
        The number of the first of them in the table, from 0.
    """

    X: AnyArray
    lacking: dict[str, BoolArray]
    unknown: dict[tuple[str, str], int]
    batch: Any
    first_row: int

    @cached_property
    def complete(self) -> BoolArray:
        """Which rows lack nothing."""
        return ~np.any([np.zeros(len(self.X), dtype=bool), *self.lacking.values()], axis=0)

    def check_complete(self) -> None:
        """Refuse rows in which something is missing that cannot be filled."""
        if self.lacking:
            row = int(np.argmin(self.complete))
            names = [repr(name) for name, rows in self.lacking.items() if rows[row]]
            raise TableError(
                f"row {self.first_row + row + 1} has no value in {', '.join(names[:5])}, and none was learned to fill "
                "in; leave such rows out, or encode the table to fit with missing='fill'."
            )


@dataclass(frozen=True)
class TableEncoder:
    """How the columns of a table become numbers.

    Numbers stay as they are, true is 1 and false is 0; dates are days since 1970, and times hours. A category is as
    many columns as it has values, of which one is 1 and the others are 0. Nothing is scaled:
    `FairPCA(standardize=True)` does that.

    Attributes
    ----------
    columns : tuple of TableColumn
        The columns in the order of their features.
    missing : {"refuse", "fill", "drop-rows"}, default="refuse"
        What becomes of rows with missing values, see `TableOptions`.
    missing_values : tuple of str
        Texts that stand for no value.

    Examples
    --------
    >>> from fairpca.tables import TableColumn, TableEncoder
    >>> encoder = TableEncoder((TableColumn("age", "number"), TableColumn("work", "category", ("no", "yes"))))
    >>> encoder.feature_names
    ['age', 'work=no', 'work=yes']
    >>> encoder.encode({"work": ["yes", "no"], "age": [31, 45]})
    array([[31.,  0.,  1.],
           [45.,  1.,  0.]])
    """

    columns: tuple[TableColumn, ...]
    missing: str = "refuse"
    missing_values: tuple[str, ...] = MISSING_VALUES

    def __post_init__(self) -> None:
        if not self.columns:
            raise TableError("no column is left to make features of; drop fewer, or add some that vary.")
        twice = [name for name, count in Counter(self.feature_names).items() if count > 1]
        if twice:
            raise TableError(f"two columns would both make the feature {twice[0]!r}; rename or drop one of them.")

    @cached_property
    def feature_names(self) -> list[str]:
        """Names of the features: that of the column, or "column=value"."""
        return [name for column in self.columns for name in column.feature_names]

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where the features of each column are."""
        stops = np.cumsum([0, *(len(column.feature_names) for column in self.columns)]).tolist()
        return {column.name: slice(*stops[k : k + 2]) for k, column in enumerate(self.columns)}

    def check_names(self, table: TableFile) -> list[str]:
        """Refuse a table that lacks a column, and return the columns that it has beyond those needed.

        Parameters
        ----------
        table : TableFile
            New rows.
        """
        needed = {column.name: column for column in self.columns}
        lacking = [name for name in needed if name not in table.names]
        spare = [name for name in table.names if name not in needed]
        if lacking:
            more = f" (and {len(lacking) - 1} others)" if len(lacking) > 1 else ""
            hint = suggestion(lacking[0], spare or table.names)
            raise TableError(f"{table.label} lacks the column {lacking[0]!r}{more}; {hint}")
        return spare

    def blocks(self, table: Any, *, dtype: DTypeLike = np.float64) -> Iterator[EncodedRows]:
        """Yield the rows of a table as numbers, batch by batch.

        Parameters
        ----------
        table : TableFile, path or frame
            Rows that have the columns, by name, in any order.
        dtype : dtype, default=float64
            Of the numbers.
        """
        table = TableFile.of(table)
        self.check_names(table)
        first_row = 0
        for batch in table.batches():
            yield self.encoded(batch, first_row, table.decimal, dtype)
            first_row += batch.num_rows

    def encode(self, table: Any, *, unknown: str = "warn", known: Collection[str] = ()) -> AnyArray:
        """Return new rows as numbers, in memory.

        Parameters
        ----------
        table : TableFile, path or frame
            Rows that have the columns, by name, in any order; others are ignored with a warning.
        unknown : {"warn", "refuse"}, default="warn"
            What becomes of categories that were not seen before: all their features are 0 and a warning counts them,
            or an error does.
        known : collection of str, default=()
            Other columns that may be there without a word.

        Returns
        -------
        X : ndarray of shape (n, n_features)
            The features.
        """
        check_name("unknown", unknown, UNKNOWN)
        table = TableFile.of(table)
        ignored = [name for name in self.check_names(table) if name not in known]
        if ignored:
            listed = ", ".join(map(repr, ignored[:5])) + (", ..." if len(ignored) > 5 else "")
            warn_user(f"{table.label} has {len(ignored)} columns that are not used: {listed}.", TableWarning)
        found: Counter[tuple[str, str]] = Counter()
        parts = []
        for rows in self.blocks(table):
            rows.check_complete()
            found.update(rows.unknown)
            parts.append(rows.X)
        tell_of_unknown(found, unknown, table.label)
        return np.concatenate(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, which JSON can hold."""
        return {
            "schema": 1,
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "columns": [column._to_dict() for column in self.columns],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "TableEncoder":
        """Take what `to_dict` has returned, and refuse anything else.

        Parameters
        ----------
        fields : mapping
            Plain types.
        """
        check_fields("the table encoder", fields, FIELDS)
        columns = tuple(TableColumn._from_dict(k, each) for k, each in enumerate(fields["columns"], start=1))
        if len({column.name for column in columns}) < len(columns):
            raise ValueError("the table encoder has two columns of the same name.")
        return cls(columns, fields["missing"], tuple(fields["missing_values"]))

    def encoded(
        self, batch: Any, first_row: int, decimal: str | None = None, dtype: DTypeLike = np.float64
    ) -> EncodedRows:
        """Return some rows as numbers.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Rows that have the columns.
        first_row : int
            The number of the first of them, from 0.
        decimal : str, default=None
            The decimal mark of texts, where it was named.
        dtype : dtype, default=float64
            Of the numbers.
        """
        X = np.zeros((batch.num_rows, self.n_features), dtype=dtype)
        found = EncodedRows(X, {}, {}, batch, first_row)
        for column in self.columns:
            cells = Cells.of(batch.column(column.name), (*self.missing_values, *column.reading.words))
            out = X[:, self.slices[column.name]]
            lacking, unknown = column._encode(cells, out, first_row, fills=self.missing == "fill", decimal=decimal)
            if lacking.any():
                found.lacking[column.name] = lacking
            found.unknown.update({(column.name, text): count for text, count in unknown.items()})
        return found


def tell_of_unknown(unknown: "Counter[tuple[str, str]]", how: str, label: str) -> None:
    """Warn of categories that are not known, by column with their rows, or refuse them."""
    if not unknown:
        return
    listed = ", ".join(f"{text[:40]!r} in {name!r} ({count} rows)" for (name, text), count in unknown.most_common(5))
    more = f" and {len(unknown) - 5} others" if len(unknown) > 5 else ""
    words = f"{label} has categories that were not there before: {listed}{more}"
    if how == "refuse":
        raise TableError(f"{words}; leave those rows out, or use unknown='warn'.")
    warn_user(f"{words}. All features of such a column are 0 in these rows.", TableWarning)
