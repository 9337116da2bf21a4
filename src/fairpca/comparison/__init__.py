"""Who must look alike: people, strata and contrasts between them. Fairness lives here and nowhere else."""
# SPDX-License-Identifier: MIT

from fairpca.comparison._attribute import LEFT_OUT, features_of
from fairpca.comparison._checks import LARGEST_MMD2, check_auto, check_same_rows, check_tolerances, check_two_groups
from fairpca.comparison._compare import Compared, KnownAttribute, compare
from fairpca.comparison._comparison import Comparison, Contrast, Dependence, Strata
from fairpca.comparison._measures import Measure
from fairpca.comparison._terms import (
    NOTIONS,
    Among,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    People,
    Terms,
    against_others,
    notion_from,
)
from fairpca.comparison._weights import MASS, NOWHERE, DenseColumns, RowWeights, masses_of

__all__ = [
    "LARGEST_MMD2",
    "LEFT_OUT",
    "MASS",
    "NOTIONS",
    "NOWHERE",
    "Among",
    "Compared",
    "Comparison",
    "Contrast",
    "DemographicParity",
    "DenseColumns",
    "Dependence",
    "EqualOpportunity",
    "EqualizedOdds",
    "KnownAttribute",
    "Measure",
    "Notion",
    "People",
    "RowWeights",
    "Strata",
    "Terms",
    "against_others",
    "check_auto",
    "check_same_rows",
    "check_tolerances",
    "check_two_groups",
    "compare",
    "features_of",
    "masses_of",
    "notion_from",
]
