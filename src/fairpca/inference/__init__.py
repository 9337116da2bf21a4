"""Inference: permutation tests, chance levels, and bounds for the population behind the rows."""
# SPDX-License-Identifier: MIT

from fairpca.inference._compared_rows import (
    SAMPLE_ROWS as SAMPLE_ROWS,
    ComparedRows as ComparedRows,
    exchange_classes as exchange_classes,
    with_masses_of_all as with_masses_of_all,
)
from fairpca.inference._evidence import (
    LEAST_ROWS as LEAST_ROWS,
    PAIRED_ROWS as PAIRED_ROWS,
    Evidence as Evidence,
    chance_deviations as chance_deviations,
    chance_levels as chance_levels,
    finite_sample_bound as finite_sample_bound,
    measure as measure,
    measure_in_blocks as measure_in_blocks,
    mmd2_of_all_pairs as mmd2_of_all_pairs,
    sampling_levels as sampling_levels,
    upper_bound as upper_bound,
)
from fairpca.inference._permutation import PermutationTest as PermutationTest
from fairpca.inference._spectrum import FeatureRows as FeatureRows, Spectrum as Spectrum
from fairpca.inference._two_sample import TwoSampleResult as TwoSampleResult, two_sample as two_sample
