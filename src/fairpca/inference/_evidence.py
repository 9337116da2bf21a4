"""MMD^2 of rows: values, chance levels, unbiased estimates, and bounds for the population."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2, Comparison, Measure
from fairpca.inference._compared_rows import SAMPLE_ROWS, ComparedRows
from fairpca.inference._spectrum import FeatureRows, Spectrum, sides_of
from fairpca.mmd import MEASURED_TO, Coordinates, Measurement, features_mmd, kernel_products
from fairpca.rows import ArrayRows, Rows, sum_of_block


def chance_levels(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    r"""Return b_j, the mean of each measure over all permutations of the attributes.

    .. math:: b = \sum_i |w_i|^2 \, (1 - \bar k), \qquad \bar k \text{ the mean of } k(z_i, z_j) \text{ over } i \ne j,

    for two groups (1/m + 1/n)(1 - k): exact. With masses \bar k is a mean by masses.

    Parameters
    ----------
    rows : ComparedRows
        Rows; pairs of all of them are looked at.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    levels = np.zeros(rows.comparison.n_measures)
    known: dict[bytes, float] = {}
    for measure in range(len(levels)):
        inside = rows.taking_part(measure)
        key = inside.tobytes()
        if key not in known:
            known[key] = _mean_kernel(rows.Z[inside], rows.masses[inside], bandwidth, factors)
        levels[measure] = sum_of_squares(rows, measure) * (1.0 - known[key])
    return levels


def sum_of_squares(rows: ComparedRows, measure: int) -> float:
    """Return sum_i |w_i|^2 of a measure.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    measure : int
        Which.
    """
    return float(rows.shares @ np.sum(rows.columns_of(measure) ** 2, axis=1))


def _mean_kernel(Z: FloatArray, masses: FloatArray, bandwidth: float, factors: Sequence[float]) -> float:
    """Return the mean kernel value over pairs of different rows."""
    pairs = float(masses @ kernel_products(Z, masses[:, None], bandwidth, factors)[:, 0])
    own = float(masses @ masses)
    left = float(masses.sum()) ** 2 - own
    return (pairs - own) / left if left > 0 else 1.0


def sampling_levels(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    r"""Return how much each measure exceeds that of the population, on average over samples.

    For two groups of m and n rows \frac1m (1 - \bar k_P) + \frac1n (1 - \bar k_Q), with the mean kernel value within
    each: h less it is unbiased, whatever the groups are. For a continuous attribute
    \sum_i |w_i|^2 |\phi_i - \bar\phi|^2 - h / n.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    measures, continuous = range(rows.comparison.n_measures), rows.comparison.dense_owner
    return np.array([(_of_dependence if j in continuous else _of_sides)(rows, j, bandwidth, factors) for j in measures])


def chance_deviations(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    r"""Return s_j, the deviation of each measure over permutations of the attributes, for many rows.

    .. math:: s = \sqrt{2 \operatorname{tr}((W'W)^2)} \; \frac{\|HKH\|_F}{N},

    for two groups (1/m + 1/n) \sqrt2 \|HKH\|_F / N with H = I - 11'/N; with masses H centres by them, and rows count by
    the squares of theirs.

    Parameters
    ----------
    rows : ComparedRows
        Rows; pairs of all of them are looked at.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    deviations = np.zeros(rows.comparison.n_measures)
    for measure in range(len(deviations)):
        inside, columns = rows.taking_part(measure), rows.columns_of(measure)
        products = columns.T @ (columns * rows.shares[:, None])
        size = _mean_square(rows.Z[inside], rows.masses[inside], bandwidth, factors)
        deviations[measure] = np.linalg.norm(products) * np.sqrt(2.0 * size)
    return deviations


def _mean_square(Z: FloatArray, masses: FloatArray, bandwidth: float, factors: Sequence[float]) -> float:
    """Return the mean of the squared entries of the centred kernel matrix."""
    centre, share = masses / masses.sum(), masses**2 / np.sum(masses**2)
    means, products = kernel_products(Z, np.column_stack([centre, share]), bandwidth, factors).T
    # The product of two Gaussian kernels is one of another bandwidth; a squared mean is the mean of all products.
    pairs = [(0.5 / f**2 + 0.5 / g**2) ** -0.5 for f in factors for g in factors]
    squares = float(share @ kernel_products(Z, share[:, None], bandwidth / np.sqrt(2.0), pairs)[:, 0])
    total, mean = float(centre @ means), float(share @ means)
    cross = float(share @ (means * products))
    square = float(share @ means**2)
    centred = squares + 2.0 * square + total**2 - 4.0 * cross
    return max(0.0, centred + 2.0 * total * float(share @ products) + 2.0 * mean**2 - 4.0 * total * mean)


def _of_sides(rows: ComparedRows, measure: int, bandwidth: float, factors: Sequence[float]) -> float:
    level = 0.0
    for column in rows.columns_of(measure).T:
        for side in sides_of(column):
            weights = np.abs(column[side])
            distance = 1.0 - _mean_kernel(rows.Z[side], weights, bandwidth, factors)
            level += float(rows.shares[side] @ weights**2) * distance
    return level


def _of_dependence(rows: ComparedRows, measure: int, bandwidth: float, factors: Sequence[float]) -> float:
    inside = rows.taking_part(measure)
    columns, shares = rows.columns_of(measure)[inside], rows.masses[inside] / rows.masses[inside].sum()
    products = kernel_products(rows.Z[inside], np.column_stack([shares, columns]), bandwidth, factors)
    distances = 1.0 - 2.0 * products[:, 0] + float(shares @ products[:, 0])
    counts = rows.shares[inside]
    own = float((counts * np.sum(columns**2, axis=1)) @ distances)
    return own - float(np.sum(columns * products[:, 1:])) * float(counts @ shares**2)


def upper_bound(excess: float, spectrum: Spectrum, confidence: float, error: float = 0.0) -> float:
    r"""Return U: the MMD^2 of the population is at most U with the given confidence, for many rows.

    With an unbiased estimate e, whose variance is at most s^2 + 4 l \theta where the population has \theta, U is the
    \theta for which e = \theta - z \sqrt{s^2 + 4 l \theta}:

    .. math:: U = e + 2 z^2 l + z \sqrt{s^2 + 4 l e + 4 z^2 l^2}.

    Parameters
    ----------
    excess : float
        e.
    spectrum : Spectrum
        Of the covariance of what is compared, each side with its own: s^2 and l.
    confidence : float
        For example 0.95.
    error : float, default=0.0
        What e may be wrong by, because of the way in which it was computed.
    """
    z = float(norm.ppf(confidence))
    e, largest = excess + error, spectrum.largest
    inside = spectrum.deviation**2 + 4.0 * largest * e + 4.0 * z * z * largest * largest
    return max(e + 2.0 * z * z * largest + z * math.sqrt(max(inside, 0.0)), 0.0)


def finite_sample_bound(mmd2: float, squares: float, confidence: float) -> float:
    r"""Return a bound on the MMD^2 of the population that holds for any number of rows and any distribution.

    To exchange row i moves the discrepancy, a norm, by \sqrt2 |w_i| at most, and on average the discrepancy of samples
    is no less than that of the population. By McDiarmid's inequality

    .. math:: \mathrm{MMD} \le \widehat{\mathrm{MMD}} + \sqrt{\sum_i |w_i|^2 \ln(1 / \alpha)}

    with probability 1 - \alpha, for groups of m and n rows with 1/m + 1/n under the root.

    Parameters
    ----------
    mmd2 : float
        The plug-in value.
    squares : float
        sum_i |w_i|^2.
    confidence : float
        1 - alpha.
    """
    return (math.sqrt(max(mmd2, 0.0)) + math.sqrt(squares * -math.log(1.0 - confidence))) ** 2


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
        if rows.n_rows > PAIRED_ROWS:
            seen = rows.sample(SAMPLE_ROWS, generator)
            return cls.of_many(ArrayRows(rows.Z, rows.attached), rows.comparison, seen, bandwidth, generator)
        levels, sampling = chance_levels(rows, bandwidth), sampling_levels(rows, bandwidth)
        values, nothing = mmd2_of_all_pairs(rows, bandwidth), np.zeros(len(levels))
        return cls(values, nothing, levels, sampling, nothing, FeatureRows.draw(rows, bandwidth, generator))

    @classmethod
    def of_many(
        cls, rows: Rows, comparison: Comparison, seen: ComparedRows, bandwidth: float, generator: np.random.Generator
    ) -> "Evidence":
        """Measure many rows, in time linear in them.

        Parameters
        ----------
        rows : Rows
            Projected rows, with the stratum of each attached.
        comparison : Comparison
            What is compared.
        seen : ComparedRows
            A sample that stands for them.
        bandwidth, generator
            As above.
        """
        levels, sampling = chance_levels(seen, bandwidth), sampling_levels(seen, bandwidth)
        measured = measure_in_blocks(rows, comparison, bandwidth, MEASURED_TO * levels)
        features = FeatureRows.draw(seen, bandwidth, generator)
        return cls(measured.values, measured.errors, levels, sampling, MEASURED_TO * sampling, features)

    @property
    def excesses(self) -> FloatArray:
        """h_j - b_j."""
        return self.values - self.levels

    @property
    def unbiased(self) -> FloatArray:
        """Unbiased estimates of what the population has."""
        return self.values - self.sampling

    def by_sampling(self, j: int, known: Measure) -> Spectrum:
        """Return the spectrum under which a measure varies from sample to sample of the population.

        Parameters
        ----------
        j : int
            Which measure.
        known : Measure
            What is known of it.
        """
        return self.features.by_sides(j) if known.kind == "groups" else self.features.by_chance(j)

    def finite_sample_bound(self, j: int, confidence: float) -> float:
        """Return the bound of `fairpca.inference.finite_sample_bound`."""
        squares = sum_of_squares(self.features.rows, j)
        return finite_sample_bound(float(self.values[j] + self.errors[j]), squares, confidence)

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
        sure = min(confidence + known.correction.doubt, 1.0)
        return min(LARGEST_MMD2, upper_bound(float(self.unbiased[j]), self.by_sampling(j, known), sure, error))
