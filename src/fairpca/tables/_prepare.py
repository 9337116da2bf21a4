"""From a table of people to rows to fit and rows held out: a first look at all rows, then their features."""
# SPDX-License-Identifier: MIT

import math
import mmap
import os
import shutil
import tempfile
import weakref
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from pathlib import Path
from typing import Any, Self

import numpy as np

from fairpca._utils.checks import check_integer
from fairpca._utils.files import NO_ROOM
from fairpca._utils.typing import AnyArray, BoolArray, IntArray
from fairpca._utils.warn import Note, warn_user
from fairpca.comparison import People
from fairpca.exceptions import AttributeInTableWarning, TableError, TableWarning
from fairpca.tables._columns import Column, check_kinds
from fairpca.tables._encoder import TableColumn, TableEncoder, tell_of_unknown
from fairpca.tables._file import Progress, TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._people import (
    NearCopy,
    check_sensitive,
    held_out_rows,
    near_copies,
    step_between,
    values_of,
    weights_of,
)
from fairpca.tables._text import BATCH_ROWS


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """What a fit needs of a table.

    Beyond some size the rows are in files in a temporary folder. `close`, or the end of a `with` block, removes it.

    Attributes
    ----------
    encoder : TableEncoder
        How columns became features; it encodes new rows alike.
    X_train, X_new : ndarray or numpy.memmap of shape (n, n_features)
        Features of the rows to fit, and of those that are held out.
    people_train, people_new : fairpca.comparison.People
        What is known of both: `sensitive_features` and `control_features` (dict of name to array, None and NaN where a
        value is missing), `y`, `sample_weight`.
    rows_train, rows_new : ndarray of int
        Their numbers in the table, from 0.
    columns : list of dict
        All columns of the table, as `describe` returns them.
    near_copies : list of NearCopy
        Features that reveal a protected attribute.
    n_dropped : dict of str to int
        Rows that were left out, by reason: "missing", "zero weight".
    notes : tuple of str
        What was said in warnings.
    folder : Path or None
        Where the files are.
    """

    encoder: TableEncoder
    X_train: AnyArray
    X_new: AnyArray
    people_train: People
    people_new: People
    rows_train: IntArray
    rows_new: IntArray
    columns: list[dict[str, Any]]
    near_copies: list[NearCopy]
    n_dropped: dict[str, int]
    notes: tuple[str, ...]
    folder: Path | None = None
    _cleaner: Any = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        if self.folder is not None:
            cleaner = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
            object.__setattr__(self, "_cleaner", cleaner)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self.encoder.feature_names

    def release(self) -> None:
        """Let the system take back memory in which it holds rows that were read from files; they can be read again."""
        for rows in (self.X_train, self.X_new):
            _release(rows)

    def close(self) -> None:
        """Remove the files; the rows in them cannot be used any more."""
        if self._cleaner is not None:
            self._cleaner()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def describe(
    table: Any, roles: Roles, options: TableOptions | None = None, *, callback: Progress | None = None
) -> list[dict[str, Any]]:
    """Say what each column of a table is taken for; none is refused for its kind, or for what it lacks.

    Parameters
    ----------
    table : TableFile, path or frame
        The table.
    roles : Roles
        Which columns are what.
    options : TableOptions, default=None
        How columns are read.
    callback : callable, default=None
        Called with the rows that are done, all rows (None where that is not known) and a word on what is done.

    Returns
    -------
    columns : list of dict
        One for each: `column`, `role` (feature, sensitive, label, control, weight, dropped), `kind` (number, boolean,
        category, constant; date and time where they are named; others are refused as features), `distinct` (counted up
        to `most_categories`, `more_distinct` says whether there are more), `missing`, `features` (how many it becomes)
        and a `note`.

    Examples
    --------
    >>> from fairpca.tables import Roles, describe
    >>> table = {"age": [31, 45, 27], "sex": ["f", "m", "f"], "country": ["x", "x", "x"]}
    >>> [(row["column"], row["role"], row["kind"]) for row in describe(table, Roles("sex"))]
    [('age', 'feature', 'number'), ('sex', 'sensitive', 'category'), ('country', 'feature', 'constant')]
    """
    return Survey(table, roles, options or TableOptions(), callback, None).describe()


def prepare(
    table: Any,
    roles: Roles,
    options: TableOptions | None = None,
    *,
    encoder: TableEncoder | None = None,
    held_out: float = 0.3,
    dtype: Any = None,
    most_bytes: int = 256 * 2**20,
    folder: Any = None,
    callback: Progress | None = None,
    random_state: Any = None,
) -> PreparedTable:
    """Read a table, encode it, and hold out some of its rows.

    The rows are seen twice, in batches: first to see what the columns are, then to encode them. A text file is read
    once, see `TableFile`.

    Parameters
    ----------
    table : TableFile, path or frame
        The table.
    roles : Roles
        Which columns are what.
    options : TableOptions, default=None
        How columns are read, and what becomes of missing values.
    encoder : TableEncoder, default=None
        That of a fit, for new rows: columns and missing values are encoded as it did, whatever `options` say; a
        warning counts categories that it did not know.
    held_out : float, default=0.3
        Share of the rows that is held out, the same of all who have the same protected attributes. 0 holds out none.
    dtype : {None, "float32", "float64"}, default=None
        Of the features. By default float64 in memory; in a file float32, unless that would blur a column.
    most_bytes : int, default=256 MB
        Size of the features beyond which they are kept in a file.
    folder : path, default=None
        Where a folder for such files is made; by default where temporary files are.
    callback : callable, default=None
        Called with the rows that are done, all rows (None where that is not known) and a word on what is done.
    random_state : int, RandomState instance or None, default=None
        Draws the rows that are held out.

    Returns
    -------
    prepared : PreparedTable
        Features and people of both parts. Use it in a `with` block where tables are large.

    Warns
    -----
    TableWarning
        Of constant columns, rows that were dropped, and an encoding that was guessed.
    AttributeInTableWarning
        Of features that reveal a protected attribute.

    Notes
    -----
    Kinds and categories are those of all rows; a category that only held-out rows have is a feature that is 0 in all
    rows to fit, which carries no weight. Missing numbers are filled from the rows to fit alone. Beyond the kinds,
    nothing of the held-out rows goes into a fit.

    Examples
    --------
    >>> from fairpca.tables import Roles, prepare
    >>> table = {"age": [31, 45, 27, 60], "work": ["no", "yes", "yes", "no"], "sex": ["f", "m", "f", "m"]}
    >>> prepared = prepare(table, Roles("sex"), held_out=0.5, random_state=0)
    >>> prepared.feature_names, prepared.X_train.shape, prepared.X_new.shape
    (['age', 'work=no', 'work=yes'], (2, 3), (2, 3))
    """
    _check_share(held_out)
    check_integer("most_bytes", most_bytes, least=0)
    if dtype not in (None, "float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} must be 'float32', 'float64' or None.")
    if not (callback is None or callable(callback)):
        raise TypeError(f"callback must be a function of rows done, all rows and a text, or None; got {callback!r}.")
    options = options or TableOptions()
    if encoder is not None:
        options = replace(options, missing=encoder.missing, missing_values=encoder.missing_values)
    found = Survey(table, roles, options, callback, encoder)
    found.check()
    parts = _Parts.of(found, held_out, random_state)
    n_bytes = np.count_nonzero(parts.train | parts.new) * found.encoder.n_features * np.dtype(dtype or float).itemsize
    if n_bytes <= most_bytes:
        return _prepared(found, parts, np.dtype(dtype or float), None)
    # In a file numbers are half as long, where that does not blur them.
    dtype = np.dtype(dtype or ("float64" if found.needs_digits() else "float32"))
    place = Path(tempfile.mkdtemp(prefix="fairpca-", dir=folder))
    try:
        return _prepared(found, parts, dtype, place)
    except BaseException as error:
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            size = f"the features of {found.table.label} take {n_bytes // 2**20:,} MB"
            raise TableError(f"{size}, and {place.parent} has no room; set TMPDIR to another folder.") from None
        raise


def _check_share(share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) < 1:
        raise ValueError(f"held_out={share!r} must be a share of the rows, from 0 to less than 1.")


# The first look: what columns are, and whether they can be used


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
        for rows in (rows for column in used for missing in column.missing for rows in missing.all):
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
        """Tell whether float32 would blur a column, or overflow."""
        with_digits = ("number", "date", "time")
        columns = [self.columns[column.name] for column in self.encoder.columns if column.kind in with_digits]
        return any(column.needs_digits for column in columns)

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
            row = min(rows.first for rows in lacking[0].missing)
            first = f"the first of {lacking[0].name!r} in row {row}"
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
    words = f" with {', '.join(map(repr, column.gaps))}" if column.gaps else ""
    return f"{column.name!r} ({column.n_missing}{words})"


# Rows to fit, and rows held out


@dataclass(frozen=True, eq=False)
class _Parts:
    """Rows to fit, rows held out, what is known of all people, and how many rows are neither, by reason."""

    train: BoolArray
    new: BoolArray
    people: dict[str, AnyArray]
    n_dropped: dict[str, int]

    @classmethod
    def of(cls, found: Survey, share: float, random_state: Any) -> "_Parts":
        people, kept = found.people(), found.rows_kept()
        n_dropped = {"missing": int((~kept).sum())}
        if found.roles.weight is not None:
            weightless = kept & (people[found.roles.weight] == 0)
            kept &= ~weightless
            n_dropped["zero weight"] = int(weightless.sum())
        if kept.sum() < 2:
            raise TableError(f"{found.table.label} has {int(kept.sum())} usable rows; at least 2 are needed.")
        new = np.zeros(len(kept), dtype=bool)
        new[kept] = held_out_rows(share, [people[name][kept] for name in found.roles.sensitive], random_state)
        if not (kept & ~new).any():
            raise TableError(f"held_out={share} leaves no row to fit; hold out fewer.")
        return cls(kept & ~new, new, people, {reason: count for reason, count in n_dropped.items() if count})

    def people_in(self, rows: BoolArray, roles: Roles) -> People:
        """Return what is known of some of the people."""
        chosen: dict[str | None, AnyArray] = {name: column[rows] for name, column in self.people.items()}
        return People(
            sensitive_features={name: chosen[name] for name in roles.sensitive},
            y=chosen.get(roles.label),
            control_features={name: chosen[name] for name in roles.control} or None,
            sample_weight=chosen.get(roles.weight),
        )


# The features


def _prepared(found: Survey, parts: _Parts, dtype: "np.dtype[Any]", folder: Path | None) -> PreparedTable:
    """Encode all rows and put the result together, with warnings of what was left out or reveals too much."""
    encoder, roles, is_new = found.encoder, found.roles, found.learned is None
    train, new = (
        _room((int(mask.sum()), encoder.n_features), dtype, folder and folder / name)
        for name, mask in (("train", parts.train), ("new", parts.new))
    )
    means = _encode(found, parts, train, new)
    if is_new and found.options.missing == "fill":
        encoder = _filled(found, means, train, new)
    # Whoever fitted the model of a known encoder was told.
    copies = _near_copies(parts, train, encoder, roles) if is_new else []
    notes = _notes(found, parts.n_dropped, copies)
    for words, category in notes:
        warn_user(words, category)
    return PreparedTable(
        encoder,
        train,
        new,
        parts.people_in(parts.train, roles),
        parts.people_in(parts.new, roles),
        np.flatnonzero(parts.train),
        np.flatnonzero(parts.new),
        columns=found.describe(),
        near_copies=copies,
        n_dropped=parts.n_dropped,
        notes=tuple(words for words, _ in notes),
        folder=folder,
    )


def _room(shape: tuple[int, int], dtype: "np.dtype[Any]", path: Path | None) -> AnyArray:
    """Return room for a matrix, in memory or in a file, whose place on the disk is taken at once: it may be full."""
    if path is None or not shape[0]:  # an empty file cannot be mapped
        return np.empty(shape, dtype)
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, shape[0] * shape[1] * dtype.itemsize)
    return np.memmap(path, dtype, "r+", shape=shape)


def _release(rows: AnyArray) -> None:
    """Let the system take back the memory of rows in a file."""
    mapped = getattr(rows, "_mmap", None)
    if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


def _encode(found: Survey, parts: _Parts, train: AnyArray, new: AnyArray) -> AnyArray:
    """Fill both matrices, and return the means of numbers over the rows to fit; NaN where none has a value."""
    table, is_new, done = found.table, found.learned is None, 0
    changed = TableError(f"{table.label} has changed while it was read; try again.")
    unknown: Counter[tuple[str, str]] = Counter()
    numbers = [found.encoder.slices[name].start for name in found.numbers]
    sums, counts = np.zeros((2, len(numbers)))
    # Divided by this first: the sum of numbers near the largest would overflow. A power of two leaves all digits.
    scale = 2.0 ** math.ceil(math.log2(found.n_rows))
    for rows in found.encoder.blocks(table, dtype=train.dtype):
        here = slice(done, done + len(rows.X))
        done = here.stop
        if done > found.n_rows or (rows.unknown and is_new):
            raise changed
        unknown.update(rows.unknown)
        if found.options.missing == "refuse":
            rows.check_complete()
        for X, mask in ((train, parts.train), (new, parts.new)):
            some, start = rows.X[mask[here]], np.count_nonzero(mask[: here.start])
            X[start : start + len(some)] = some
            _release(X)
        if found.options.missing == "fill" and is_new:
            fitted = rows.X[np.ix_(parts.train[here], numbers)]
            sums += np.nansum(fitted / scale, axis=0, dtype=np.float64)
            counts += np.count_nonzero(~np.isnan(fitted), axis=0)
        found.progress(done, found.n_rows, "encoding rows")
    if done != found.n_rows:
        raise changed
    tell_of_unknown(unknown, "warn", table.label)
    with np.errstate(invalid="ignore"):
        return sums / (counts / scale)


def _filled(found: Survey, means: AnyArray, *parts: AnyArray) -> TableEncoder:
    """Fill in the means of the rows to fit, and return the encoder that does so for others."""
    fills = dict(zip(found.numbers, means.tolist(), strict=True))
    unknown = [name for name, mean in fills.items() if math.isnan(mean)]
    if unknown:
        raise TableError(f"column {unknown[0]!r} has no value in any row to fit; leave it out with drop.")
    missing = [name for name in fills if found.columns[name].n_missing]
    gaps = [found.encoder.slices[name].start for name in missing]
    values = np.array([fills[name] for name in missing])
    for X in parts if gaps else ():
        for start in range(0, len(X), BATCH_ROWS):
            some = X[start : start + BATCH_ROWS, gaps]
            X[start : start + BATCH_ROWS, gaps] = np.where(np.isnan(some), values, some)
            _release(X)
    columns = (replace(column, fill=fills.get(column.name)) for column in found.encoder.columns)
    return replace(found.encoder, columns=tuple(columns))


def _near_copies(parts: _Parts, train: AnyArray, encoder: TableEncoder, roles: Roles) -> list[NearCopy]:
    """Look for copies of protected attributes in some of the rows to fit, evenly spaced."""
    step = step_between(len(train), train.shape[1] * train.itemsize)
    size, some = step * max(1, BATCH_ROWS // step), []
    for start in range(0, len(train), size):
        some.append(np.array(train[start : start + size : step]))
        _release(train)
    looked_at = np.flatnonzero(parts.train)[::step]
    return near_copies(np.concatenate(some), encoder, {name: parts.people[name][looked_at] for name in roles.sensitive})


def _notes(found: Survey, n_dropped: dict[str, int], copies: list[NearCopy]) -> list[Note]:
    notes: list[Note] = [(words, TableWarning) for words in found.table.notes]
    if found.constant:
        listed = ", ".join(map(repr, found.constant[:5])) + (", ..." if len(found.constant) > 5 else "")
        notes.append((f"columns that do not vary are left out: {listed}.", TableWarning))
    for column in (each for each in found.features if each.gaps):
        words = ", ".join(f"{word!r} ({rows.count} rows)" for word, rows in column.gaps.items())
        notes.append((f"column {column.name!r} holds numbers; {words} in it count as missing.", TableWarning))
    reasons = {"missing": "lack a value", "zero weight": "have the weight 0"}
    for reason, count in n_dropped.items():
        notes.append((f"{count} of {found.n_rows} rows {reasons[reason]} and are left out.", TableWarning))
    if copies:
        listed = "; ".join(map(str, copies[:5])) + ("; ..." if len(copies) > 5 else "")
        words = f"features reveal protected attributes: {listed}. Drop these columns unless you want them there."
        notes.append((words, AttributeInTableWarning))
    return notes
