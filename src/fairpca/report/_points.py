"""A sample of the rows as points of the plane."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.report._case import Case

STEPS = 999
"""Coordinates are whole numbers from 0 to this: more digits than a screen has."""

MOST_MARKS = 600
"""Points of all attributes together, so that a page stays small."""

GOLDEN = 0.6180339887498949


def drawn_rows(case: Case) -> IntArray:
    """Return the numbers of random rows, those that count more with a higher probability.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    compared = np.any([colouring.codes >= 0 for colouring in case.colours], axis=0)
    weights = compared * (np.ones(len(compared)) if case.masses is None else case.masses)
    size = min(case.n_points, MOST_MARKS // len(case.colours), int(np.count_nonzero(weights)))
    generator = np.random.default_rng(case.random_state)
    return generator.choice(len(weights), size, replace=False, p=weights / weights.sum()).astype(np.int64)


def in_the_plane(Z: FloatArray) -> FloatArray:
    """Return the two leading components; beside a single one heights that only keep points apart.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    """
    if Z.shape[1] >= 2:
        return Z[:, :2]
    return np.column_stack([Z[:, 0], (np.arange(len(Z)) * GOLDEN) % 1.0])


class Plane:
    """The part of the plane that holds some pictures, and its points in whole numbers.

    Parameters
    ----------
    pictures : sequence of ndarray of shape (n, 2)
        Points.
    """

    def __init__(self, pictures: Sequence[FloatArray]) -> None:
        points = np.concatenate(pictures)
        first, last = np.quantile(points, [0.01, 0.99], axis=0)
        # A few rows far from all others must not squeeze these into a dot.
        low = np.maximum(points.min(axis=0), first - (last - first))
        high = np.minimum(points.max(axis=0), last + (last - first))
        self.n_beyond = int(np.max([np.sum(np.any((each < low) | (each > high), axis=1)) for each in pictures]))
        room = np.where(high > low, 0.05 * (high - low), 1.0)
        self.low, self.high = low - room, high + room

    @property
    def ranges(self) -> dict[str, list[float]]:
        """Ends of both axes."""
        return {name: [float(self.low[k]), float(self.high[k])] for k, name in enumerate("xy")}

    def whole(self, points: FloatArray) -> list[int]:
        """Return x and y of each point in turn; what is beyond the edge is drawn on it."""
        shares = np.clip((points - self.low) / (self.high - self.low), 0.0, 1.0)
        found: list[int] = np.rint(STEPS * shares).astype(int).ravel().tolist()
        return found


def scatter(case: Case, rows: IntArray) -> dict[str, Any] | None:
    """Return the sampled rows before and after, in the same axes; None for one component, or without points.

    Parameters
    ----------
    case : Case
        What the report is of.
    rows : ndarray of int
        The sampled rows.
    """
    if case.after.Z.shape[1] < 2 or not len(rows):
        return None
    sides = {"before": case.before.Z[rows], "after": case.after.Z[rows]}
    points = {name: in_the_plane(Z) for name, Z in sides.items()}
    plane = Plane(list(points.values()))
    return {"ranges": plane.ranges, "n_beyond": plane.n_beyond} | {
        name: plane.whole(each) for name, each in points.items()
    }
