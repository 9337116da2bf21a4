"""From a table to a prepared problem: scaled columns, principal axes, few rows and many."""
# SPDX-License-Identifier: MIT

from fairpca.data._axes import AxesRequest as AxesRequest, Components as Components, PrincipalAxes as PrincipalAxes
from fairpca.data._columns import Spread as Spread, summarised as summarised, sums_of_block as sums_of_block
from fairpca.data._few_rows import axes_of_short_table as axes_of_short_table, prepare_few_rows as prepare_few_rows
from fairpca.data._many_rows import EXACT_PAIRS as EXACT_PAIRS, prepare_many_rows as prepare_many_rows
from fairpca.data._moments import (
    Moments as Moments,
    ScaledMoments as ScaledMoments,
    leading as leading,
    orthonormal as orthonormal,
)
from fairpca.data._prepared import (
    PreparedData as PreparedData,
    check_linear as check_linear,
    choose_method as choose_method,
    may_be_dense as may_be_dense,
    warn_of_many_columns as warn_of_many_columns,
)
from fairpca.data._scaling import ColumnScaling as ColumnScaling, standardized as standardized
