"""How fair a projection is, what it keeps, and what a classifier makes of it."""
# SPDX-License-Identifier: MIT

from fairpca.metrics._classifiers import (
    PROTOCOLS as PROTOCOLS,
    DownstreamReport as DownstreamReport,
    ProjectionReport as ProjectionReport,
    Split as Split,
    delta_a,
    demographic_parity_difference,
    downstream,
    equal_opportunity_difference,
    equalized_odds_difference,
    evaluate_projection as evaluate_projection,
)
from fairpca.metrics._discrepancy import delta_a_bound, mmd2, mmd2_by_measure, mmd_bound
from fairpca.metrics._variance import (
    FairVarianceScorer as FairVarianceScorer,
    communality,
    explained_variance,
    fair_variance_scorer,
)

__all__ = [
    "communality",
    "delta_a",
    "delta_a_bound",
    "demographic_parity_difference",
    "downstream",
    "equal_opportunity_difference",
    "equalized_odds_difference",
    "explained_variance",
    "fair_variance_scorer",
    "mmd2",
    "mmd2_by_measure",
    "mmd_bound",
]
