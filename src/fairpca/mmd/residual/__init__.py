"""What features of the kernel leave out of MMD^2: the heaviest rows exactly, the others from a random sample."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.residual._remainder import Remainder
from fairpca.mmd.residual._sample import ResidualSample
from fairpca.mmd.residual._sums import Features, FeaturesAt, FeatureValues, Residuals, squares_of

__all__ = ["FeatureValues", "Features", "FeaturesAt", "Remainder", "ResidualSample", "Residuals", "squares_of"]
