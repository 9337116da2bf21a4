"""What MMD^2 shows when groups are drawn by lot, and what must be subtracted for an unbiased estimate."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.inference._compared_rows import ComparedRows
from fairpca.inference._spectrum import sides_of
from fairpca.mmd import kernel_products


def chance_levels(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    r"""Return b_j, the mean of each measure over all ways to deal out attributes by lot.

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


def _mean_kernel(Z: FloatArray, masses: FloatArray, bandwidth: float, factors: Sequence[float] = (1.0,)) -> float:
    """Return the mean kernel value over pairs of different rows."""
    pairs = float(masses @ kernel_products(Z, masses[:, None], bandwidth, factors)[:, 0])
    own = float(masses @ masses)
    left = float(masses.sum()) ** 2 - own
    return (pairs - own) / left if left > 0 else 1.0


def sampling_levels(rows: ComparedRows, bandwidth: float) -> FloatArray:
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
    """
    levels = np.zeros(rows.comparison.n_measures)
    for measure in range(len(levels)):
        of_measure = _of_dependence if rows.is_dense(measure) else _of_sides
        levels[measure] = of_measure(rows, measure, bandwidth)
    return levels


def _of_sides(rows: ComparedRows, measure: int, bandwidth: float) -> float:
    level = 0.0
    for column in rows.columns_of(measure).T:
        for side in sides_of(column):
            weights = np.abs(column[side])
            level += float(rows.shares[side] @ weights**2) * (1.0 - _mean_kernel(rows.Z[side], weights, bandwidth))
    return level


def _of_dependence(rows: ComparedRows, measure: int, bandwidth: float) -> float:
    inside = rows.taking_part(measure)
    columns, shares = rows.columns_of(measure)[inside], rows.masses[inside] / rows.masses[inside].sum()
    products = kernel_products(rows.Z[inside], np.column_stack([shares, columns]), bandwidth)
    distances = 1.0 - 2.0 * products[:, 0] + float(shares @ products[:, 0])
    counts = rows.shares[inside]
    own = float((counts * np.sum(columns**2, axis=1)) @ distances)
    return own - float(np.sum(columns * products[:, 1:])) * float(counts @ shares**2)
