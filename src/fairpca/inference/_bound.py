"""How large the MMD^2 of the population can be, given that of a sample of it."""
# SPDX-License-Identifier: MIT

import math

from scipy.stats import norm

from fairpca.inference._spectrum import Spectrum


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
