"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._array import ArrayRows
from fairpca.rows._protocol import Partial, Rows
from fairpca.rows._strata import StratifiedDraw, deal, shares, strata_of
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
    "StratifiedDraw",
    "compute",
    "deal",
    "header",
    "is_dask",
    "is_dask_frame",
    "is_dask_series",
    "map_rows_lazily",
    "number_blocks",
    "shares",
    "strata_of",
]
