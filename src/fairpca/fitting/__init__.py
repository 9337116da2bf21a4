"""One fit, checked at its end, fits along tolerances, and what a fitted projection can do."""
# SPDX-License-Identifier: MIT

from fairpca.fitting._auto import fit_to_chance
from fairpca.fitting._fitter import Fit, Fitter
from fairpca.fitting._projection import LinearProjection, unfitted_copy
from fairpca.fitting._tracer import Tracer

__all__ = ["Fit", "Fitter", "LinearProjection", "Tracer", "fit_to_chance", "unfitted_copy"]
