"""MMD^2 of rows projected to many dimensions by Nystroem features."""
# SPDX-License-Identifier: MIT

from fairpca.mmd.nystroem._nystroem import NystroemMMD as NystroemMMD
