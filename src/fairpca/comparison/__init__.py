"""Who must look alike: groups, strata and contrasts between them. Fairness lives here and nowhere else."""
# SPDX-License-Identifier: MIT

from fairpca.comparison._compare import compare, notion_from
from fairpca.comparison._comparison import NOWHERE, Comparison, Contrast, RowWeights, Strata, check_tolerances
from fairpca.comparison._groups import Groups, check_labels, check_two_groups
from fairpca.comparison._notions import NOTIONS, DemographicParity, Notion, against_others
from fairpca.comparison._same_rows import check_same_rows

__all__ = [
    "NOTIONS",
    "NOWHERE",
    "Comparison",
    "Contrast",
    "DemographicParity",
    "Groups",
    "Notion",
    "RowWeights",
    "Strata",
    "against_others",
    "check_labels",
    "check_same_rows",
    "check_tolerances",
    "check_two_groups",
    "compare",
    "notion_from",
]
