"""Maximum mean discrepancy of projected rows: value, gradient and Hessian-vector product at V."""
# SPDX-License-Identifier: MIT

from fairpca.mmd._bandwidth import median_bandwidth
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._exact import ExactMMD
from fairpca.mmd._fourier import FourierMMD
from fairpca.mmd._gaussian import kernel_products
from fairpca.mmd._hermite import HermiteMMD
from fairpca.mmd._hermite_choice import FeatureChoice, features_for

__all__ = [
    "Coordinates",
    "ExactMMD",
    "FeatureChoice",
    "FourierMMD",
    "HermiteMMD",
    "features_for",
    "kernel_products",
    "median_bandwidth",
]
