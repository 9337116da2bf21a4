"""One fit, checked at its end, fits along tolerances, and what a fitted projection can do."""
# SPDX-License-Identifier: MIT

from fairpca.fitting._fitter import Fit as Fit, Fitter as Fitter
from fairpca.fitting._projection import (
    LinearMap as LinearMap,
    LinearProjection as LinearProjection,
    checked_rows as checked_rows,
    unfitted_copy as unfitted_copy,
    variance_kept as variance_kept,
)
from fairpca.fitting._tracer import STRICT as STRICT, Tracer as Tracer, fit_to_chance as fit_to_chance
from fairpca.fitting._words import (
    summary_of as summary_of,
    words_on_error as words_on_error,
    words_on_failure as words_on_failure,
    words_on_null_components as words_on_null_components,
    words_on_shrinking as words_on_shrinking,
    words_on_strictness as words_on_strictness,
)
