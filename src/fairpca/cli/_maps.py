"""fairpca fit --promise --compare-maps: which map a release is made of, chosen on rows that certify nothing."""
# SPDX-License-Identifier: MIT

import warnings
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from fairpca import FairPCA, Release
from fairpca._utils.typing import AnyArray, IntArray
from fairpca.cli._output import Stages, numbers_table
from fairpca.cli._path import taken
from fairpca.cli._study import known
from fairpca.comparison import LARGEST_MMD2, People
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning
from fairpca.tables import PreparedTable


def candidates(wanted: FairPCA) -> dict[str, FairPCA]:
    """Return the maps that are tried, not fitted.

    Parameters
    ----------
    wanted : FairPCA
        What was asked for.
    """
    asked_for_scales = wanted.bandwidth == "scales"
    return {
        "fair PCA": clone(wanted).set_params(bandwidth="median") if asked_for_scales else wanted,
        "fair PCA, --scales": wanted if asked_for_scales else clone(wanted).set_params(bandwidth="scales"),
        # Nothing exceeds this tolerance.
        "plain PCA": clone(wanted).set_params(tolerance=LARGEST_MMD2),
    }


def compared_maps(
    target: float,
    wanted: FairPCA,
    release: Release,
    prepared: PreparedTable,
    seed: int,
    stages: Stages,
    share: float = 0.3,
) -> tuple[FairPCA, list[dict[str, Any]]]:
    """Return the map whose release keeps most on a part of the rows to fit, not fitted, and what each keeps.

    The rows held out take no part, so that they can certify what was chosen.

    Parameters
    ----------
    target : float
        The promise.
    wanted : FairPCA
        What was asked for, not fitted.
    release : Release
        Of each map, not fitted.
    prepared : PreparedTable
        The rows.
    seed : int
        Draws the part to choose on.
    stages : Stages
        Told how far it is.
    share : float, default=0.3
        Share of the rows to fit that choose; the others fit the maps that are compared.
    """
    choosing = np.random.default_rng(seed).uniform(size=len(prepared.X_train)) < share
    maps = candidates(wanted)
    found = [{"map": name} | _kept(target, maps[name], release, prepared, choosing, stages) for name in maps]
    measure = "label_auc" if any(each["label_auc"] is not None for each in found) else "variance_released"
    best = max(found, key=lambda each: -1.0 if each[measure] is None else each[measure])
    for each in found:
        each["chosen"] = each is best
    return maps[best["map"]], found


def _kept(
    target: float, model: FairPCA, release: Release, prepared: PreparedTable, choosing: AnyArray, stages: Stages
) -> dict[str, Any]:
    """Return what a map and its release keep of the rows to choose on, at the level that these would allow."""
    fit, choose = np.flatnonzero(~choosing), np.flatnonzero(choosing)
    people = [_people(prepared.people_train, rows) for rows in (fit, choose)]
    stages.say("comparing maps")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        own = clone(model).fit(prepared.X_train[fit], **known(people[0]))
    Z = [own.transform(prepared.X_train[rows]) for rows in (fit, choose)]
    tried = clone(release).fit(Z[0], **known(people[0]))
    (cost,) = tried.trade_off(Z[1], **known(people[1]), targets=(target,))
    kept = float(own.explained_variance_ratio_.sum())
    found = {"variance_kept": kept, "n_cells": cost["n_cells"], "variance_released": None, "label_auc": None}
    if cost["n_cells"] is None:
        return found
    level = int(np.flatnonzero(tried.levels_ == cost["n_cells"])[0])
    cells = [tried.places_.levels[level][tried.places_.codes(z)] for z in Z]
    return found | {"variance_released": kept * cost["variance"], "label_auc": _label_auc(cells, people)}


def _label_auc(cells: list[IntArray], people: list[People]) -> float | None:
    """Return the AUC of the shares of a label among the cells of the rows to fit, if there is one of two values."""
    if people[0].y is None:
        return None
    both = np.concatenate([np.asarray(each.y, dtype=str) for each in people])
    labels, codes = np.unique(both, return_inverse=True)
    if len(labels) != 2:
        return None
    n, n_cells = len(cells[0]), int(max(each.max() for each in cells)) + 1
    counts = np.bincount(cells[0], minlength=n_cells)
    shares = (np.bincount(cells[0], codes[:n], minlength=n_cells) + np.mean(codes)) / (counts + 1.0)
    return float(roc_auc_score(codes[n:], shares[cells[1]]))


def _people(people: People, rows: IntArray) -> People:
    return People(**{name: taken(table, rows) for name, table in known(people).items()})


def show_maps(console: Console, maps: list[dict[str, Any]]) -> None:
    """Print what each map keeps.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    maps : list of dict
        What was found.
    """
    shown = [
        (
            each["map"] + (" (chosen)" if each["chosen"] else ""),
            f"{100 * each['variance_kept']:.1f} %",
            "out of reach" if each["n_cells"] is None else str(each["n_cells"]),
            "" if each["n_cells"] is None else f"{100 * each['variance_released']:.1f} %",
            "" if each["label_auc"] is None else f"{each['label_auc']:.3f}",
        )
        for each in maps
    ]
    headings = ("map", "variance kept", "cells", "kept when released", "AUC of the label")
    console.print()
    console.print(numbers_table("Maps, compared on a part of the rows to fit", headings, shown))
