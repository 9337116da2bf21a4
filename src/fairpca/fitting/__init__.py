"""One fit, checked at its end, fits along tolerances, and what a fitted projection can do."""
# SPDX-License-Identifier: MIT

from fairpca.fitting._fitter import Fit, Fitter
from fairpca.fitting._projection import LinearProjection, unfitted_copy, variance_kept
from fairpca.fitting._tracer import STRICT, Tracer, fit_to_chance
from fairpca.fitting._words import (
    summary_of,
    words_on_error,
    words_on_failure,
    words_on_null_components,
    words_on_shrinking,
    words_on_strictness,
)

__all__ = [
    "STRICT",
    "Fit",
    "Fitter",
    "LinearProjection",
    "Tracer",
    "fit_to_chance",
    "summary_of",
    "unfitted_copy",
    "variance_kept",
    "words_on_error",
    "words_on_failure",
    "words_on_null_components",
    "words_on_shrinking",
    "words_on_strictness",
]
