"""The sizes of the two groups of a plan."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

from fairpca._utils.checks import check_integer
from fairpca.inference import LEAST_ROWS

ROUNDING = 1e-9


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
        if abs(first + second - 1.0) > ROUNDING:
            if rows is not None:
                raise ValueError(f"rows={rows!r} goes with shares; groups={groups!r} counts rows already.")
            return cls._counted(groups, first, second)
        if rows is None:
            return cls((first, second), None)
        check_integer("rows", rows, least=2 * LEAST_ROWS)
        m = round(int(rows) * first)
        today = _enough(f"groups={groups!r} of rows={rows}", m, int(rows) - m)
        return cls((first, second), today)

    @classmethod
    def _counted(cls, groups: Any, first: float, second: float) -> "Sides":
        if first != int(first) or second != int(second):
            raise ValueError(f"groups={groups!r} must be two counts of rows, or two shares whose sum is 1.")
        today = _enough(f"groups={groups!r}", int(first), int(second))
        return cls((first / (first + second), second / (first + second)), today)

    @property
    def least_rows(self) -> int:
        """Rows of both at which the smaller group is just large enough."""
        return math.ceil((LEAST_ROWS - 1) / min(self.shares) + ROUNDING) + 1

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


def _enough(words: str, m: int, n: int) -> tuple[int, int]:
    if min(m, n) < LEAST_ROWS:
        raise ValueError(
            f"{words} makes {m} and {n} rows, and with fewer than {LEAST_ROWS} in a group nothing can be certified; "
            "for shares of yet unknown numbers give two numbers whose sum is 1, such as (0.2, 0.8)."
        )
    return m, n
