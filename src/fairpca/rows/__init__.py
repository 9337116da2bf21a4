"""Rows wherever they are, seen as blocks over which things are summed."""
# SPDX-License-Identifier: MIT

from fairpca.rows._array import ArrayRows
from fairpca.rows._columns import ColumnSummary, sums_of_block
from fairpca.rows._dask import DaskRows
from fairpca.rows._dask_finite import check_finite
from fairpca.rows._dask_kind import is_dask
from fairpca.rows._dask_labels import parity_weights
from fairpca.rows._dask_projection import project_lazily
from fairpca.rows._dask_table import dask_table, header
from fairpca.rows._protocol import Rows
from fairpca.rows._same_rows import check_same_rows
from fairpca.rows._strata import StratifiedDraw, deal, normalised, shares, strata

__all__ = [
    "ArrayRows",
    "ColumnSummary",
    "DaskRows",
    "Rows",
    "StratifiedDraw",
    "check_finite",
    "check_same_rows",
    "dask_table",
    "deal",
    "header",
    "is_dask",
    "normalised",
    "parity_weights",
    "project_lazily",
    "shares",
    "strata",
    "sums_of_block",
]
