"""What is said of each measure: value, chance, tests and bounds."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca.comparison import Compared
from fairpca.inference import (
    EXACT_ROWS,
    PAIRED_ROWS,
    SCALES,
    ComparedRows,
    FeatureRows,
    PermutationTest,
    chance_levels,
    finite_sample_bound,
    measure,
    sampling_levels,
    sum_of_squares,
    upper_bound,
)

LEAST_ROWS = 10
"""Rows on a side below which nothing is certified: deviations of so few say nothing of the population."""

SAMPLE_ROWS = 2**14
"""Rows of the sample by which deviations of many rows are known."""

SHARE_OF_CHANCE = 0.01
"""Accuracy of values and levels, relative to what chance shows."""


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found of all measures.

    Attributes
    ----------
    records : list of dict
        One for each measure.
    p_value : float
        Family-wise, over measures and scales.
    """

    records: list[dict[str, Any]]
    p_value: float


def examine(
    rows: ComparedRows,
    compared: Compared,
    bandwidth: float,
    n_lots: int,
    confidence: float,
    generator: np.random.Generator,
) -> Findings:
    """Measure, test and bound everything that is compared.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    compared : Compared
        Who is compared with whom.
    bandwidth : float
        sigma.
    n_lots : int
        Number of lots of the tests.
    confidence : float
        Of the bounds.
    generator : numpy.random.Generator
        Draws lots, frequencies and samples.
    """
    few = rows.n_rows <= PAIRED_ROWS
    seen = rows if few else rows.sample(SAMPLE_ROWS, generator)
    levels, sampling = chance_levels(seen, bandwidth), sampling_levels(seen, bandwidth)
    measured = measure(rows, bandwidth, SHARE_OF_CHANCE * levels)
    features = FeatureRows.draw(seen, bandwidth, generator)
    test = PermutationTest.of(rows, bandwidth, n_lots, generator, SCALES)
    at_bandwidth, over_scales, adjusted = test.at_bandwidth(), test.over_scales(), test.adjusted()
    records = []
    for j, known in enumerate(compared.measures):
        h, error = float(measured.values[j]), float(measured.errors[j])
        by_chance = features.by_chance(j)[0]
        squares = sum_of_squares(seen, j)
        is_groups = known.kind == "groups"
        enough = min(known.sides, default=known.n_rows) >= LEAST_ROWS
        spectrum = features.by_sides(j) if is_groups else by_chance
        error_of_all = error + (0.0 if few else SHARE_OF_CHANCE * sampling[j])
        record = known.as_dict() | {
            "mmd2": h,
            "mmd2_error": error,
            "chance_level": float(levels[j]),
            "excess": h - float(levels[j]),
            "unbiased": h - float(sampling[j]),
            "p_value": float(at_bandwidth[j]),
            "p_value_scales": float(over_scales[j]),
            "p_value_adjusted": float(adjusted[j]),
            "p_value_moments": by_chance.p_value(h) if rows.n_rows > EXACT_ROWS else math.nan,
            "upper_bound": upper_bound(h - float(sampling[j]), spectrum, confidence, error_of_all)
            if enough
            else math.nan,
            "finite_sample_bound": finite_sample_bound(h + error, squares, confidence) if is_groups else math.nan,
        }
        records.append(record)
    return Findings(records, test.family_wise())
