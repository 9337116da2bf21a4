"""Pictures, as scikit-learn Display objects. They need matplotlib: pip install 'fairpca[plot]'."""
# SPDX-License-Identifier: MIT

from fairpca.plots._audit import AuditDisplay
from fairpca.plots._biplot import BiplotDisplay
from fairpca.plots._communality import CommunalityDisplay
from fairpca.plots._density import DensityDisplay
from fairpca.plots._path import PathDisplay
from fairpca.plots._plan import PlanDisplay
from fairpca.plots._projection import ProjectionDisplay
from fairpca.plots._spectrum import SpectrumDisplay, projection_spectrum

__all__ = [
    "AuditDisplay",
    "BiplotDisplay",
    "CommunalityDisplay",
    "DensityDisplay",
    "PathDisplay",
    "PlanDisplay",
    "ProjectionDisplay",
    "SpectrumDisplay",
    "projection_spectrum",
]
