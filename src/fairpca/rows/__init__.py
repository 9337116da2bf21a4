"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._array import ArrayRows, SparseRows, compressed, dense, is_sparse, n_distinct, rows_in_memory
from fairpca.rows._protocol import (
    Partial,
    Rows,
    RowsInMemory,
    StratifiedDraw,
    Transform,
    deal,
    shares,
    strata_of,
    sum_of_block,
)
from fairpca.rows.dask import (
    DaskRows,
    compute,
    header,
    is_dask,
    is_dask_frame,
    is_dask_series,
    map_rows_lazily,
    number_blocks,
)

__all__ = [
    "ArrayRows",
    "DaskRows",
    "Partial",
    "Rows",
    "RowsInMemory",
    "SparseRows",
    "StratifiedDraw",
    "Transform",
    "compressed",
    "compute",
    "deal",
    "dense",
    "header",
    "is_dask",
    "is_dask_frame",
    "is_dask_series",
    "is_sparse",
    "map_rows_lazily",
    "n_distinct",
    "number_blocks",
    "rows_in_memory",
    "shares",
    "strata_of",
    "sum_of_block",
]
