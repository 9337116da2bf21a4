"""Maximum mean discrepancy of projected rows: value, gradient and Hessian-vector product at V."""
# SPDX-License-Identifier: MIT

from fairpca.mmd._bandwidth import bandwidth_rows, median_bandwidth
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._exact import ExactMMD
from fairpca.mmd._fourier import FourierMMD
from fairpca.mmd._gaussian import kernel_products
from fairpca.mmd._hermite import HermiteMMD

__all__ = [
    "Coordinates",
    "ExactMMD",
    "FourierMMD",
    "HermiteMMD",
    "bandwidth_rows",
    "kernel_products",
    "median_bandwidth",
]
