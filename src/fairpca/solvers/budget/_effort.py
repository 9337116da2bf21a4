"""How many starts are worth their cost."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """What is spent on other starts where there are few rows.

    Attributes
    ----------
    few_coordinates : int
        Dimensions of the manifold up to which several starts cost nothing, and tell one optimum from the best.
    n_starts : int
        How many they are.
    enough_alike : int
        Starts in a row that end at the best optimum known, after which no others are tried.
    enough_low : int
        Starts after which no others are tried where all have ended low, or far above the tolerance.
    """

    few_coordinates: int
    n_starts: int
    enough_alike: int
    enough_low: int


MOST_STARTS = 40
"""Other starts for one number of live components."""

ONE_MEASURE, SEVERAL_MEASURES = Effort(8, 12, 4, 3), Effort(12, 24, 6, 3)
"""Where several constraints meet there are more corners to end in."""

WORTH_BRANCHING, BREADTH = 4, 0.3
"""Affordable starts from which on they are spread over looser tolerances, and the share of them at each."""

TURNED, ONE_DIRECTION = Effort(8, 12, 6, 3), Effort(8, 12, 4, MOST_STARTS)
"""From where one dimension was turned runs often come back. Random starts of a single direction are cheap, and few of
them end high: that some have ended low, as where more live components keep more, says nothing of the others."""


def n_coordinates(rank: int, n_live: int) -> int:
    """Return the dimension of the manifold of subspaces of the live axes.

    Parameters
    ----------
    rank : int
        Number of live axes.
    n_live : int
        Number of live components.
    """
    return (rank - n_live) * n_live


def affordable_starts(rank: int, n_live: int) -> int:
    """Return how many other starts are affordable: the work of a run grows with the number of coordinates.

    Parameters
    ----------
    rank : int
        Number of live axes.
    n_live : int
        Number of live components.
    """
    dimension = n_coordinates(rank, n_live)
    return 0 if dimension == 0 else int(min(MOST_STARTS, 4000 / dimension**2))


def affordable_breadth(rank: int, n_live: int) -> int:
    """Return how many optima are followed to stricter tolerances, and how many new starts are tried on the way to each.

    Parameters
    ----------
    rank : int
        Number of live axes.
    n_live : int
        Number of live components.

    Returns
    -------
    breadth : int
        0 where runs are so costly that other starts are tried at the tolerance alone.
    """
    n_starts = affordable_starts(rank, n_live)
    return math.ceil(BREADTH * n_starts) if n_starts >= WORTH_BRANCHING else 0
