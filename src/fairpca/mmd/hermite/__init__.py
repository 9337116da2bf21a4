"""MMD^2 of rows projected to any number of dimensions, in time linear in the rows, by Hermite features."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.hermite._hermite import SEARCHED as SEARCHED, HermiteMMD as HermiteMMD, features_mmd as features_mmd
