"""What chance shows: tests by lot, levels, and bounds for the population behind the rows."""
# SPDX-License-Identifier: MIT

from fairpca.inference._compared_rows import ComparedRows, exchange_classes, with_masses_of_all
from fairpca.inference._evidence import (
    LEAST_ROWS,
    PAIRED_ROWS,
    SAMPLE_ROWS,
    SHARE_OF_CHANCE,
    Evidence,
    measure,
    measure_in_blocks,
    mmd2_of_all_pairs,
)
from fairpca.inference._levels import (
    chance_deviations,
    chance_levels,
    finite_sample_bound,
    sampling_levels,
    sum_of_squares,
    upper_bound,
)
from fairpca.inference._permutation import EXACT_ROWS, SCALES, PermutationTest
from fairpca.inference._spectrum import FeatureRows, Spectrum

__all__ = [
    "EXACT_ROWS",
    "LEAST_ROWS",
    "PAIRED_ROWS",
    "SAMPLE_ROWS",
    "SCALES",
    "SHARE_OF_CHANCE",
    "ComparedRows",
    "Evidence",
    "FeatureRows",
    "PermutationTest",
    "Spectrum",
    "chance_deviations",
    "chance_levels",
    "exchange_classes",
    "finite_sample_bound",
    "measure",
    "measure_in_blocks",
    "mmd2_of_all_pairs",
    "sampling_levels",
    "sum_of_squares",
    "upper_bound",
    "with_masses_of_all",
]
