"""MMD^2 of rows projected to any number of dimensions by Hermite features."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.hermite._hermite import HermiteMMD as HermiteMMD
