"""Who must look alike: people, strata and contrasts between them. Fairness lives here and nowhere else."""
# SPDX-License-Identifier: MIT

from fairpca.comparison._checks import (
    LARGEST_MMD2 as LARGEST_MMD2,
    check_auto as check_auto,
    check_same_rows as check_same_rows,
    check_tolerances as check_tolerances,
    check_two_groups as check_two_groups,
)
from fairpca.comparison._compare import Compared as Compared, KnownAttribute as KnownAttribute, compare as compare
from fairpca.comparison._comparison import (
    Comparison as Comparison,
    Contrast as Contrast,
    Dependence as Dependence,
    Strata as Strata,
)
from fairpca.comparison._encoded import EncodedColumn as EncodedColumn, Encoding as Encoding, encoded as encoded
from fairpca.comparison._measures import Measure as Measure
from fairpca.comparison._terms import (
    NOTIONS as NOTIONS,
    Among,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    People as People,
    Terms as Terms,
    against_others,
    notion_from as notion_from,
)
from fairpca.comparison._weights import (
    LEFT_OUT as LEFT_OUT,
    MASS as MASS,
    DenseColumns as DenseColumns,
    RowWeights as RowWeights,
    features_of as features_of,
    masses_of as masses_of,
)

__all__ = ["Among", "DemographicParity", "EqualOpportunity", "EqualizedOdds", "Notion", "against_others"]
