"""From a table of people to rows to fit and rows held out."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from fairpca._utils.checks import check_integer
from fairpca.tables._encoder import TableEncoder
from fairpca.tables._file import TableFile
from fairpca.tables._options import Roles, TableOptions
from fairpca.tables._plan import RowPlan
from fairpca.tables._prepared import PreparedTable
from fairpca.tables._rows import TableRows
from fairpca.tables._survey import Progress, survey

MOST_BYTES = 256 * 2**20
"""Size of the features beyond which they are kept in a file."""


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
        category, constant; date, identifier, row number, free text, long text, decimal comma and nested are
        refused as features), `distinct` (counted up to `most_categories`, `more_distinct` says whether there are more),
        `missing`, `features` (how many it becomes) and a `note`.

    Examples
    --------
    >>> from fairpca.tables import Roles, describe
    >>> table = {"age": [31, 45, 27], "sex": ["f", "m", "f"], "country": ["x", "x", "x"]}
    >>> [(row["column"], row["role"], row["kind"]) for row in describe(table, Roles("sex"))]
    [('age', 'feature', 'number'), ('sex', 'sensitive', 'category'), ('country', 'feature', 'constant')]
    """
    return survey(TableFile.of(table), roles, options or TableOptions(), _progress(callback)).describe()


def prepare(
    table: Any,
    roles: Roles,
    options: TableOptions | None = None,
    *,
    encoder: TableEncoder | None = None,
    held_out: float = 0.3,
    dtype: Any = None,
    most_bytes: int = MOST_BYTES,
    folder: Any = None,
    callback: Progress | None = None,
    random_state: Any = None,
) -> PreparedTable:
    """Read a table, encode it, and hold out some of its rows.

    The table is read twice, in batches: first to see what its columns are, then to encode them.

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
        Of features that tell a protected attribute.

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
    progress = _progress(callback)
    found = survey(TableFile.of(table), roles, _as_learned(options or TableOptions(), encoder), progress, encoder)
    found.check()
    plan = RowPlan.of(found, held_out, random_state)
    rows = TableRows(found, plan, dtype, most_bytes, folder)
    try:
        return rows.prepared(progress)
    except BaseException:
        rows.remove()
        raise


def _as_learned(options: TableOptions, encoder: TableEncoder | None) -> TableOptions:
    if encoder is None:
        return options
    return replace(options, missing=encoder.missing, missing_values=encoder.missing_values)


def _check_share(share: Any) -> None:
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) < 1:
        raise ValueError(f"held_out={share!r} must be a share of the rows, from 0 to less than 1.")


def _progress(callback: Any) -> Progress:
    if callback is None:
        return lambda done, total, what: None
    if not callable(callback):
        raise TypeError(f"callback must be a function of rows done, all rows and a text, or None; got {callback!r}.")
    told: Progress = callback
    return told
