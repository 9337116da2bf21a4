"""Which plain types an encoder is kept as, and nothing else."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Mapping
from typing import Any

from fairpca.exceptions import TableError
from fairpca.tables._kinds import ENCODED
from fairpca.tables._options import MISSING

WHERE = "the table encoder"


def check_encoder(fields: Any, schema: int) -> None:
    """Refuse anything but the fields of an encoder.

    Parameters
    ----------
    fields : mapping
        Plain types.
    schema : int
        The schema that is known.
    """
    _check_fields(WHERE, fields, {"schema", "missing", "missing_values", "columns"})
    if type(fields["schema"]) is not int or fields["schema"] != schema:
        raise TableError(f"{WHERE} has the schema {fields['schema']!r}; this version of fairpca knows {schema} only.")
    if fields["missing"] not in MISSING:
        raise TableError(f"{WHERE} has missing={fields['missing']!r}; it must be one of {list(MISSING)}.")
    _check_list(f"{WHERE}, missing_values,", fields["missing_values"], may_be_empty=True)
    if not isinstance(fields["columns"], list) or not fields["columns"]:
        raise TableError(f"{WHERE}, columns, must be a list of columns.")
    names = [_check_column(number, column) for number, column in enumerate(fields["columns"], start=1)]
    if len(set(names)) < len(names):
        raise TableError(f"{WHERE} has two columns of the same name.")


def _check_column(number: int, column: Any) -> str:
    where = f"{WHERE}, column {number},"
    kind = column.get("kind") if isinstance(column, Mapping) else None
    if not isinstance(kind, str) or kind not in ENCODED:
        raise TableError(f"{where} has the kind {kind!r}; it must be one of {list(ENCODED)}.")
    _check_fields(where, column, {"name", "kind", "categories" if kind == "category" else "fill"})
    if not isinstance(column["name"], str):
        raise TableError(f"{where} has the name {column['name']!r}; it must be a text.")
    if kind == "category":
        _check_list(f"{where} categories,", column["categories"], may_be_empty=False, or_null=True)
    else:
        _check_fill(where, column["fill"])
    return column["name"]


def _check_fields(where: str, fields: Any, known: set[str]) -> None:
    if not isinstance(fields, Mapping):
        raise TableError(f"{where} must be a table of fields; got {type(fields).__name__}.")
    if set(fields) != known:
        raise TableError(f"{where} must have the fields {sorted(known)} and no others; got {sorted(map(str, fields))}.")


def _check_list(where: str, values: Any, *, may_be_empty: bool, or_null: bool = False) -> None:
    if not isinstance(values, list) or not (values or may_be_empty):
        raise TableError(f"{where} must be a list of texts.")
    if not all(isinstance(value, str) or (or_null and value is None) for value in values):
        raise TableError(f"{where} must be a list of texts{' or null' if or_null else ''}.")
    if len(set(values)) < len(values):
        raise TableError(f"{where} names a value twice.")


def _check_fill(where: str, fill: Any) -> None:
    is_number = (type(fill) is float and math.isfinite(fill)) or (type(fill) is int and abs(fill) < 2**63)
    if not (fill is None or is_number):
        raise TableError(f"{where} fills in {fill!r}; it must be a finite number or null.")
