"""What pictures show: the new rows as densities of their groups, as points, and along the trade-off."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.auditing import projections
from fairpca.estimator import FairPCA
from fairpca.inference import PAIRED_ROWS, SAMPLE_ROWS, ComparedRows, chance_levels, measure
from fairpca.report._case import Case, share_kept
from fairpca.report._colouring import Colouring

# Coordinates are whole numbers from 0 to this: more digits than a screen has.
STEPS = 999

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


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


def scatter(case: Case, rows: IntArray) -> dict[str, Any] | None:
    """Return the sampled rows before and after, in the same axes; None for one component, or without points.

    Points are x and y of each row in turn, in whole numbers; what is beyond the edge is drawn on it.

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
    both = np.concatenate(list(points.values()))
    first, last = np.quantile(both, [0.01, 0.99], axis=0)
    # A few rows far from all others must not squeeze these into a dot.
    low = np.maximum(both.min(axis=0), first - (last - first))
    high = np.minimum(both.max(axis=0), last + (last - first))
    beyond = [int(np.sum(np.any((each < low) | (each > high), axis=1))) for each in points.values()]
    room = np.where(high > low, 0.05 * (high - low), 1.0)
    low, high = low - room, high + room
    shares = {side: np.clip((each - low) / (high - low), 0.0, 1.0) for side, each in points.items()}
    return {
        "ranges": {"x": [low[0], high[0]], "y": [low[1], high[1]]},
        "n_beyond": max(beyond),
        **{side: np.rint(STEPS * each).astype(int).ravel().tolist() for side, each in shares.items()},
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
    # A component that the other reduction does not have is 0.
    sides = {
        name: side.Z[:, component] if component < side.Z.shape[1] else np.zeros(len(side.Z))
        for name, side in (("before", case.before), ("after", case.after))
    }
    low, high = _range_of([values[colouring.codes >= 0] for values in sides.values()])
    return {
        "component": component + 1,
        "range": [low, high],
        "curves": {name: _curves(values, colouring, case.masses, low, high) for name, values in sides.items()},
        "quantiles": {
            name: [_quantiles(values[colouring.codes == k]) for k in range(len(colouring.labels))]
            for name, values in sides.items()
        },
    }


def _range_of(pictures: Sequence[FloatArray]) -> tuple[float, float]:
    """Return where nearly all values are, with some room."""
    low, high = np.quantile(np.concatenate(pictures), [0.005, 0.995])
    room = 0.08 * (high - low) or 1.0
    return float(low - room), float(high + room)


def _curves(
    values: FloatArray, colouring: Colouring, masses: FloatArray | None, low: float, high: float, n: int = 41
) -> list[list[float] | None]:
    """Return the density of each group at `n` places, as many as look smooth, and that of all groups as the last."""
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


def trade_off(case: Case, most: int = 20) -> dict[str, Any] | None:
    """Return models along tolerances, with the densities of the groups after each; None without a path.

    The model of the report is one of them, in place of one of the path that has nearly its tolerance: the slider
    starts with the numbers of the first screen.

    Parameters
    ----------
    case : Case
        What the report is of.
    most : int, default=20
        Models at most; of more some evenly spaced ones.
    """
    if case.path is None:
        return None
    models = list(case.path.models_)
    if len(models) > most:
        models = [models[k] for k in np.linspace(0, len(models) - 1, most).round().astype(int)]
    start = _place(models, case.model)
    pictures = [projections(model, case.X) for model in models]
    # Each picture is turned to be closest to the one before: distances between rows, and so every MMD^2, stay.
    turned = pictures[:1]
    for Z in pictures[1:]:
        turned.append(Z @ orthogonal_procrustes(Z, turned[-1])[0])
    return {
        "models": [_of_model(case, model, Z) for model, Z in zip(models, pictures, strict=True)],
        "n_models": len(case.path.models_),
        "start": start,
        **_moving(case, turned),
    }


def _moving(case: Case, pictures: Sequence[FloatArray]) -> dict[str, Any]:
    """Return for each model and attribute the densities of the groups, and of all, in whole numbers."""
    values = [Z[:, 0] for Z in pictures]
    low, high = _range_of(values)
    found = [[_curves(each, colouring, case.masses, low, high) for colouring in case.colours] for each in values]
    largest = max((max(curve) for model in found for groups in model for curve in groups if curve), default=1.0)
    whole = [
        [
            [None if curve is None else [round(STEPS * y / largest) for y in curve] for curve in groups]
            for groups in model
        ]
        for model in found
    ]
    return {"range": [low, high], "curves": whole}


def _of_model(case: Case, model: FairPCA, Z: FloatArray) -> dict[str, Any]:
    new, chance = _new_rows(case, Z, model.bandwidth_)
    fitted, tolerances = (np.array([each[name] for each in model.measures_]) for name in ("mmd2", "tolerance"))
    of_fit = [record["attribute"] for record in model.measures_]
    of_new = [known.measured.attribute for known in case.compared.measures]
    own = [(_own(of_fit, each), _own(of_new, each)) for each in case.colours]
    return {
        "tolerance": model.tolerance_,
        "converged": model.converged_,
        "n_live_components": model.n_live_components_,
        "variance": share_kept(Z, case.spread, case.masses),
        "variance_fitted": float(model.explained_variance_ratio_.sum()),
        "by_attribute": [
            {
                "tolerance": float(tolerances[seen].min(initial=model.tolerance_)),
                "fitted": float(fitted[seen].max(initial=0.0)),
                "new": float(new[unseen].max()),
                "chance": float(chance[unseen][new[unseen].argmax()]),
            }
            for seen, unseen in own
        ],
    }


def _new_rows(case: Case, Z: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
    """Return what new rows show of each measure, and the chance level."""
    rows = ComparedRows.of(Z - np.median(Z, axis=0), case.compared)
    generator = np.random.default_rng(case.random_state)
    seen = rows if rows.n_rows <= PAIRED_ROWS else rows.sample(SAMPLE_ROWS, generator)
    levels = chance_levels(seen, bandwidth)
    # A hundredth of the chance level is less than a picture shows.
    return measure(rows, bandwidth, 0.01 * levels).values, levels


def _own(attributes: list[str], colouring: Colouring) -> list[int]:
    """Return the measures of an attribute; all of them where it is compared in combinations only."""
    own = [j for j, attribute in enumerate(attributes) if attribute == colouring.attribute]
    return own or list(range(len(attributes)))


def _place(models: list[FairPCA], model: FairPCA, near: float = 1.25) -> int:
    """Put the reported model among the others, from the loosest to the strictest, and return where it is."""
    tolerances = [each.tolerance_ for each in models]
    # Plain PCA may have any tolerance.
    if not model.measures_ or not 0.0 < model.tolerance_ < math.inf:
        start = 0
    else:
        start = sum(each > near * model.tolerance_ for each in tolerances)
    replaced = int(start < len(models) and (tolerances[start] * near >= model.tolerance_ or start == 0))
    models[start : start + replaced] = [model]
    return start
