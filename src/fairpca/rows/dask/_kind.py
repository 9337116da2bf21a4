"""Telling tables of Dask from others, without importing it."""
# SPDX-License-Identifier: MIT

import sys
from typing import Any


def is_dask(table: Any) -> bool:
    """Return whether this is an array, a frame or a series of Dask.

    Parameters
    ----------
    table : object
        Anything. Where Dask was not imported nothing can be its table, so it is not imported here either.
    """
    return is_dask_array(table) or is_dask_frame(table) or is_dask_series(table)


def is_dask_array(table: Any) -> bool:
    """Return whether this is a `dask.array.Array`."""
    return _is_instance(table, "dask.array", "Array")


def is_dask_frame(table: Any) -> bool:
    """Return whether this is a `dask.dataframe.DataFrame`."""
    return _is_instance(table, "dask.dataframe", "DataFrame")


def is_dask_series(table: Any) -> bool:
    """Return whether this is a `dask.dataframe.Series`."""
    return _is_instance(table, "dask.dataframe", "Series")


def _is_instance(table: Any, module: str, name: str) -> bool:
    return module in sys.modules and isinstance(table, getattr(sys.modules[module], name))
