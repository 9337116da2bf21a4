"""How each group is spread along a component, before and after, on one scale."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.report._case import Case
from fairpca.report._colouring import Colouring

MOST_COMPONENTS = 3
"""Leading components whose densities are drawn."""

MOST_CURVES = 120
"""Curves of all attributes together, so that a page stays small."""

N_POINTS = 41
MOST_ROWS = 5000
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


def densities(case: Case) -> list[list[dict[str, Any]]]:
    """Return for each attribute and each leading component the densities of the groups.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    n_groups = sum(len(colouring.labels) for colouring in case.colours)
    shown = range(min(case.after.Z.shape[1], MOST_COMPONENTS, max(1, MOST_CURVES // (2 * n_groups))))
    return [[_of_component(case, colouring, c) for c in shown] for colouring in case.colours]


def _of_component(case: Case, colouring: Colouring, component: int) -> dict[str, Any]:
    sides = {name: _column(side.Z, component) for name, side in (("before", case.before), ("after", case.after))}
    drawn = colouring.codes >= 0
    low, high = _range(np.concatenate([values[drawn] for values in sides.values()]))
    grid = np.linspace(low, high, N_POINTS)
    groups = [_evenly(colouring.codes == k) for k in range(len(colouring.labels))]
    return {
        "component": component + 1,
        "range": [low, high],
        "curves": {
            name: [_density(values, rows, case.masses, grid) for rows in groups] for name, values in sides.items()
        },
        "quantiles": {
            name: [_quantiles(values[colouring.codes == k]) for k in range(len(colouring.labels))]
            for name, values in sides.items()
        },
    }


def _column(Z: FloatArray, component: int) -> FloatArray:
    """Return a component; one that the other reduction does not have is 0."""
    return Z[:, component] if component < Z.shape[1] else np.zeros(len(Z))


def _range(values: FloatArray) -> tuple[float, float]:
    """Return where nearly all values are, with some room."""
    low, high = np.quantile(values, [0.005, 0.995])
    room = 0.08 * (high - low) or 1.0
    return float(low - room), float(high + room)


def _evenly(chosen: BoolArray) -> Any:
    rows = np.flatnonzero(chosen)
    return rows[:: max(1, len(rows) // MOST_ROWS)]


def _density(values: FloatArray, rows: Any, masses: FloatArray | None, grid: FloatArray) -> list[float] | None:
    """Return the density of a group; None where it does not vary, or is too small to say."""
    own = values[rows]
    weights = None if masses is None else masses[rows]
    if len(own) < 3 or np.ptp(own) <= 1e-9 * np.abs(grid).max():
        return None
    found: list[float] = np.round(gaussian_kde(own, weights=weights)(grid), 5).tolist()
    return found


def _quantiles(values: FloatArray) -> list[float] | None:
    if not len(values):
        return None
    found: list[float] = np.round(np.quantile(values, QUANTILES), 3).tolist()
    return found
