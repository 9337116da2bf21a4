"""Maximum mean discrepancies of projected rows: values, gradients and Hessians at V."""
# SPDX-License-Identifier: MIT

from fairpca.compiled import engine as engine, using_engine as using_engine
from fairpca.mmd._approximation import (
    MEASURED_TO as MEASURED_TO,
    Approximation as Approximation,
    FeatureHessianMMD as FeatureHessianMMD,
    Ledger as Ledger,
    Measurement as Measurement,
    TwoLevelMMD as TwoLevelMMD,
)
from fairpca.mmd._bandwidth import (
    FIXED_SEED as FIXED_SEED,
    FOUR_SCALES as FOUR_SCALES,
    Scales,
    bandwidth_rows as bandwidth_rows,
    factor_to_judge as factor_to_judge,
    median_bandwidth as median_bandwidth,
    rows_by_mass as rows_by_mass,
)
from fairpca.mmd._coordinates import MANY_COLUMNS as MANY_COLUMNS, Coordinates as Coordinates
from fairpca.mmd._kernel import Clusters as Clusters
from fairpca.mmd.exact import (
    EXACT_ROWS as EXACT_ROWS,
    ExactMMD as ExactMMD,
    RawRowsMMD as RawRowsMMD,
    gaussian_products as gaussian_products,
    kernel_products as kernel_products,
)
from fairpca.mmd.hermite import SEARCHED as SEARCHED, HermiteMMD as HermiteMMD, features_mmd as features_mmd

__all__ = ["Scales"]
