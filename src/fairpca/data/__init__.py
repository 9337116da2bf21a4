"""From a table to a prepared problem: scaled columns, principal axes, few rows and many."""
# SPDX-License-Identifier: MIT

from fairpca.data._axes import AxesRequest as AxesRequest, Components as Components, PrincipalAxes as PrincipalAxes
from fairpca.data._columns import (
    ColumnScaling as ColumnScaling,
    Spread as Spread,
    summarised as summarised,
    sums_of_block as sums_of_block,
)
from fairpca.data._many_rows import EXACT_PAIRS as EXACT_PAIRS, prepare_many_rows as prepare_many_rows
from fairpca.data._moments import (
    Moments as Moments,
    ScaledMoments as ScaledMoments,
    leading as leading,
    orthonormal as orthonormal,
)
from fairpca.data._prepared import (
    PreparedData as PreparedData,
    choose_method as choose_method,
    merge_equal_rows as merge_equal_rows,
    n_components_for_share as n_components_for_share,
    prepare_few_rows as prepare_few_rows,
)
