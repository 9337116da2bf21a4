"""Other methods of fair PCA, with the API of `fairpca.FairPCA`, to compare with."""
# SPDX-License-Identifier: MIT

from fairpca.baselines._closed_form import ClosedFormFairPCA
from fairpca.baselines._fpca import FPCA, TiedEigenvaluesWarning
from fairpca.baselines._moment_method import MomentMethod as MomentMethod
from fairpca.baselines._oblique import LEACE, SPLINCE, AugmentedPCA
from fairpca.baselines._reconstruction import ReconstructionFairPCA

__all__ = [
    "FPCA",
    "LEACE",
    "SPLINCE",
    "AugmentedPCA",
    "ClosedFormFairPCA",
    "ReconstructionFairPCA",
    "TiedEigenvaluesWarning",
]
