"""Columns of what a user passed beside the rows: one vector, or a table of several with names."""
# SPDX-License-Identifier: MIT

import sys
from collections.abc import Mapping
from typing import Any

from fairpca.comparison._labels import as_array
from fairpca.rows import is_dask, is_dask_frame

Named = tuple[str, Any]
"""The name of a column, empty where it has none, and its entries."""


def columns_of(table: Any, argument: str) -> list[Named]:
    """Return the columns of a vector or table.

    Parameters
    ----------
    table : array-like or Dask collection of shape (n,) or (n, k), or mapping of names to columns
        What a user passed.
    argument : str
        Its name, for messages.
    """
    if isinstance(table, Mapping) or is_dask_frame(table) or _is_frame(table):
        names = list(table) if isinstance(table, Mapping) else list(getattr(table, "column_names", table.columns))
        if not names:
            raise ValueError(f"{argument} has no columns.")
        return [(str(name), table[name]) for name in names]
    if is_dask(table):
        return [("", table)] if table.ndim == 1 else [_numbered(table, k, argument) for k in range(table.shape[1])]
    name = getattr(table, "name", None)
    if not hasattr(table, "shape") or len(table.shape) == 2:
        array = as_array(table, argument)
        if array.ndim == 2 and array.shape[1] > 1:
            return [_numbered(array, k, argument) for k in range(array.shape[1])]
    return [(name if isinstance(name, str) else "", table)]


def _numbered(array: Any, k: int, argument: str) -> Named:
    return f"{argument}[{k}]" if array.shape[1] > 1 else "", array[:, k]


def _is_frame(table: Any) -> bool:
    """Tell a frame of pandas or polars, or a table of pyarrow, from others without importing any of them."""
    kinds = [
        getattr(sys.modules[module], name)
        for module, name in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"))
        if module in sys.modules
    ]
    return isinstance(table, tuple(kinds))
