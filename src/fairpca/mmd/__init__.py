"""Maximum mean discrepancies of projected rows: values, gradients and Hessians at V."""
# SPDX-License-Identifier: MIT

from fairpca.compiled import engine as engine, using_engine as using_engine
from fairpca.mmd._approximation import Approximation as Approximation
from fairpca.mmd._bandwidth import (
    bandwidth_rows as bandwidth_rows,
    median_bandwidth as median_bandwidth,
    rows_by_mass as rows_by_mass,
)
from fairpca.mmd._coordinates import Coordinates as Coordinates
from fairpca.mmd._measurement import Measurement as Measurement
from fairpca.mmd._raw_rows import RawRowsMMD as RawRowsMMD
from fairpca.mmd._scales import Scales
from fairpca.mmd._two_level import Ledger as Ledger, TwoLevelMMD as TwoLevelMMD
from fairpca.mmd.exact import (
    ExactMMD as ExactMMD,
    Islands as Islands,
    gaussian_products as gaussian_products,
    kernel_products as kernel_products,
)
from fairpca.mmd.fourier import FourierMMD as FourierMMD
from fairpca.mmd.hermite import HermiteMMD as HermiteMMD
from fairpca.mmd.nystroem import NystroemMMD as NystroemMMD

__all__ = ["Scales"]
