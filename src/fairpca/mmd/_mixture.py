"""The mean of Gaussian kernels of several widths, and its derivatives, from few exponentials."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray

HIGHEST_POWER = 256.0
"""Power of an exponential up to which it serves another scale: rounding errors grow by as much, to 3e-14."""

FRESH = -1
"""In place of a number of squarings: an exponential of its own."""


def _exponential(exponents: AnyArray) -> None:
    np.exp(exponents, out=exponents)


@dataclass(frozen=True)
class Mixture:
    r"""phi(s) = mean_l exp(-r_l s) of s = \|z - z'\|^2 / 2, with z in units of the widest scale.

    All that values, gradients and Hessians need of the kernel are

    .. math:: K_q = (-1)^q \phi^{(q)}(s) = \frac{1}{m} \sum_l r_l^q e^{-r_l s}, \qquad q = 0, 1, 2,

    the kernels of order q; those of a single Gaussian are equal. With scales that differ by powers of two, r_l is 4,
    16, 64, ..., and e^(-r_l s) follows from the wider ones by squaring.

    Attributes
    ----------
    rates : tuple of float
        r_l >= 1, increasing; the first is 1.
    """

    rates: tuple[float, ...] = (1.0,)

    @classmethod
    def of(cls, factors: Sequence[float]) -> "Mixture":
        """Return the kernel whose widths are multiples of a bandwidth.

        Parameters
        ----------
        factors : sequence of float
            The multiples. The unit is the bandwidth times the largest of them.
        """
        widest = max(factors)
        return cls(tuple(sorted((widest / factor) ** 2 for factor in factors)))

    @property
    def is_single(self) -> bool:
        """Whether it is one Gaussian, all orders of whose kernel are equal."""
        return len(self.rates) == 1

    @property
    def narrowing(self) -> float:
        """How many times narrower than the widest scale the narrowest is."""
        return math.sqrt(self.rates[-1])

    def coefficients(self, order: int) -> FloatArray:
        """Return r_l^q / m, what each exponential adds to the kernel of order q."""
        return np.array(self.rates) ** order / len(self.rates)

    @cached_property
    def squarings(self) -> tuple[int, ...]:
        """For each scale how often the exponential of the one before is squared, or `FRESH`."""
        found, power = [FRESH], 1.0
        for before, rate in zip(self.rates, self.rates[1:], strict=False):
            mantissa, exponent = math.frexp(rate / before)
            power *= rate / before
            if mantissa != 0.5 or power > HIGHEST_POWER:
                found.append(FRESH)
                power = 1.0
            else:
                found.append(exponent - 1)
        return tuple(found)

    def fill(
        self,
        exponents: AnyArray,
        orders: Sequence[int],
        kernels: Sequence[AnyArray],
        exponential: Callable[[AnyArray], None] = _exponential,
    ) -> None:
        """Write the kernels of some orders.

        Parameters
        ----------
        exponents : ndarray
            -s.
        orders : sequence of int
            q of each.
        kernels : sequence of ndarray
            Where to; not where the exponents are.
        exponential : callable, default=numpy's
            Replaces the entries of an array by their exponentials.
        """
        power = np.empty_like(exponents)
        for each in kernels:
            each[...] = 0.0
        coefficients = [self.coefficients(order).tolist() for order in orders]
        for k, (rate, squarings) in enumerate(zip(self.rates, self.squarings, strict=True)):
            if squarings == FRESH:
                np.multiply(exponents, rate, out=power)
                exponential(power)
            for _ in range(squarings):
                power *= power
            for each, coefficient in zip(kernels, coefficients, strict=True):
                each += coefficient[k] * power

    def kernels(self, exponents: AnyArray, orders: Sequence[int]) -> list[AnyArray]:
        """Return the kernels of some orders; the exponents -s are overwritten."""
        if self.is_single:
            _exponential(exponents)
            return [exponents] * len(orders)
        found = [np.empty_like(exponents) for _ in orders]
        self.fill(exponents, orders, found)
        return found


GAUSSIAN = Mixture()
"""A single scale."""
