"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._array import (
    ArrayRows as ArrayRows,
    SparseRows as SparseRows,
    compressed as compressed,
    dense as dense,
    is_sparse as is_sparse,
    n_distinct as n_distinct,
    rows_in_memory as rows_in_memory,
)
from fairpca.rows._dask_blocks import (
    compute as compute,
    is_dask as is_dask,
    is_dask_frame as is_dask_frame,
    is_dask_series as is_dask_series,
)
from fairpca.rows._dask_rows import DaskRows as DaskRows, map_rows_lazily as map_rows_lazily
from fairpca.rows._dask_table import header as header, number_blocks as number_blocks
from fairpca.rows._protocol import (
    PILOT_ROWS as PILOT_ROWS,
    FieldSums as FieldSums,
    Partial as Partial,
    Rows as Rows,
    RowsInMemory as RowsInMemory,
    StratifiedDraw as StratifiedDraw,
    Transform as Transform,
    shares as shares,
    strata_of as strata_of,
    stratified_parts as stratified_parts,
    sum_of_block as sum_of_block,
)
from fairpca.rows._seen import (
    Overlap as Overlap,
    SeenRows as SeenRows,
    key_of as key_of,
    table_rows as table_rows,
)
