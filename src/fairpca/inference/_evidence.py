"""What rows show of each measure, beside its chance level and what may be said of the population."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison, Measure
from fairpca.inference._compared_rows import SAMPLE_ROWS, ComparedRows
from fairpca.inference._levels import chance_levels, sampling_levels, upper_bound
from fairpca.inference._spectrum import FeatureRows, Spectrum
from fairpca.mmd import MEASURED_TO, Coordinates, Measurement, features_mmd, kernel_products
from fairpca.rows import ArrayRows, Rows, sum_of_block

PAIRED_ROWS = 20_000
"""Rows up to which all pairs are compared, in a second."""

LEAST_ROWS = 10
"""Rows on a side below which nothing is certified: deviations of so few say nothing of the population."""


def measure(
    rows: ComparedRows, bandwidth: float, accuracy: FloatArray, factors: Sequence[float] = (1.0,)
) -> Measurement:
    """Return MMD^2 of each measure: of all pairs up to 20,000 rows, beyond in linear time with bounds on the errors.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    accuracy : ndarray of shape (n_measures,)
        Errors that would be small enough.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    if rows.n_rows <= PAIRED_ROWS:
        return Measurement.exact(mmd2_of_all_pairs(rows, bandwidth, factors))
    return measure_in_blocks(ArrayRows(rows.Z, rows.attached), rows.comparison, bandwidth, accuracy, factors)


def measure_in_blocks(
    rows: Rows,
    comparison: Comparison,
    bandwidth: float,
    accuracy: FloatArray,
    factors: Sequence[float] = (1.0,),
) -> Measurement:
    """Return MMD^2 of each measure in time linear in the rows, with its errors.

    They are exceeded with a probability of about one in a thousand, see `HermiteMMD.value_and_error`.

    Parameters
    ----------
    rows : Rows
        Projected rows, with the stratum of each attached.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    accuracy : ndarray of shape (n_measures,)
        Errors that would be small enough.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    eye = np.eye(rows.n_columns)
    coordinates = Coordinates(rows.total(sum_of_block) / rows.n_rows, eye)
    return features_mmd(rows, coordinates, comparison, bandwidth, factors).measured_at(eye, accuracy)


def mmd2_of_all_pairs(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    """Return MMD^2 of each measure, by all pairs of rows.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    squares = np.einsum("ic,ic->c", rows.columns, kernel_products(rows.Z, rows.columns, bandwidth, factors))
    values = np.zeros(rows.comparison.n_measures)
    np.add.at(values, rows.comparison.owner, squares)
    return values


@dataclass(frozen=True, eq=False)
class Evidence:
    """Values of all measures, with what is needed to judge them.

    Attributes
    ----------
    values, errors : ndarray of shape (n_measures,)
        h_j, the plug-in MMD^2, and what it may be wrong by because of the way in which it was computed.
    levels : ndarray of shape (n_measures,)
        b_j, the chance level.
    sampling : ndarray of shape (n_measures,)
        What must be subtracted from h_j for an unbiased estimate.
    sampling_errors : ndarray of shape (n_measures,)
        What that may be wrong by.
    features : FeatureRows
        All rows, or a sample of many, by which deviations are known.
    """

    values: FloatArray
    errors: FloatArray
    levels: FloatArray
    sampling: FloatArray
    sampling_errors: FloatArray
    features: FeatureRows

    @classmethod
    def of(cls, rows: ComparedRows, bandwidth: float, generator: np.random.Generator) -> "Evidence":
        """Measure rows.

        Parameters
        ----------
        rows : ComparedRows
            Rows.
        bandwidth : float
            sigma.
        generator : numpy.random.Generator
            Draws samples and frequencies.
        """
        few = rows.n_rows <= PAIRED_ROWS
        seen = rows if few else rows.sample(SAMPLE_ROWS, generator)
        levels, sampling = chance_levels(seen, bandwidth), sampling_levels(seen, bandwidth)
        measured = measure(rows, bandwidth, MEASURED_TO * levels)
        return cls(
            values=measured.values,
            errors=measured.errors,
            levels=levels,
            sampling=sampling,
            sampling_errors=np.zeros(len(levels)) if few else MEASURED_TO * sampling,
            features=FeatureRows.draw(seen, bandwidth, generator),
        )

    @property
    def excesses(self) -> FloatArray:
        """h_j - b_j."""
        return self.values - self.levels

    @property
    def unbiased(self) -> FloatArray:
        """Unbiased estimates of what the population has."""
        return self.values - self.sampling

    def by_chance(self, j: int) -> Spectrum:
        """Return the spectrum under which a measure varies if attributes are permuted."""
        return self.features.by_chance(j)[0]

    def by_sampling(self, j: int, known: Measure) -> Spectrum:
        """Return the spectrum under which a measure varies from sample to sample of the population.

        Parameters
        ----------
        j : int
            Which measure.
        known : Measure
            What is known of it.
        """
        return self.features.by_sides(j) if known.kind == "groups" else self.by_chance(j)

    def upper_bound(self, j: int, known: Measure, confidence: float) -> float:
        """Return U, see `fairpca.inference.upper_bound`; nan where a side has too few rows to say anything.

        Parameters
        ----------
        j : int
            Which measure.
        known : Measure
            What is known of it, on these rows.
        confidence : float
            For example 0.95.
        """
        if min(known.sides, default=known.n_rows) < LEAST_ROWS:
            return math.nan
        error = float(self.errors[j] + self.sampling_errors[j])
        return upper_bound(float(self.unbiased[j]), self.by_sampling(j, known), confidence, error)
