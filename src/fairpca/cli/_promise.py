"""fairpca fit --promise: a release of the projections, certified on the rows held out."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from fairpca import FairPCA, Release
from fairpca._utils.checks import check_number
from fairpca._utils.typing import IntArray
from fairpca.auditing import PromiseCertificate, certificate_of_release
from fairpca.cli._options import Fit
from fairpca.cli._output import Stages, numbers_table, plain
from fairpca.comparison import LARGEST_MMD2
from fairpca.exceptions import OutOfReachError
from fairpca.selection import people_at
from fairpca.tables import PreparedTable

TERMS = ("fairness", "favourable", "sensitive", "min_group_size", "small_groups", "missing", "attribute_error")

SAME_ROWS = (
    "The audit below is of the projections before the release, on the same held-out rows. It chooses nothing, so the "
    "promise and the audit hold both, each with its own confidence."
)


@dataclass(frozen=True)
class Promised:
    """A certified release.

    Attributes
    ----------
    release : Release
        The release, certified.
    certificate : PromiseCertificate
        What is promised.
    costs : list of dict
        What other promises would have cost, see `Release.trade_off`.
    maps : list of dict
        What each map keeps, where several were compared.
    """

    release: Release
    certificate: PromiseCertificate
    costs: list[dict[str, Any]]
    maps: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers."""
        bound = self.certificate.bound.to_dict()
        return {
            "words": self.certificate.bound.promise,
            "n_cells": self.certificate.n_cells,
            "costs": self.costs,
            "maps": self.maps,
        } | bound


def check_promise(given: Fit) -> None:
    """Refuse promises that cannot be made, before any work.

    Parameters
    ----------
    given : Fit
        What was asked for.
    """
    if given.promise is None:
        if given.compare_maps:
            raise ValueError("--compare-maps chooses the map of a release: say with --promise what is promised.")
        return
    check_number("promise", given.promise, above=0.0, below=1.0)
    if given.continuous:
        raise ValueError("--promise speaks of groups, and --continuous of amounts; cut them into ranges.")


def check_people(target: float, model: FairPCA, prepared: PreparedTable) -> None:
    """Refuse a promise that the rows held out are too few for, before anything is fitted.

    Parameters
    ----------
    target : float
        The promise.
    model : FairPCA
        The model, not fitted.
    prepared : PreparedTable
        The rows.
    """
    with _nothing_written():
        _release_of(model).check_target(prepared.X_new, **vars(prepared.people_new), target=target)


def promised(
    target: float, model: FairPCA, prepared: PreparedTable, maps: list[dict[str, Any]], stages: Stages
) -> Promised:
    """Fit a release to the rows of the fit, and certify it on those held out.

    Parameters
    ----------
    target : float
        The promise.
    model : FairPCA
        The fitted model.
    prepared : PreparedTable
        The rows.
    maps : list of dict
        What was found of several maps, if these were compared.
    stages : Stages
        Told how far it is.
    """
    stages.say("fitting the release")
    release, people = _release_of(model), vars(prepared.people_new)
    release.fit(model.transform(prepared.X_train), **vars(prepared.people_train))
    stages.say("certifying the release")
    Z = model.transform(prepared.X_new)
    with _nothing_written():
        release.certify(Z, **people, target=target)
    certificate = certificate_of_release(make_pipeline(model, release), prepared.X_new, **people)
    return Promised(release, certificate, release.trade_off(Z, **people), maps)


@contextmanager
def _nothing_written() -> Iterator[None]:
    try:
        yield
    except OutOfReachError as error:
        words = "Nothing was written; a larger --held-out certifies on more rows."
        raise OutOfReachError(f"{error} {words}") from None


def _release_of(model: FairPCA) -> Release:
    """Return a release, not fitted, that compares people as a model does, with its seed."""
    return Release(**{name: getattr(model, name) for name in TERMS}, random_state=model.random_state)


def compared_maps(
    target: float, wanted: FairPCA, prepared: PreparedTable, stages: Stages, share: float = 0.3
) -> tuple[FairPCA, list[dict[str, Any]]]:
    """Return the map whose release keeps most on a part of the rows to fit, not fitted, and what each keeps.

    The rows held out take no part, so that they can certify what was chosen.

    Parameters
    ----------
    target : float
        The promise.
    wanted : FairPCA
        What was asked for, not fitted.
    prepared : PreparedTable
        The rows.
    stages : Stages
        Told how far it is.
    share : float, default=0.3
        Share of the rows to fit that choose; the others fit the maps that are compared.
    """
    choosing = np.random.default_rng(wanted.random_state).uniform(size=len(prepared.X_train)) < share
    fit, choose = np.flatnonzero(~choosing), np.flatnonzero(choosing)
    asked_for_scales = wanted.bandwidth == "scales"
    maps = {
        "fair PCA": clone(wanted).set_params(bandwidth="median") if asked_for_scales else wanted,
        "fair PCA, --scales": wanted if asked_for_scales else clone(wanted).set_params(bandwidth="scales"),
        # Nothing exceeds this tolerance.
        "plain PCA": clone(wanted).set_params(tolerance=LARGEST_MMD2),
    }
    found = []
    for name, model in maps.items():
        stages.say("comparing maps")
        found.append({"map": name} | _kept(target, model, prepared, fit, choose))
    measure = "label_auc" if any(each["label_auc"] is not None for each in found) else "variance_released"
    best = max(found, key=lambda each: -1.0 if each[measure] is None else each[measure])
    for each in found:
        each["chosen"] = each is best
    return maps[best["map"]], found


def _kept(target: float, model: FairPCA, prepared: PreparedTable, fit: IntArray, choose: IntArray) -> dict[str, Any]:
    """Return what a map and its release keep of the rows to choose on, at the level that these would allow."""
    people = [people_at(prepared.people_train, rows) for rows in (fit, choose)]
    own = clone(model).fit(prepared.X_train[fit], **vars(people[0]))
    Z = [own.transform(prepared.X_train[rows]) for rows in (fit, choose)]
    release = _release_of(model).fit(Z[0], **vars(people[0]))
    (kept,) = release.trade_off(Z[1], **vars(people[1]), targets=(target,))
    share = float(own.explained_variance_ratio_.sum())
    return {
        "variance_kept": share,
        "variance_released": None if kept["variance"] is None else share * kept["variance"],
        "n_cells": kept["n_cells"],
        "label_auc": kept["label_auc"],
    }


def show_promise(console: Console, found: Promised) -> None:
    """Print what is promised.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    found : Promised
        The certified release.
    """
    if found.maps:
        _show_maps(console, found.maps)
    console.print(f"\n[bold]The promise[/bold]\n{plain(str(found.certificate))}")
    kept = next(cost["variance"] for cost in found.costs if cost["target"] == found.certificate.target)
    console.print(
        f"It is of the released rows, rounded to {found.certificate.n_cells} cells, which keep {100 * kept:.1f} % of "
        f"the variance of the projections. {SAME_ROWS}"
    )


def _show_maps(console: Console, maps: list[dict[str, Any]]) -> None:
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
