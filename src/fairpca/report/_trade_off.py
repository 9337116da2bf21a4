"""The trade-off along a path, as new people show it."""
# SPDX-License-Identifier: MIT

import math
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.auditing import projections
from fairpca.inference import PAIRED_ROWS, chance_levels, measure
from fairpca.report._before import share_kept
from fairpca.report._case import Case
from fairpca.report._colouring import Colouring
from fairpca.report._points import Plane, aligned, in_the_plane
from fairpca.report._words import plain

MOST_MODELS = 20
SAMPLE_ROWS = 2**14
"""Rows of the sample by which levels of many rows are known."""

MOST_OF_A_PROMISE = 500
"""Characters of a promise, which may name two groups."""

SHARE_OF_CHANCE = 0.01
"""Accuracy of values, relative to what chance shows."""


def trade_off(case: Case, rows: IntArray) -> dict[str, Any] | None:
    """Return models along tolerances, with the sampled rows after each; None without a path.

    Parameters
    ----------
    case : Case
        What the report is of.
    rows : ndarray of int
        The sampled rows.
    """
    if case.path is None:
        return None
    models = _spaced(case.path.models_)
    pictures = [projections(model, case.X) for model in models]
    found = {
        "models": [_of_model(case, model, Z) for model, Z in zip(models, pictures, strict=True)],
        "n_models": len(case.path.models_),
        "start": _closest(models, case.model),
    }
    return found | _moving(pictures, rows)


def promise(case: Case) -> dict[str, Any] | None:
    """Return what is promised of the release, and what other promises would have cost; None without a release.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    if case.release is None:
        return None
    shown = case.release.certificate_
    costs = case.release.trade_off(case.after.Z, **vars(case.people))
    return {
        "words": plain(shown.promise, MOST_OF_A_PROMISE),
        "target": shown.upper_bound,
        "n_cells": int(case.release.level_),
        "n_rows": shown.n_rows,
        "costs": [
            cost | {"variance": None if cost["variance"] is None else cost["variance"] * case.after.variance}
            for cost in costs
        ],
    }


def _moving(pictures: list[FloatArray], rows: IntArray) -> dict[str, Any]:
    """Return the sampled rows in each picture, turned towards the one before."""
    if not len(rows):
        return {"points": None}
    planes = [in_the_plane(Z)[rows] for Z in aligned(pictures)]
    plane = Plane(planes)
    return {"points": [plane.whole(points) for points in planes], "ranges": plane.ranges, "n_beyond": plane.n_beyond}


def _spaced(models: list[Any]) -> list[Any]:
    """Return models from the loosest to the strictest, of many some evenly spaced ones."""
    if len(models) <= MOST_MODELS:
        return list(models)
    return [models[k] for k in np.linspace(0, len(models) - 1, MOST_MODELS).round().astype(int)]


def _of_model(case: Case, model: Any, Z: FloatArray) -> dict[str, Any]:
    new, chance = _new_rows(case, Z, model.bandwidth_)
    fitted = np.array([record["mmd2"] for record in model.measures_])
    of_fit = [record["attribute"] for record in model.measures_]
    of_new = [known.measured.attribute for known in case.compared.measures]
    return {
        "tolerance": model.tolerance_,
        "converged": model.converged_,
        "n_live_components": model.n_live_components_,
        "variance": share_kept(Z, case.spread, case.masses),
        "variance_fitted": float(model.explained_variance_ratio_.sum()),
        "by_attribute": [
            {
                "fitted": float(fitted[_own(of_fit, colouring)].max()),
                "new": float(new[_own(of_new, colouring)].max()),
                "chance": float(chance[_own(of_new, colouring)][new[_own(of_new, colouring)].argmax()]),
            }
            for colouring in case.colours
        ],
    }


def _new_rows(case: Case, Z: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
    """Return what new rows show of each measure, and what chance shows."""
    rows = case.rows_of(Z - np.median(Z, axis=0))
    generator = np.random.default_rng(case.random_state)
    seen = rows if rows.n_rows <= PAIRED_ROWS else rows.sample(SAMPLE_ROWS, generator)
    levels = chance_levels(seen, bandwidth)
    return measure(rows, bandwidth, SHARE_OF_CHANCE * levels).values, levels


def _own(attributes: list[str], colouring: Colouring) -> list[int]:
    """Return the measures of an attribute; all of them where it is compared in combinations only."""
    own = [j for j, attribute in enumerate(attributes) if attribute == colouring.attribute]
    return own or list(range(len(attributes)))


def _closest(models: list[Any], model: Any) -> int:
    """Return which model of the path is asked for nearly the same as the reported one."""
    if not model.tolerance_ > 0.0 or math.isinf(model.tolerance_):
        return 0
    return int(np.argmin([abs(math.log(each.tolerance_ / model.tolerance_)) for each in models]))
