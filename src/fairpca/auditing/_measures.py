"""What is said of each measure: value, chance, tests and bounds."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca.auditing._settings import Settings
from fairpca.comparison import Compared
from fairpca.inference import (
    EXACT_ROWS,
    SCALES,
    ComparedRows,
    Evidence,
    PermutationTest,
    finite_sample_bound,
    sum_of_squares,
)


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
    settings: Settings,
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
    settings : Settings
        How many lots, and with which confidence.
    generator : numpy.random.Generator
        Draws lots, frequencies and samples.
    """
    confidence = settings.confidence
    settings.say("measuring")
    measured = Evidence.of(rows, bandwidth, generator)
    test = PermutationTest.of(rows, bandwidth, settings.n_permutations, generator, SCALES, settings.say)
    at_bandwidth, over_scales, adjusted = test.at_bandwidth(), test.over_scales(), test.adjusted()
    records = []
    for j, known in enumerate(compared.measures):
        h, error = float(measured.values[j]), float(measured.errors[j])
        squares = sum_of_squares(measured.features.rows, j)
        record = known.as_dict() | {
            "mmd2": h,
            "mmd2_error": error,
            "chance_level": float(measured.levels[j]),
            "excess": float(measured.excesses[j]),
            "unbiased": float(measured.unbiased[j]),
            "p_value": float(at_bandwidth[j]),
            "p_value_scales": float(over_scales[j]),
            "p_value_adjusted": float(adjusted[j]),
            "p_value_moments": measured.by_chance(j).p_value(h) if rows.n_rows > EXACT_ROWS else math.nan,
            "upper_bound": measured.upper_bound(j, known, confidence),
            "finite_sample_bound": finite_sample_bound(h + error, squares, confidence)
            if known.kind == "groups"
            else math.nan,
        }
        records.append(record)
    return Findings(records, test.family_wise())
