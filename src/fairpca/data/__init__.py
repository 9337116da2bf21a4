"""From a table to a prepared problem: scaled columns, principal axes, few rows and many."""
# SPDX-License-Identifier: MIT

from fairpca.data._axes import AxesRequest, PrincipalAxes
from fairpca.data._columns import summarised, sums_of_block
from fairpca.data._components import Components
from fairpca.data._few_rows import axes_of_short_table, prepare_few_rows
from fairpca.data._many_rows import SHARE_MEASURED_TO, prepare_many_rows
from fairpca.data._method import choose_method, linear_method, may_be_dense, warn_of_many_columns
from fairpca.data._prepared import PreparedData
from fairpca.data._scaling import ColumnScaling, standardized
from fairpca.data._spread import Spread

__all__ = [
    "SHARE_MEASURED_TO",
    "AxesRequest",
    "ColumnScaling",
    "Components",
    "PreparedData",
    "PrincipalAxes",
    "Spread",
    "axes_of_short_table",
    "choose_method",
    "linear_method",
    "may_be_dense",
    "prepare_few_rows",
    "prepare_many_rows",
    "standardized",
    "summarised",
    "sums_of_block",
    "warn_of_many_columns",
]
