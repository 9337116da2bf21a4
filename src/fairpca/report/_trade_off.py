"""The trade-off along a path, as new people show it."""
# SPDX-License-Identifier: MIT

import math
from typing import Any

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.auditing import projections
from fairpca.inference import PAIRED_ROWS, SAMPLE_ROWS, chance_levels, measure
from fairpca.report._before import share_kept
from fairpca.report._case import Case
from fairpca.report._colouring import Colouring
from fairpca.report._points import STEPS, aligned, curves, range_of
from fairpca.report._words import plain


def trade_off(case: Case) -> dict[str, Any] | None:
    """Return models along tolerances, with the densities of the groups after each; None without a path.

    The model of the report is one of them, in place of one of the path that has nearly its tolerance: the slider
    starts with the numbers of the first screen.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    if case.path is None:
        return None
    models = _spaced(case.path.models_)
    start = _place(models, case.model)
    pictures = [projections(model, case.X) for model in models]
    return {
        "models": [_of_model(case, model, Z) for model, Z in zip(models, pictures, strict=True)],
        "n_models": len(case.path.models_),
        "start": start,
        **_moving(case, [Z[:, 0] for Z in aligned(pictures)]),
    }


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
    for cost in costs:
        if cost["variance"] is not None:
            cost["variance"] *= case.after.variance
    return {
        "words": plain(shown.promise, 500),
        "target": shown.upper_bound,
        "auc": shown.auc,
        "variance": next(cost["variance"] for cost in costs if cost["target"] == shown.upper_bound),
        "n_cells": int(case.release.level_),
        "n_rows": shown.n_rows,
        "costs": costs,
    }


def _moving(case: Case, values: list[FloatArray]) -> dict[str, Any]:
    """Return for each model and attribute the densities of the groups, and of all, in whole numbers."""
    low, high = range_of(values)
    found = [[curves(each, colouring, case.masses, low, high) for colouring in case.colours] for each in values]
    largest = max((max(curve) for model in found for groups in model for curve in groups if curve), default=1.0)
    whole = [
        [
            [None if curve is None else [round(STEPS * y / largest) for y in curve] for curve in groups]
            for groups in model
        ]
        for model in found
    ]
    return {"range": [low, high], "curves": whole}


def _spaced(models: list[Any], most: int = 20) -> list[Any]:
    """Return models from the loosest to the strictest, of many some evenly spaced ones."""
    if len(models) <= most:
        return list(models)
    return [models[k] for k in np.linspace(0, len(models) - 1, most).round().astype(int)]


def _of_model(case: Case, model: Any, Z: FloatArray) -> dict[str, Any]:
    new, chance = _new_rows(case, Z, model.bandwidth_)
    fitted, tolerances = (np.array([each[name] for each in model.measures_]) for name in ("mmd2", "tolerance"))
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
                "tolerance": float(tolerances[_own(of_fit, colouring)].min(initial=model.tolerance_)),
                "fitted": float(fitted[_own(of_fit, colouring)].max(initial=0.0)),
                "new": float(new[_own(of_new, colouring)].max()),
                "chance": float(chance[_own(of_new, colouring)][new[_own(of_new, colouring)].argmax()]),
            }
            for colouring in case.colours
        ],
    }


def _new_rows(case: Case, Z: FloatArray, bandwidth: float) -> tuple[FloatArray, FloatArray]:
    """Return what new rows show of each measure, and the chance level."""
    rows = case.rows_of(Z - np.median(Z, axis=0))
    generator = np.random.default_rng(case.random_state)
    seen = rows if rows.n_rows <= PAIRED_ROWS else rows.sample(SAMPLE_ROWS, generator)
    levels = chance_levels(seen, bandwidth)
    # A hundredth of the chance level is less than a picture shows.
    return measure(rows, bandwidth, 0.01 * levels).values, levels


def _own(attributes: list[str], colouring: Colouring) -> list[int]:
    """Return the measures of an attribute; all of them where it is compared in combinations only."""
    own = [j for j, attribute in enumerate(attributes) if attribute == colouring.attribute]
    return own or list(range(len(attributes)))


def _place(models: list[Any], model: Any, near: float = 1.25) -> int:
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
