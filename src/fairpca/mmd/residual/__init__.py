"""What features of the kernel leave out of MMD^2: the heaviest rows exactly, the others from a random sample."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.residual._remainder import Remainder as Remainder
from fairpca.mmd.residual._sample import ResidualSample as ResidualSample
from fairpca.mmd.residual._sums import (
    Features as Features,
    FeaturesAt as FeaturesAt,
    FeatureValues as FeatureValues,
    Residuals as Residuals,
    squares_of as squares_of,
)
