"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._dask import (
    DaskRows as DaskRows,
    compute as compute,
    header as header,
    map_rows_lazily as map_rows_lazily,
    number_blocks as number_blocks,
)
from fairpca.rows._rows import (
    PILOT_ROWS as PILOT_ROWS,
    ArrayRows as ArrayRows,
    FieldSums as FieldSums,
    Partial as Partial,
    Rows as Rows,
    RowsInMemory as RowsInMemory,
    StratifiedDraw as StratifiedDraw,
    Transform as Transform,
    compressed as compressed,
    dense as dense,
    is_dask as is_dask,
    is_dask_frame as is_dask_frame,
    is_sparse as is_sparse,
    n_distinct as n_distinct,
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
