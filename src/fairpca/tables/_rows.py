"""The features of a table: encoded, filled, kept in memory or in files."""
# SPDX-License-Identifier: MIT

import shutil
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fairpca._utils.warn import Note, warn_user
from fairpca.exceptions import AttributeInTableWarning, TableError, TableWarning
from fairpca.tables._column import TableColumn
from fairpca.tables._copies import NearCopy, near_copies, step_between
from fairpca.tables._encoder import TableEncoder, check_complete, tell_of_unknown
from fairpca.tables._file import TableFile
from fairpca.tables._people import people_in
from fairpca.tables._plan import RowPlan
from fairpca.tables._prepared import PreparedTable
from fairpca.tables._store import RowStore, column_means, fill_columns
from fairpca.tables._survey import Progress, Survey

NARROW = 1e-4
"""Range of a column, relative to its numbers, below which the digits of float32 do not show how it varies."""


class TableRows:
    """The features of a table, in memory or in files.

    Parameters
    ----------
    found : Survey
        The table.
    plan : RowPlan
        Which rows are used.
    dtype : dtype or None
        Of the features.
    most_bytes : int
        Size beyond which they are kept in files.
    folder : path or None
        Where a folder for files is made.
    """

    def __init__(self, found: Survey, plan: RowPlan, dtype: Any, most_bytes: int, folder: Any) -> None:
        self._found, self._plan, self._encoder = found, plan, found.encoder()
        sizes = {"train": int(plan.train.sum()), "new": int(plan.new.sum())}
        n_rows, n_features = sum(sizes.values()), self._encoder.n_features
        in_memory = n_rows * n_features * np.dtype(dtype or np.float64).itemsize <= most_bytes
        narrow = np.float64 if in_memory or _needs_digits(found, self._encoder) else np.float32
        self._dtype = np.dtype(dtype or narrow)
        self._folder = None if in_memory else Path(tempfile.mkdtemp(prefix="fairpca-", dir=folder))
        self._stores = {
            part: RowStore((size, n_features), self._dtype, self._folder and self._folder / part)
            for part, size in sizes.items()
        }

    def remove(self) -> None:
        """Remove the files."""
        for store in self._stores.values():
            store.finish()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def prepared(self, progress: Progress) -> PreparedTable:
        """Encode all rows and put the result together, with warnings of what was left out or tells too much.

        Parameters
        ----------
        progress : callable
            Told how far it is.
        """
        self._encode(progress)
        self._fill()
        X_train, X_new = (store.matrix() for store in self._stores.values())
        plan, roles = self._plan, self._found.roles
        copies = self._near_copies()
        notes = _notes(self._found, plan, copies)
        for words, category in notes:
            warn_user(words, category)
        return PreparedTable(
            self._encoder,
            X_train,
            X_new,
            people_in(plan.train, plan.people, roles),
            people_in(plan.new, plan.people, roles),
            rows_train=np.flatnonzero(plan.train),
            rows_new=np.flatnonzero(plan.new),
            columns=self._found.describe(),
            near_copies=copies,
            n_dropped=plan.n_dropped,
            notes=tuple(words for words, _ in notes),
            folder=self._folder,
        )

    def _encode(self, progress: Progress) -> None:
        table, plan, done = self._found.table, self._plan, 0
        is_new, unknown = self._found.learned is not None, Counter[tuple[str, str]]()
        for rows in self._encoder.blocks(table, dtype=self._dtype):
            here = slice(done, done + len(rows.X))
            train, new = plan.train[here], plan.new[here]
            if len(train) < len(rows.X) or (rows.unknown and not is_new):
                raise _changed(table)
            unknown.update(rows.unknown)
            if self._found.options.missing == "refuse":
                check_complete(self._encoder, rows)
            self._stores["train"].append(rows.X[train])
            self._stores["new"].append(rows.X[new])
            done += len(rows.X)
            progress(done, self._found.n_rows, "encoding rows")
        for store in self._stores.values():
            store.finish()
        if done != self._found.n_rows:
            raise _changed(table)
        tell_of_unknown(unknown, "warn", table.label)

    def _near_copies(self) -> list[NearCopy]:
        if self._found.learned is not None:
            return []  # whoever fitted the model was told
        plan, store = self._plan, self._stores["train"]
        train = np.flatnonzero(plan.train)
        step = step_between(len(train), self._encoder.n_features * self._dtype.itemsize)
        attributes = {name: plan.people[name][train[::step]] for name in self._found.roles.sensitive}
        return near_copies(store.every(step), self._encoder, attributes)

    def _fill(self) -> None:
        """Fill in the means of the rows to fit, so that nothing of the held-out rows goes into a fit."""
        if self._found.options.missing != "fill" or self._found.learned is not None:
            return
        numbers = [column for column in self._encoder.columns if column.kind != "category"]
        if not numbers:
            return
        places = np.array([self._encoder.slices[column.name].start for column in numbers])
        means = column_means(self._stores["train"], places)
        unknown = [column.name for column, mean in zip(numbers, means, strict=True) if np.isnan(mean)]
        if unknown:
            raise TableError(f"column {unknown[0]!r} has no value in any row to fit; leave it out with drop.")
        fills = {column.name: float(mean) for column, mean in zip(numbers, means, strict=True)}
        gaps = np.array([self._found.tallies[column.name].n_missing > 0 for column in numbers])
        for store in self._stores.values():
            if gaps.any():
                fill_columns(store, places[gaps], means[gaps])
        self._encoder = _filling(self._encoder, fills)


def _changed(table: TableFile) -> TableError:
    return TableError(f"{table.label} has changed while it was read; try again.")


def _filling(encoder: TableEncoder, fills: dict[str, float]) -> TableEncoder:
    def with_fill(column: TableColumn) -> TableColumn:
        return replace(column, fill=fills.get(column.name))

    return replace(encoder, columns=tuple(map(with_fill, encoder.columns)))


def _needs_digits(found: Survey, encoder: TableEncoder) -> bool:
    """Tell whether float32 would blur a column, or cannot hold its numbers."""
    tallies = [found.tallies[column.name] for column in encoder.columns if column.kind == "number"]
    largest = [max(abs(tally.smallest), abs(tally.largest)) for tally in tallies]
    return any(
        most > np.finfo(np.float32).max or tally.largest - tally.smallest < NARROW * most
        for tally, most in zip(tallies, largest, strict=True)
    )


def _notes(found: Survey, plan: RowPlan, copies: list[NearCopy]) -> list[Note]:
    notes: list[Note] = [(words, TableWarning) for words in found.table.notes]
    constant = [name for name, kind in found.kinds.items() if found.roles.is_feature(name) and kind.name == "constant"]
    if constant and found.learned is None:
        listed = ", ".join(map(repr, constant[:5])) + (", ..." if len(constant) > 5 else "")
        notes.append((f"columns that do not vary are left out: {listed}.", TableWarning))
    reasons = {"missing": "lack a value", "zero weight": "have the weight 0"}
    for reason, count in plan.n_dropped.items():
        words = f"{count} of {found.n_rows} rows {reasons[reason]} and are left out."
        notes.append((words, TableWarning))
    if copies:
        listed = "; ".join(map(str, copies[:5])) + ("; ..." if len(copies) > 5 else "")
        words = f"features tell protected attributes: {listed}. Drop these columns unless you want them there."
        notes.append((words, AttributeInTableWarning))
    return notes
