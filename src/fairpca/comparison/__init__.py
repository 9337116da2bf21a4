"""Who must look alike: people, strata and contrasts between them. Fairness lives here and nowhere else."""
# SPDX-License-Identifier: MIT

from fairpca.comparison._compare import (
    Compared as Compared,
    KnownAttribute as KnownAttribute,
    Measure as Measure,
    compare as compare,
)
from fairpca.comparison._comparison import (
    LARGEST_MMD2 as LARGEST_MMD2,
    LEFT_OUT as LEFT_OUT,
    MASS as MASS,
    Comparison as Comparison,
    Contrast as Contrast,
    RowWeights as RowWeights,
    Strata as Strata,
    check_auto as check_auto,
    check_tolerances as check_tolerances,
    masses_of as masses_of,
)
from fairpca.comparison._errors import (
    DOUBT as DOUBT,
    Correction as Correction,
    estimate_error_rates,
    plain_errors as plain_errors,
)
from fairpca.comparison._people import (
    EncodedColumn as EncodedColumn,
    Encoding as Encoding,
    People as People,
    check_same_rows as check_same_rows,
    check_two_groups as check_two_groups,
    encoded as encoded,
)
from fairpca.comparison._sides import NamedSides as NamedSides
from fairpca.comparison._terms import (
    NOTIONS as NOTIONS,
    Among,
    DemographicParity,
    EqualizedOdds,
    EqualOpportunity,
    Notion,
    Terms as Terms,
    against_others,
)

__all__ = [
    "Among",
    "DemographicParity",
    "EqualOpportunity",
    "EqualizedOdds",
    "Notion",
    "against_others",
    "estimate_error_rates",
]
