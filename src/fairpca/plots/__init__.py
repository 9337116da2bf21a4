"""Pictures, as scikit-learn Display objects. They need matplotlib: pip install 'fairpca[plot]'."""
# SPDX-License-Identifier: MIT

from fairpca.plots._biplot import BiplotDisplay
from fairpca.plots._curves import AuditDisplay, EvidenceDisplay, PathDisplay, PlanDisplay
from fairpca.plots._projection import DensityDisplay, ProjectionDisplay
from fairpca.plots._spectrum import CommunalityDisplay, SpectrumDisplay, projection_spectrum as projection_spectrum

__all__ = [
    "AuditDisplay",
    "BiplotDisplay",
    "CommunalityDisplay",
    "DensityDisplay",
    "EvidenceDisplay",
    "PathDisplay",
    "PlanDisplay",
    "ProjectionDisplay",
    "SpectrumDisplay",
]
