"""fairpca fit --promise --compare-maps: which map a release is made of, chosen on rows that certify nothing."""
# SPDX-License-Identifier: MIT

import warnings
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone

from fairpca import FairPCA, Release
from fairpca._utils.typing import AnyArray
from fairpca.cli._output import Stages, numbers_table
from fairpca.cli._study import known
from fairpca.comparison import LARGEST_MMD2
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning
from fairpca.selection import people_at
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
    people = [people_at(prepared.people_train, rows) for rows in (fit, choose)]
    stages.say("comparing maps")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        own = clone(model).fit(prepared.X_train[fit], **known(people[0]))
    Z = [own.transform(prepared.X_train[rows]) for rows in (fit, choose)]
    (kept,) = clone(release).fit(Z[0], **known(people[0])).trade_off(Z[1], **vars(people[1]), targets=(target,))
    share = float(own.explained_variance_ratio_.sum())
    released = None if kept["variance"] is None else share * kept["variance"]
    return {"variance_kept": share, "variance_released": released} | {
        name: kept[name] for name in ("n_cells", "label_auc")
    }


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
