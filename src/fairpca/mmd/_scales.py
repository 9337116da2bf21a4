"""What users say of the kernel's bandwidth: one, or several at once."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from fairpca._utils.checks import check_bandwidth

FOUR_SCALES = (2.0, 1.0, 0.5, 0.25)
"""Factors of bandwidth="scales"."""

ONE_SCALE = (1.0,)
"""The factor of a single bandwidth."""

WIDEST_SPAN = 1e4
"""Largest ratio of two factors: beyond, what the narrower shows is noise of single rows, or the wider shows nothing."""


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
        return cls() if checked == "scales" else cls(ONE_SCALE, checked)

    @property
    def is_single(self) -> bool:
        """Whether there is one scale."""
        return len(self.factors) == 1


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
