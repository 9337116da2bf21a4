"""The search for the finest level that keeps a promise, and why there may be none."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.exceptions import OutOfReachError
from fairpca.release._sides import EQUAL_GROUPS, Sides


@dataclass(frozen=True)
class Asked:
    """What is asked of levels.

    Attributes
    ----------
    target : float
        The promise.
    largest_weight : float or None
        Where weights are drawn with the people.
    """

    target: float
    largest_weight: float | None = None

    def slacks(self, sides: list[Sides], alpha: float) -> FloatArray:
        """Return what is added to each T, if the target leaves room for that.

        Parameters
        ----------
        sides : list of Sides
            What is compared.
        alpha : float
            1 - confidence.
        """
        slacks = np.array([each.slack(alpha, self.largest_weight) for each in sides])
        if slacks.max() >= self.target:
            worst = sides[int(np.argmax(slacks))]
            needed = worst.rows_needed(alpha, self.target, self.largest_weight)
            raise OutOfReachError(_too_few_rows(worst.record, self.target, slacks.max(), needed))
        return slacks

    def finest(self, levels: Iterable[FloatArray], sides: list[Sides], alpha: float) -> tuple[int, FloatArray, int]:
        """Return the last level before the first that fails, its distances, and how many were looked at.

        Parameters
        ----------
        levels : iterable of ndarray of shape (n_measures,)
            T of each comparison, on one level after the other.
        sides : list of Sides
            What is compared.
        alpha : float
            1 - confidence.
        """
        slacks, passed, n_levels = self.slacks(sides, alpha), None, 0
        for n_levels, distances in enumerate(levels, start=1):
            if np.max(distances + slacks) > self.target:
                break
            passed = n_levels - 1, distances
        else:
            if passed is None:
                raise ValueError(
                    "these rows lie further apart than a grid reaches, even with the most noise of this release: leave "
                    'far rows out, or use kind="cells".'
                )
        if passed is None:
            j = int(np.argmax(distances + slacks))
            raise OutOfReachError(_too_different(sides[j], self.target, distances[j], slacks[j]))
        return *passed, n_levels


def _too_different(sides: Sides, target: float, distance: float, slack: float) -> str:
    q = sides.correction.scale * math.sqrt(sides.squares)
    # What chance adds to T of two cells is left to shrink with the rows.
    own = max(0.0, distance - EQUAL_GROUPS * q)
    room = target - own
    more = "more rows do not help, for its groups differ by about as much"
    if room > 0.1 * target:
        needed = math.ceil(sides.record["n_rows"] * ((distance + slack - own) / room) ** 2)
        more = f"about {needed:,} rows may reach it"
    rows = " and ".join(map(str, sides.record["sides"]))
    return (
        f"target={target:g} is out of reach: with {rows} rows ({sides.record['name']}) the coarsest level of the "
        f"release shows no less than {min(1.0, distance + slack):.3f}; {more}. Ask for a larger target, on other rows."
    )


def _too_few_rows(record: dict[str, Any], target: float, smallest: float, needed: int) -> str:
    rows = " and ".join(map(str, record["sides"]))
    return (
        f"target={target:g} is out of reach: with {rows} rows ({record['name']}) nothing below {smallest:.3f} can be "
        f"shown, even of groups that do not differ. It takes at least {needed:,} rows in these shares, and more where "
        "groups differ."
    )
