"""Rows in tables of Dask, which is imported only where one is passed."""
# SPDX-License-Identifier: MIT

from fairpca.rows.dask._blocks import compute, is_dask, is_dask_frame, is_dask_series
from fairpca.rows.dask._rows import DaskRows, map_rows_lazily
from fairpca.rows.dask._table import header, number_blocks

__all__ = [
    "DaskRows",
    "compute",
    "header",
    "is_dask",
    "is_dask_frame",
    "is_dask_series",
    "map_rows_lazily",
    "number_blocks",
]
