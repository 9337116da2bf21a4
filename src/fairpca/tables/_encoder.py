"""From the columns of a table to numbers, the same for new rows as for those that were fitted to."""
# SPDX-License-Identifier: MIT

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from fairpca._utils.checks import check_name
from fairpca._utils.typing import AnyArray, BoolArray
from fairpca._utils.warn import warn_user
from fairpca.exceptions import TableError, TableWarning
from fairpca.tables._cells import MISSING_VALUES, Cells
from fairpca.tables._column import TableColumn
from fairpca.tables._file import TableFile
from fairpca.tables._options import suggestion
from fairpca.tables._plain import check_encoder

SCHEMA = 1
"""Grows with every change of the fields."""


@dataclass(frozen=True, eq=False)
class EncodedRows:
    """Some rows as numbers.

    Attributes
    ----------
    X : ndarray of shape (n, n_features)
        The numbers; rows that are not complete hold NaN or nothing.
    complete : ndarray of bool of shape (n,)
        Which rows lack nothing that cannot be filled.
    unknown : Counter of (str, str)
        Columns and their categories that were not known, with their rows.
    batch : pyarrow.RecordBatch
        Where they come from.
    first_row : int
        The number of the first of them in the table, from 0.
    """

    X: AnyArray
    complete: BoolArray
    unknown: "Counter[tuple[str, str]]"
    batch: Any
    first_row: int


@dataclass(frozen=True)
class TableEncoder:
    """How the columns of a table become numbers.

    Numbers stay as they are, true is 1 and false is 0. A category is as many columns as it has values, of which one
    is 1 and the others are 0. Nothing is scaled: `FairPCA(standardize=True)` does that.

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
        stops = np.cumsum([len(column.feature_names) for column in self.columns]).tolist()
        return {
            column.name: slice(stop - len(column.feature_names), stop)
            for column, stop in zip(self.columns, stops, strict=True)
        }

    def check_names(self, table: TableFile) -> list[str]:
        """Refuse a table that lacks a column, and return the columns that it has beyond those needed.

        Parameters
        ----------
        table : TableFile
            New rows.
        """
        needed = {column.name for column in self.columns}
        lacking = [column.name for column in self.columns if column.name not in table.names]
        if lacking:
            spare = [name for name in table.names if name not in needed]
            more = f" (and {len(lacking) - 1} others)" if len(lacking) > 1 else ""
            hint = suggestion(lacking[0], spare or table.names)
            raise TableError(f"{table.label} lacks the column {lacking[0]!r}{more}; {hint}")
        return [name for name in table.names if name not in needed]

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
            yield self.encode_batch(batch, first_row, table.decimal, dtype)
            first_row += batch.num_rows

    def encode_batch(
        self, batch: Any, first_row: int = 0, decimal: str = ".", dtype: DTypeLike = np.float64
    ) -> EncodedRows:
        """Return the rows of a batch as numbers.

        Parameters
        ----------
        batch : pyarrow.RecordBatch
            Rows that have all columns.
        first_row : int, default=0
            The number of the first of them, for messages.
        decimal : {".", ","}, default="."
            The decimal mark of numbers in texts.
        dtype : dtype, default=float64
            Of the numbers.
        """
        X = np.zeros((batch.num_rows, self.n_features), dtype=dtype)
        complete = np.ones(batch.num_rows, dtype=bool)
        unknown: Counter[tuple[str, str]] = Counter()
        spellings = frozenset(self.missing_values)
        for column in self.columns:
            cells = Cells.of(batch.column(column.name), spellings, decimal)
            filled, strange = column.encode(
                cells, X[:, self.slices[column.name]], first_row, fills=self.missing == "fill"
            )
            complete &= filled
            unknown.update({(column.name, text): count for text, count in strange.items()})
        return EncodedRows(X, complete, unknown, batch, first_row)

    def encode(
        self, table: Any, *, unknown: str = "warn", known: Collection[str] = (), dtype: DTypeLike = np.float64
    ) -> AnyArray:
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
        dtype : dtype, default=float64
            Of the numbers.

        Returns
        -------
        X : ndarray of shape (n, n_features)
            The features.
        """
        check_name("unknown", unknown, UNKNOWN)
        table = TableFile.of(table)
        tell_of_ignored([name for name in self.check_names(table) if name not in known], table.label)
        found: Counter[tuple[str, str]] = Counter()
        parts = []
        for rows in self.blocks(table, dtype=dtype):
            check_complete(self, rows)
            found.update(rows.unknown)
            parts.append(rows.X)
        tell_of_unknown(found, unknown, table.label)
        return np.concatenate(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain types, which JSON can hold."""
        return {
            "schema": SCHEMA,
            "missing": self.missing,
            "missing_values": list(self.missing_values),
            "columns": [column.to_dict() for column in self.columns],
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "TableEncoder":
        """Take what `to_dict` has returned, and refuse anything else.

        Parameters
        ----------
        fields : mapping
            Plain types.
        """
        check_encoder(fields, SCHEMA)
        columns = tuple(TableColumn.from_dict(each) for each in fields["columns"])
        return cls(columns, fields["missing"], tuple(fields["missing_values"]))


UNKNOWN = ("warn", "refuse")


def check_complete(encoder: TableEncoder, rows: EncodedRows) -> None:
    """Refuse rows in which something is missing that cannot be filled.

    Parameters
    ----------
    encoder : TableEncoder
        What they were encoded by.
    rows : EncodedRows
        The rows.
    """
    if rows.complete.all():
        return
    row = int(np.argmin(rows.complete))
    spellings = frozenset(encoder.missing_values)
    names = [
        column.name
        for column in encoder.columns
        if column.fill is None and Cells.of(rows.batch.column(column.name).slice(row, 1), spellings, ".").missing[0]
    ]
    raise TableError(
        f"row {rows.first_row + row + 1} has no value in {', '.join(map(repr, names[:5]))}, and none was learned to "
        "fill in; leave such rows out, or encode the table to fit with missing='fill'."
    )


def tell_of_unknown(unknown: "Counter[tuple[str, str]]", how: str, label: str) -> None:
    """Warn of categories that are not known, with their rows, or refuse them.

    Parameters
    ----------
    unknown : Counter of (str, str)
        Columns and categories.
    how : {"warn", "refuse"}
        What is to be done.
    label : str
        What the table is called.
    """
    if not unknown:
        return
    listed = ", ".join(f"{text[:40]!r} in {name!r} ({count} rows)" for (name, text), count in unknown.most_common(5))
    more = f" and {len(unknown) - 5} others" if len(unknown) > 5 else ""
    words = f"{label} has categories that were not there before: {listed}{more}"
    if how == "refuse":
        raise TableError(f"{words}; leave those rows out, or use unknown='warn'.")
    warn_user(f"{words}. All features of such a column are 0 in these rows.", TableWarning)


def tell_of_ignored(names: list[str], label: str) -> None:
    """Warn of columns that are not used.

    Parameters
    ----------
    names : list of str
        The columns.
    label : str
        What the table is called.
    """
    if names:
        listed = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        warn_user(f"{label} has {len(names)} columns that are not used: {listed}.", TableWarning)
