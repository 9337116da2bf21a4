"""How likely a sum of squares of normal variables is to be large."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.stats import chi2

from fairpca._utils.typing import FloatArray

SURE = 1e-6
"""Probability below which moments alone say more than an integral of this accuracy."""

NEGLIGIBLE = 1e-8
"""Size at which the integrand is cut off."""

FARTHEST = 2.0**14
"""Largest u, in units of the sum of all l_i, up to which the integral is taken."""


def tail_probability(value: float, leading: Sequence[float], first: float, second: float, third: float) -> float:
    r"""Return P(Q > value) for Q = \sum_i l_i X_i^2 with independent standard normal X_i.

    The leading l_i count one by one. The others are taken for c + a \chi^2_\nu with their three moments. By Imhof's
    inversion of the characteristic function, with h_j degrees of freedom of each,

    .. math:: P(Q > x) = \frac12 + \frac1\pi \int_0^\infty \frac{\sin \theta(u)}{u \rho(u)} du, \quad
              \theta = \tfrac12 \sum_j h_j \arctan(l_j u) - \tfrac12 x u, \quad
              \rho = \prod_j (1 + l_j^2 u^2)^{h_j / 4}.

    Three moments of everything would do in the tail, but not in the middle where few of the l_i are large.

    Parameters
    ----------
    value : float
        x.
    leading : sequence of float
        The largest l_i.
    first, second, third : float
        Sums of l_i, l_i^2 and l_i^3, of all of them.
    """
    if third <= 0.0:
        return 1.0
    rough = _by_moments(value, first, second, third)
    if not len(leading) or rough < SURE:
        return rough
    sizes = np.asarray(leading) / first
    rest = [max(0.0, total / first**k - float(np.sum(sizes**k))) for k, total in enumerate((first, second, third), 1)]
    shift, scale, freedom = _matched(*rest)
    found = _inverted(value / first - shift, np.append(sizes, scale), np.append(np.ones(len(sizes)), freedom))
    return rough if found is None or found < SURE else min(1.0, found)


def _by_moments(value: float, first: float, second: float, third: float) -> float:
    shift, scale, freedom = _matched(first, second, third)
    return float(chi2.sf((value - shift) / scale, freedom))


def _matched(first: float, second: float, third: float) -> tuple[float, float, float]:
    """Return c, a and nu of c + a chi^2_nu with sums of l, l^2 and l^3 as given; where there is no more, a constant."""
    if third <= 0.0 or second <= 0.0:
        return first, 0.0, 0.0
    scale, freedom = third / second, second**3 / third**2
    return first - scale * freedom, scale, freedom


def _inverted(x: float, sizes: FloatArray, freedoms: FloatArray) -> float | None:
    """Return Imhof's integral; None where so few variables count that it hardly converges."""

    def log_rho(u: float) -> float:
        return float(np.sum(freedoms * np.log1p((sizes * u) ** 2))) / 4.0

    def integrand(u: float) -> float:
        if u == 0.0:
            return 0.5 * float(freedoms @ sizes - x)
        theta = 0.5 * (float(freedoms @ np.arctan(sizes * u)) - x * u)
        return math.sin(theta) * math.exp(-log_rho(u)) / u

    last = 1.0
    while math.exp(-log_rho(last)) / last > NEGLIGIBLE:
        last *= 2.0
        if last > FARTHEST:
            return None
    edges = [0.0, *np.geomspace(1.0, max(2.0, last), 2 + int(math.log2(last))).tolist()]
    parts = [quad(integrand, a, b, limit=200, epsabs=1e-9)[0] for a, b in pairwise(edges)]
    return 0.5 + math.fsum(parts) / math.pi
