"""Maximum mean discrepancies of projected rows: values, gradients and Hessians at V."""
# SPDX-License-Identifier: MIT

from fairpca.compiled import engine, using_engine
from fairpca.mmd._approximation import Approximation
from fairpca.mmd._bandwidth import bandwidth_rows, median_bandwidth, rows_by_mass
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._measurement import Measurement
from fairpca.mmd._raw_rows import RawRowsMMD
from fairpca.mmd._scales import Scales
from fairpca.mmd._two_level import Ledger, TwoLevelMMD
from fairpca.mmd.exact import ExactMMD, Islands, gaussian_products, kernel_products
from fairpca.mmd.fourier import FourierMMD
from fairpca.mmd.hermite import HermiteMMD
from fairpca.mmd.nystroem import NystroemMMD

__all__ = [
    "Approximation",
    "Coordinates",
    "ExactMMD",
    "FourierMMD",
    "HermiteMMD",
    "Islands",
    "Ledger",
    "Measurement",
    "NystroemMMD",
    "RawRowsMMD",
    "Scales",
    "TwoLevelMMD",
    "bandwidth_rows",
    "engine",
    "gaussian_products",
    "kernel_products",
    "median_bandwidth",
    "rows_by_mass",
    "using_engine",
]
