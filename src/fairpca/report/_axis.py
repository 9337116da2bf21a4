"""From numbers to places in a drawing, with round numbers beside them."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fairpca.report._text import small

ROUND = (1, 2, 5, 10)


@dataclass(frozen=True)
class Axis:
    """A straight or logarithmic scale.

    Attributes
    ----------
    low, high : float
        Numbers at its ends.
    start, end : float
        Places of the ends.
    logarithmic : bool, default=False
        Whether equal ratios are equally long.

    Examples
    --------
    >>> Axis(0.0, 10.0, 0.0, 100.0).at(2.5)
    25.0
    >>> [tick["text"] for tick in Axis(0.0, 10.0, 0.0, 100.0).ticks()]
    ['0', '2', '4', '6', '8', '10']
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return the place of a number; one beyond an end is drawn there."""
        low, high, value = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + (self.end - self.start) * min(max(share, 0.0), 1.0), 1)

    def ticks(self, most: int = 6) -> list[dict[str, Any]]:
        """Return round numbers along the axis, each with its place and text."""
        values = _decades(self.low, self.high) if self.logarithmic else _steps(self.low, self.high, most)
        return [{"at": self.at(value), "text": _text(value)} for value in values]


def _text(value: float) -> str:
    if 0 < abs(value) < 1e-3:
        return small(value).removeprefix("1.0\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}")
    return f"{value:.10g}".replace("-", "\N{MINUS SIGN}")


def _steps(low: float, high: float, most: int) -> Iterator[float]:
    if not high > low:
        return
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(factor * power for factor in ROUND if (high - low) / (factor * power) <= most)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield k * step


def _decades(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if len(powers) > 3 else (1, 3) if len(powers) > 2 else (1, 2, 5)
    every = max(1, len(powers) // 6)
    values = [factor * 10.0**power for power in list(powers)[::every] for factor in factors]
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
