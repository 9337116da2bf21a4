"""What features of the kernel leave out of MMD^2: the heaviest rows exactly, the others from a random sample."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.residual._remainder import Remainder
from fairpca.mmd.residual._sample import ResidualSample
from fairpca.mmd.residual._sums import Features, Residuals, squares_of

__all__ = ["Features", "Remainder", "ResidualSample", "Residuals", "squares_of"]
