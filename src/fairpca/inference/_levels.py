"""MMD^2 of random groups, what must be subtracted for an unbiased estimate, and bounds for the population."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence

import numpy as np
from scipy.stats import norm

from fairpca._utils.typing import FloatArray
from fairpca.inference._compared_rows import ComparedRows
from fairpca.inference._spectrum import Spectrum, sides_of
from fairpca.mmd import kernel_products


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
    levels = np.zeros(rows.comparison.n_measures)
    for measure in range(len(levels)):
        of_measure = _of_dependence if rows.is_dense(measure) else _of_sides
        levels[measure] = of_measure(rows, measure, bandwidth, factors)
    return levels


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
            level += float(rows.shares[side] @ weights**2) * (
                1.0 - _mean_kernel(rows.Z[side], weights, bandwidth, factors)
            )
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
