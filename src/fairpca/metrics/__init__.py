"""How fair a projection is, what it keeps, and what a classifier makes of it."""
# SPDX-License-Identifier: MIT

from fairpca.metrics._adversary import delta_a
from fairpca.metrics._bounds import delta_a_bound, mmd_bound
from fairpca.metrics._discrepancy import mmd2, mmd2_by_measure
from fairpca.metrics._downstream import PROTOCOLS, DownstreamReport, downstream
from fairpca.metrics._parity import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)
from fairpca.metrics._scorer import FairVarianceScorer, fair_variance_scorer
from fairpca.metrics._variance import communality, explained_variance

__all__ = [
    "PROTOCOLS",
    "DownstreamReport",
    "FairVarianceScorer",
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
