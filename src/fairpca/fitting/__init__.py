"""One fit, checked at its end, fits to the chance level, and what a fitted projection can do."""
# SPDX-License-Identifier: MIT

from fairpca.fitting._fitter import (
    FLOOR as FLOOR,
    STRICT as STRICT,
    Fit as Fit,
    Fitter as Fitter,
    fit_to_chance as fit_to_chance,
    within_its_time as within_its_time,
)
from fairpca.fitting._projection import (
    LinearMap as LinearMap,
    LinearProjection as LinearProjection,
    checked_rows as checked_rows,
    fit_or_leave as fit_or_leave,
    unfitted_copy as unfitted_copy,
    variance_kept as variance_kept,
)
