"""Maximum mean discrepancies of projected rows: values, gradients and Hessians at V."""
# SPDX-License-Identifier: MIT

from fairpca.compiled import engine, using_engine
from fairpca.mmd._along import RawRowsMMD
from fairpca.mmd._approximation import Approximation, Ledger, Measurement, TwoLevelMMD
from fairpca.mmd._bandwidth import Scales, bandwidth_rows, median_bandwidth, rows_by_mass
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._kernel import Islands
from fairpca.mmd.exact import ExactMMD, gaussian_products, kernel_products
from fairpca.mmd.hermite import HermiteMMD, features_mmd

__all__ = [
    "Approximation",
    "Coordinates",
    "ExactMMD",
    "HermiteMMD",
    "Islands",
    "Ledger",
    "Measurement",
    "RawRowsMMD",
    "Scales",
    "TwoLevelMMD",
    "bandwidth_rows",
    "engine",
    "features_mmd",
    "gaussian_products",
    "kernel_products",
    "median_bandwidth",
    "rows_by_mass",
    "using_engine",
]
