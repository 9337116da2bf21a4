"""The groups of a plan, and what the bound of an audit will be before there are rows to audit."""
# SPDX-License-Identifier: MIT

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import chi2

from fairpca._utils.checks import check_integer
from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2, People, Terms, compare
from fairpca.inference import LEAST_ROWS, SAMPLE_ROWS, ComparedRows, FeatureRows, Spectrum, upper_bound
from fairpca.mmd import FIXED_SEED, median_bandwidth
from fairpca.rows import PILOT_ROWS

ROUNDING = 1e-9
"""Sum of two shares and products with them are off by less: no row is added for it."""

MOST_ROWS = 10**9
"""Rows beyond which no plan is sensible."""


@dataclass(frozen=True)
class Sides:
    """Two groups.

    Attributes
    ----------
    shares : tuple of float
        The share of the rows in each.
    today : tuple of int or None
        Rows in each today, where that is known.
    """

    shares: tuple[float, float]
    today: tuple[int, int] | None

    @classmethod
    def of(cls, groups: Any, rows: Any) -> "Sides":
        """Read what a user says of groups.

        Parameters
        ----------
        groups : pair of numbers
            Counts of rows, or shares whose sum is 1.
        rows : int or None
            Rows of both, where shares are given.
        """
        first, second = _pair(groups)
        if abs(first + second - 1.0) <= ROUNDING:
            if rows is None:
                return cls((first, second), None)
            check_integer("rows", rows, least=2 * LEAST_ROWS)
            m = round(int(rows) * first)
            words, today, shares = f"groups={groups!r} of rows={rows}", (m, int(rows) - m), (first, second)
        else:
            if rows is not None:
                raise ValueError(f"rows={rows!r} goes with shares; groups={groups!r} counts rows already.")
            if first != int(first) or second != int(second):
                raise ValueError(f"groups={groups!r} must be two counts of rows, or two shares whose sum is 1.")
            words, today = f"groups={groups!r}", (int(first), int(second))
            shares = (first / (first + second), second / (first + second))
        if min(today) < LEAST_ROWS:
            raise ValueError(
                f"{words} makes {today[0]} and {today[1]} rows, and with fewer than {LEAST_ROWS} in a group nothing "
                "can be certified; for shares of yet unknown numbers give two numbers whose sum is 1, such as (0.2, "
                "0.8)."
            )
        return cls(shares, today)

    @property
    def least_rows(self) -> int:
        """Rows of both at which the smaller group is just large enough."""
        return math.ceil((LEAST_ROWS - 1) / min(self.shares) + ROUNDING) + 1

    def least_showing(
        self, argument: str, target: float, shown: Callable[[int, int], float], so: str = ""
    ) -> tuple[int, int]:
        """Return the least rows in each that show a target; refused is what no sensible number of rows does.

        Parameters
        ----------
        argument : str
            What the user calls it, for messages.
        target : float
            What is to be shown.
        shown : callable
            What so many rows in each show: more rows show less.
        so : str, default=""
            What follows where none do, for messages.
        """
        sizes = range(self.least_rows, MOST_ROWS + 1)
        k = bisect_left(sizes, True, key=lambda n: shown(*self.split(n)) <= target)
        if k == len(sizes):
            least = shown(*self.split(MOST_ROWS))
            raise ValueError(f"{argument}={target!r} is less than {MOST_ROWS:.0e} rows could show, {least:.1e}{so}.")
        return self.split(sizes[k])

    def split(self, n_rows: int) -> tuple[int, int]:
        """Return the rows in each of so many, rounded up."""
        m, n = (max(LEAST_ROWS, math.ceil(n_rows * share - ROUNDING)) for share in self.shares)
        return m, n


def _pair(groups: Any) -> tuple[float, float]:
    if isinstance(groups, str) or not hasattr(groups, "__len__") or len(groups) != 2:
        raise TypeError(f"groups must be two counts or shares, such as (300, 700) or (0.3, 0.7); got {groups!r}.")
    first, second = groups
    for size in (first, second):
        if isinstance(size, bool) or not isinstance(size, Real) or not 0.0 < float(size) < math.inf:
            raise ValueError(f"groups={groups!r} must be two positive numbers: counts, or shares whose sum is 1.")
    return float(first), float(second)


@dataclass(frozen=True)
class Population:
    r"""Projected people, by the spectrum of the covariance of one of them in the space of the kernel.

    Attributes
    ----------
    spectrum : Spectrum
        Of arbitrarily many rows: eigenvalues l_i.
    growth : float
        a: of N rows the largest eigenvalue is about l_1 + a / N. It is found in the noise, too.
    n_components : int
        d.
    bandwidth : float
        sigma.
    """

    spectrum: Spectrum
    growth: float
    n_components: int
    bandwidth: float

    @classmethod
    @cache
    def normal(cls, n_components: int, bandwidth: float | None = None) -> "Population":
        """Take the standard normal distribution.

        Parameters
        ----------
        n_components : int
            d.
        bandwidth : float, default=None
            sigma; by default that of the median heuristic.
        """
        # As many rows give sums of powers to a percent or two; a plan depends on what it is asked only.
        return cls.of(np.random.default_rng(FIXED_SEED).normal(size=(PILOT_ROWS, n_components)), bandwidth)

    @classmethod
    def of(cls, Z: FloatArray, bandwidth: float | None = None, n_parts: int = 8) -> "Population":
        """Take the people whom projected rows are a sample of.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows, all groups together.
        bandwidth : float, default=None
            sigma; by default that of the median heuristic.
        n_parts : int, default=8
            Parts of the rows, by which it is seen how much larger the largest eigenvalue is for few rows.
        """
        sigma = median_bandwidth(Z) if bandwidth is None else bandwidth
        rows = np.random.default_rng(FIXED_SEED).permutation(len(Z))[:SAMPLE_ROWS]
        Z = Z[rows] - np.median(Z, axis=0)
        seen, n = _spectrum(Z, sigma), len(Z)
        parts = [_spectrum(Z[k::n_parts], sigma).largest for k in range(n_parts)]
        growth = max(0.0, (float(np.mean(parts)) - seen.largest) / ((n_parts - 1) / n))
        largest = max(seen.largest - growth / n, 0.0)
        # The trace of the square of a covariance of n rows is too large by (sum l)^2 / n on average, and so on.
        second = max(seen.second - seen.first**2 / n, largest**2)
        third = max(seen.third - 3.0 * seen.first * second / n, largest**3)
        return cls(Spectrum(seen.first, second, third, largest), growth, Z.shape[1], sigma)

    def bound(self, m: int, n: int, power: float, confidence: float) -> float:
        r"""Return the U that groups of m and n people, who do not differ, stay below with a given probability.

        All eigenvalues are (1/m + 1/n) l_i, and U grows with the unbiased estimate e, so this is U at the quantile of

        .. math:: e = \left(\frac1m + \frac1n\right) \sum_i l_i (\chi^2_i - 1),

        with the spectrum that N = (1/m + 1/n)^2 / (1/m^3 + 1/n^3) rows would show of it.

        Parameters
        ----------
        m, n : int
            Rows in the groups.
        power : float
            The probability.
        confidence : float
            Of the bound.
        """
        scale, first = 1.0 / m + 1.0 / n, self.spectrum.first
        N = scale**2 / (float(m) ** -3 + float(n) ** -3)
        shown = Spectrum(
            first=scale * first,
            second=scale**2 * (self.spectrum.second + first**2 / N),
            third=scale**3 * self.spectrum.third,
            largest=scale * (self.spectrum.largest + self.growth / N),
        )
        return upper_bound(scale * self._quantile(power), shown, confidence)

    def _quantile(self, probability: float) -> float:
        """Return the quantile of sum_i l_i (chi^2_i - 1), by three moments: right where it is large."""
        second, third = 2.0 * self.spectrum.second, 8.0 * self.spectrum.third
        if third <= 0.0:
            return 0.0
        freedom = 8.0 * second**3 / third**2
        return (float(chi2.ppf(probability, freedom)) - freedom) * math.sqrt(second / (2.0 * freedom))


def _spectrum(Z: FloatArray, bandwidth: float) -> Spectrum:
    """Return the spectrum as an audit sees it, of one row: that of halves, divided by 1/m + 1/n."""
    halves = np.arange(len(Z)) % 2
    rows = ComparedRows.of(Z, compare(People(halves), len(Z), Terms(), LARGEST_MMD2))
    found = FeatureRows.draw(rows, bandwidth, np.random.default_rng(FIXED_SEED)).by_chance(0)
    scale = 1.0 / float(np.sum(halves == 0)) + 1.0 / float(np.sum(halves == 1))
    return Spectrum(found.first / scale, found.second / scale**2, found.third / scale**3, found.largest / scale)
