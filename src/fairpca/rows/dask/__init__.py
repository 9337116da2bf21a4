"""Rows in tables of Dask, which is imported only where one is passed."""
# SPDX-License-Identifier: MIT

from fairpca.rows.dask._blocks import (
    compute as compute,
    is_dask as is_dask,
    is_dask_frame as is_dask_frame,
    is_dask_series as is_dask_series,
)
from fairpca.rows.dask._rows import DaskRows as DaskRows, map_rows_lazily as map_rows_lazily
from fairpca.rows.dask._table import header as header, number_blocks as number_blocks
