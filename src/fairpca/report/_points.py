"""The new rows as densities of their groups, and as points where these were asked for."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.report._case import Case
from fairpca.report._colouring import Colouring

# Coordinates are whole numbers from 0 to this: more digits than a screen has.
STEPS = 999

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def aligned(projections: Sequence[FloatArray]) -> list[FloatArray]:
    """Turn and mirror each picture of the rows so that it is closest to the one before.

    Distances between rows, and so every MMD^2, stay what they are (Procrustes).

    Parameters
    ----------
    projections : sequence of ndarray of shape (n, d)
        Rows after one model after the other.

    Returns
    -------
    turned : list of ndarray of shape (n, d)
        The first as it was.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(20, 2))
    >>> turned = aligned([Z, Z[:, ::-1] * [1.0, -1.0]])
    >>> bool(np.allclose(turned[1], Z))
    True
    """
    turned = [projections[0]]
    for Z in projections[1:]:
        left, _, right = np.linalg.svd(Z.T @ turned[-1])
        turned.append(Z @ (left @ right))
    return turned


def drawn_rows(case: Case) -> IntArray:
    """Return the numbers of random rows, those that count more with a higher probability.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    compared = np.any([colouring.codes >= 0 for colouring in case.colours], axis=0)
    weights = compared * (np.ones(len(compared)) if case.masses is None else case.masses)
    size = min(case.n_points, int(np.count_nonzero(weights)))
    generator = np.random.default_rng(case.random_state)
    return generator.choice(len(weights), size, replace=False, p=weights / weights.sum()).astype(np.int64)


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
    if case.after.Z.shape[1] < 2 or case.before.Z.shape[1] < 2 or not len(rows):
        return None
    points = {"before": case.before.Z[rows, :2], "after": case.after.Z[rows, :2]}
    plane = Plane(list(points.values()))
    return {"ranges": plane.ranges, "n_beyond": plane.n_beyond} | {
        name: plane.whole(each) for name, each in points.items()
    }


def densities(case: Case, most: int = 3) -> list[list[dict[str, Any]]]:
    """Return for each attribute and each leading component the densities of the groups, and of all of them together.

    Parameters
    ----------
    case : Case
        What the report is of.
    most : int, default=3
        Components at most; the others are in the table of the audit.
    """
    shown = range(min(case.after.Z.shape[1], most))
    return [[_of_component(case, colouring, c) for c in shown] for colouring in case.colours]


def _of_component(case: Case, colouring: Colouring, component: int) -> dict[str, Any]:
    sides = {name: _column(side.Z, component) for name, side in (("before", case.before), ("after", case.after))}
    low, high = range_of([values[colouring.codes >= 0] for values in sides.values()])
    return {
        "component": component + 1,
        "range": [low, high],
        "curves": {name: curves(values, colouring, case.masses, low, high) for name, values in sides.items()},
        "quantiles": {
            name: [_quantiles(values[colouring.codes == k]) for k in range(len(colouring.labels))]
            for name, values in sides.items()
        },
    }


def _column(Z: FloatArray, component: int) -> FloatArray:
    """Return a component; one that the other reduction does not have is 0."""
    return Z[:, component] if component < Z.shape[1] else np.zeros(len(Z))


def range_of(pictures: Sequence[FloatArray]) -> tuple[float, float]:
    """Return where nearly all values are, with some room.

    Parameters
    ----------
    pictures : sequence of ndarray of shape (n,)
        Values.
    """
    low, high = np.quantile(np.concatenate(pictures), [0.005, 0.995])
    room = 0.08 * (high - low) or 1.0
    return float(low - room), float(high + room)


def curves(
    values: FloatArray, colouring: Colouring, masses: FloatArray | None, low: float, high: float, n: int = 41
) -> list[list[float] | None]:
    """Return the density of each group at evenly spaced places, and that of all groups together as the last.

    Parameters
    ----------
    values : ndarray of shape (n,)
        A component.
    colouring : Colouring
        The groups.
    masses : ndarray of shape (n,) or None
        How much each row counts.
    low, high : float
        Ends of the axis.
    n : int, default=41
        Places: as many as a curve needs to look smooth.
    """
    codes, grid = colouring.codes, np.linspace(low, high, n)
    chosen = [*(codes == k for k in range(len(colouring.labels))), codes >= 0]
    return [_density(values[rows], None if masses is None else masses[rows], grid) for rows in chosen]


def _density(own: FloatArray, masses: FloatArray | None, grid: FloatArray) -> list[float] | None:
    """Return the density of a group, of Scott's width; None where it does not vary, or is too small to say."""
    if len(own) < 3 or np.ptp(own) <= 1e-9 * np.abs(grid).max():
        return None
    weights = np.ones(len(own)) if masses is None else masses
    total = float(weights.sum())
    if total <= 0.0:
        return None
    spread = math.sqrt(float(np.average((own - np.average(own, weights=weights)) ** 2, weights=weights)))
    # All rows, in bins that are finer than the places.
    counts, edges = np.histogram(own, 10 * len(grid), (grid[0], grid[-1]), weights=weights)
    width = max(spread * (total**2 / float(weights @ weights)) ** -0.2, edges[1] - edges[0])
    steps = (grid[:, None] - 0.5 * (edges[1:] + edges[:-1])) / width
    found: list[float] = (
        (np.exp(-0.5 * steps**2) @ counts / (width * total * math.sqrt(2.0 * math.pi))).round(5).tolist()
    )
    return found


def _quantiles(values: FloatArray) -> list[float] | None:
    if not len(values):
        return None
    found: list[float] = np.round(np.quantile(values, QUANTILES), 3).tolist()
    return found
