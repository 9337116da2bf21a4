"""The kernel's bandwidth: what users say of it, and the median heuristic."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from fairpca._utils.checks import check_bandwidth
from fairpca._utils.typing import FloatArray, IntArray
from fairpca.rows import PILOT_ROWS

FOUR_SCALES = (2.0, 1.0, 0.5, 0.25)
"""Factors of bandwidth="scales", and of permutation tests: one median bandwidth is blind to fine differences."""

WIDEST_SPAN = 1e4
"""Largest ratio of two factors: beyond, what the narrower shows is noise of single rows, or the wider shows nothing."""

FIXED_SEED = 20220222
"""Seed of what must be the same for the same rows, whatever the random state of a fit is."""


@dataclass(frozen=True)
class Scales:
    r"""Several bandwidths at once: the kernel is the mean of Gaussian kernels.

    .. math:: k(z, z') = \frac{1}{m} \sum_{l=1}^{m} \exp\left(-\frac{|z - z'|^2}{2 (f_l \sigma)^2}\right)

    One bandwidth does not see differences much finer than itself: groups that meet a tolerance at sigma may still be
    told apart at sigma / 4. The MMD^2 of this kernel is the mean of those of its parts, so that a tolerance tau holds
    every one of them below m tau. It is a mean and not a sum: k(z, z) = 1 as for one bandwidth, MMD^2 is at most 2, and
    tolerances keep their size.

    Parameters
    ----------
    factors : sequence of float, default=(2, 1, 0.5, 0.25)
        f_l, greater than 0, the largest at most 10,000 times the smallest.
    bandwidth : "median" or float, default="median"
        sigma, the bandwidth of the factor 1, whether that is among the factors or not.

    Examples
    --------
    >>> Scales()
    Scales(factors=(2.0, 1.0, 0.5, 0.25), bandwidth='median')
    >>> Scales([1, 0.5], bandwidth=3.0).factors
    (1.0, 0.5)
    """

    factors: tuple[float, ...] = FOUR_SCALES
    bandwidth: str | float = "median"

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", _check_factors(self.factors))
        object.__setattr__(self, "bandwidth", check_bandwidth(self.bandwidth))

    @classmethod
    def of(cls, bandwidth: Any) -> "Scales":
        """Return what the argument `bandwidth` of estimators and metrics means.

        Parameters
        ----------
        bandwidth : "median", "scales", float or Scales
            One bandwidth, which is a single scale of factor 1, or several.
        """
        if isinstance(bandwidth, Scales):
            return bandwidth
        checked = check_bandwidth(bandwidth, ["median", "scales"], "a positive number or a fairpca.mmd.Scales")
        return cls() if checked == "scales" else cls((1.0,), checked)

    @property
    def is_single(self) -> bool:
        """Whether there is one scale."""
        return len(self.factors) == 1


def factor_to_judge(factors: tuple[float, ...]) -> float:
    """Return the one of several scales by which projections are judged: that of the factor next to 1.

    Parameters
    ----------
    factors : tuple of float
        Of the scales.
    """
    return min(factors, key=lambda factor: abs(math.log(factor)))


def _check_factors(factors: Any) -> tuple[float, ...]:
    """Return the factors as floats."""
    if isinstance(factors, str | Real) or not hasattr(factors, "__iter__"):
        raise TypeError(f"factors must be a sequence of numbers such as (2, 1, 0.5, 0.25); got {factors!r}.")
    values = tuple(factors)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TypeError(f"factors must be a sequence of numbers such as (2, 1, 0.5, 0.25); got {value!r} in it.")
    if not values:
        raise ValueError("factors is empty; give one number greater than 0 for each scale, such as (2, 1, 0.5, 0.25).")
    numbers = tuple(float(value) for value in values)
    if not all(0 < number < math.inf for number in numbers):
        raise ValueError(f"factors={numbers!r} must be finite and greater than 0; they multiply the bandwidth.")
    if max(numbers) > WIDEST_SPAN * min(numbers):
        raise ValueError(
            f"factors={numbers!r} must be within {WIDEST_SPAN:,.0f} times of each other; scales further apart have "
            "nothing in common."
        )
    return numbers


def median_bandwidth(Z: FloatArray, masses: FloatArray | None = None) -> float:
    """Return sigma = sqrt(median of |z_i - z_j|^2 over pairs / 2).

    Above `PILOT_ROWS` rows the median is one over two million pairs, in which each of those of `bandwidth_rows` occurs
    equally often. The same rows always give the same sigma.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows after plain PCA; of a longer table those of `bandwidth_rows`.
    masses : ndarray of shape (n,), default=None
        How much each row counts, see `rows_by_mass`.

    Returns
    -------
    bandwidth : float
        sigma. When more than half of the pairs coincide, the median of the positive distances is taken, and 1
        when all rows are equal.
    """
    if masses is not None:
        Z = Z[rows_by_mass(masses)]
    chosen = bandwidth_rows(len(Z))
    Z = Z if len(chosen) == len(Z) else Z[chosen]
    unit = _unit(Z)
    # Squares in this unit neither overflow nor vanish, but for rows so far that infinity will do.
    with np.errstate(over="ignore", invalid="ignore"):
        squares = _squared_distances(Z / unit)
    median = _median(squares) or _median(squares[squares > 0])
    return 1.0 if median is None else unit * math.sqrt(median / 2.0)


def bandwidth_rows(n_rows: int, most: int = 2**17) -> IntArray:
    """Return the numbers, increasing, of the rows that are enough for the bandwidth of a table.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    most : int, default=2**17
        Rows at most. Each is in 16 pairs then; of fewer rows pairs would say less of the table.
    """
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(FIXED_SEED).choice(n_rows, most, replace=False, shuffle=False))


def rows_by_mass(masses: FloatArray) -> IntArray:
    """Return the numbers of rows that are enough for the bandwidth of a table, each as often as its mass asks for.

    Rows of masses 2 and 3 count as two and three equal rows; masses that are not whole numbers are met in proportion.

    Parameters
    ----------
    masses : ndarray of shape (n,)
        Masses >= 0, some above 0.
    """
    edges = np.cumsum(masses)
    if np.all(masses == np.rint(masses)):
        return np.searchsorted(edges, bandwidth_rows(int(edges[-1])), side="right")
    count = max(PILOT_ROWS, len(masses))
    return np.searchsorted(edges, (bandwidth_rows(count) + 0.5) * (edges[-1] / count))


def _squared_distances(Z: FloatArray, n_pairs: int = 2**21) -> FloatArray:
    """Return |z_i - z_j|^2 of all pairs, or of pairs that are neighbours of some degree in a random ring.

    The median of two million pairs is known to some hundredths of a percent.
    """
    n = len(Z)
    if n <= PILOT_ROWS:
        return pdist(Z, "sqeuclidean")
    # A random ring: neighbours in a sorted table are nearer than others.
    ring = np.ascontiguousarray(Z[np.random.default_rng(FIXED_SEED).permutation(n)].T)
    squares = np.zeros((min(n_pairs // n, (n - 1) // 2), n))
    for coordinate in ring:
        twice = np.concatenate([coordinate, coordinate])
        for degree, row in enumerate(squares, start=1):
            differences = coordinate - twice[degree : degree + n]
            differences *= differences
            row += differences
    return squares.ravel()


def _median(numbers: FloatArray) -> float | None:
    """Return the median, None of no numbers; their order is lost."""
    return float(np.median(numbers, overwrite_input=True)) if numbers.size else None


def _unit(Z: FloatArray) -> float:
    """Return a power of two of the size of the differences between most rows."""
    # Medians to within a place: a power of two is all that is wanted of them.
    sizes = np.abs(Z - np.partition(Z, len(Z) // 2, axis=0)[len(Z) // 2])
    size = float(np.partition(sizes, sizes.size // 2, axis=None)[sizes.size // 2]) or float(sizes.max())
    return math.ldexp(1.0, math.frexp(size)[1] - 1) if 0.0 < size < math.inf else 1.0
