"""How far estimates from samples can be from the truth."""
# SPDX-License-Identifier: MIT

import math


def mmd_bound(m: int, n: int, *, confidence: float = 0.95) -> float:
    r"""Bound the error of the plug-in MMD (not squared) of samples of m and n rows.

    .. math:: |\Delta - \widehat\Delta| \le 2 \left( \frac{1}{\sqrt m} + \frac{1}{\sqrt n} \right) + \delta
              \quad \text{with probability at least} \quad 1 - 2 \exp\left( -\frac{\delta^2 m n}{2 (m + n)} \right).

    Parameters
    ----------
    m, n : int
        Rows in the two groups.
    confidence : float, default=0.95
        The probability, between 0 and 1.

    Returns
    -------
    bound : float
        The right-hand side with the delta that gives this probability.

    References
    ----------
    A. Gretton, K. Borgwardt, M. Rasch, B. Schoelkopf, A. Smola, "A kernel method for the two-sample-problem",
    NIPS 2006.

    Examples
    --------
    >>> round(mmd_bound(10_000, 10_000), 3)
    0.078
    """
    failure = _failure_probability(confidence)
    _check_sizes(m, n)
    delta = math.sqrt(2 * (m + n) / (m * n) * math.log(2 / failure))
    return 2 * (1 / math.sqrt(m) + 1 / math.sqrt(n)) + delta


def delta_a_bound(m: int, n: int, *, vc_dimension: int, confidence: float = 0.95) -> float:
    r"""Bound the error of the estimate of Delta_A from samples of m and n rows.

    .. math:: |\Delta_A - \widehat\Delta_A| \le 8 \sqrt{\frac{VC}{m + n}} + \delta
              \quad \text{with probability at least} \quad 1 - \exp\left( -\frac{(m + n) \delta^2}{2} \right).

    Parameters
    ----------
    m, n : int
        Rows in the two groups.
    vc_dimension : int
        VC dimension of the classifiers; d + 1 for linear ones on d components.
    confidence : float, default=0.95
        The probability, between 0 and 1.

    Returns
    -------
    bound : float
        The right-hand side with the delta that gives this probability.

    References
    ----------
    M. Olfat, A. Aswani, "Convex formulations for fair principal component analysis", AAAI 2019.

    Examples
    --------
    >>> round(delta_a_bound(10_000, 10_000, vc_dimension=3), 3)
    0.115
    """
    failure = _failure_probability(confidence)
    _check_sizes(m, n)
    if vc_dimension < 1:
        raise ValueError(f"vc_dimension={vc_dimension!r} must be at least 1.")
    return 8 * math.sqrt(vc_dimension / (m + n)) + math.sqrt(2 * math.log(1 / failure) / (m + n))


def _failure_probability(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence={confidence!r} must be between 0 and 1, for example 0.95.")
    return 1 - confidence


def _check_sizes(m: int, n: int) -> None:
    if m < 1 or n < 1:
        raise ValueError(f"m={m!r} and n={n!r} must be at least 1: the rows in the two groups.")
