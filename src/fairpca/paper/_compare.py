"""Own numbers beside published ones, as text."""
# SPDX-License-Identifier: MIT

from fairpca.paper._published import Published
from fairpca.paper._results import Spread

MISSING = "-"

MARK = " *"
"""Stands behind a difference that is larger than two published standard deviations."""

MARK_MEANING = (
    "± is the standard deviation over the splits. Differences are own minus published; * marks those above two "
    "published standard deviations. The splits are not those of the paper, so differences of the order of one "
    "deviation are expected."
)


def with_deviation(mean: float, deviation: float | None, digits: int) -> str:
    """Return a mean with its standard deviation.

    Examples
    --------
    >>> with_deviation(1.234, 0.5, 1)
    '1.2 ± 0.5'
    """
    return f"{mean:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")


def difference(own: float, published: Published, digits: int) -> str:
    """Return own minus published, marked if it is large.

    Examples
    --------
    >>> difference(39.0, Published(39.28, 5.17), 2)
    '-0.28'
    >>> difference(10.0, Published(39.28, 5.17), 2)
    '-29.28 *'
    """
    # Adding zero turns -0.0 into 0.0.
    gap = round(own - published.mean, digits) + 0.0
    # A printed deviation of 0.00 may be anything up to half a unit of its last digit.
    large = abs(gap) > 2 * max(published.deviation, 0.5 * 10.0**-digits)
    return f"{gap:+.{digits}f}" + (MARK if large else "")


def beside(own: Spread, published: Published | None, digits: int) -> list[str]:
    """Return three cells: own, published, difference.

    Parameters
    ----------
    own : Spread
        Own mean and deviation.
    published : Published or None
        What was published, if anything.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> beside(Spread(1, 39.0, None), None, 2)
    ['39.00', '-', '-']
    """
    cell = with_deviation(own.mean, own.deviation, digits)
    if published is None:
        return [cell, MISSING, MISSING]
    printed = with_deviation(published.mean, published.deviation, digits)
    return [cell, printed, difference(own.mean, published, digits)]
