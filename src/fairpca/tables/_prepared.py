"""A table made ready for a fit: rows to fit, rows held out, and who the people are."""
# SPDX-License-Identifier: MIT

import mmap
import shutil
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fairpca._utils.typing import AnyArray, IntArray
from fairpca.comparison import People
from fairpca.tables._copies import NearCopy
from fairpca.tables._encoder import TableEncoder


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
        Features that tell a protected attribute.
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
            mapped = getattr(rows, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)

    def close(self) -> None:
        """Remove the files; the rows in them cannot be used any more."""
        if self._cleaner is not None:
            self._cleaner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
