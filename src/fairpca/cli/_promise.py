"""fairpca fit --promise: a release of the projections, certified on the rows held out."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from sklearn.pipeline import make_pipeline

from fairpca import FairPCA, Release
from fairpca._utils.checks import check_number
from fairpca.auditing import PromiseCertificate, certificate_of_release
from fairpca.cli._maps import show_maps
from fairpca.cli._options import FitTerms, names
from fairpca.cli._output import Stages, plain
from fairpca.cli._study import known
from fairpca.exceptions import OutOfReachError
from fairpca.tables import PreparedTable

FILES = {
    "release": "release.fairpca",
    "release rows": "release.fairpca.rows",
    "released": "released.csv",
    "promise": "promise.json",
}
"""What is written for a promise, and what it is called."""

TERMS = ("fairness", "favourable", "sensitive", "min_group_size", "small_groups", "missing", "attribute_error")

NOTHING = "Nothing was written; a larger --held-out certifies on more rows."

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


def check_promise(target: float | None, asked: FitTerms, compare_maps: bool) -> None:
    """Refuse promises that cannot be made, before any work.

    Parameters
    ----------
    target : float or None
        The largest gap of any decision.
    asked : FitTerms
        What is asked of the fit.
    compare_maps : bool
        Whether several maps are compared.
    """
    if target is None:
        if compare_maps:
            raise ValueError("--compare-maps chooses the map of a release: say with --promise what is promised.")
        return
    check_number("promise", target, above=0.0, below=1.0)
    if names(asked.continuous):
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
    try:
        release_of(model).check_target(prepared.X_new, **known(prepared.people_new), target=target)
    except OutOfReachError as error:
        raise OutOfReachError(f"{error} {NOTHING}") from None


def promised(
    target: float,
    model: FairPCA,
    prepared: PreparedTable,
    seed: int,
    stages: Stages,
    maps: list[dict[str, Any]],
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
    seed : int
        Draws first centres.
    stages : Stages
        Told how far it is.
    maps : list of dict
        What was found of several maps, if these were compared.
    """
    stages.say("fitting the release")
    release, people = release_of(model, seed), known(prepared.people_new)
    release.fit(model.transform(prepared.X_train), **known(prepared.people_train))
    stages.say("certifying the release")
    Z = model.transform(prepared.X_new)
    try:
        release.certify(Z, **people, target=target)
    except OutOfReachError as error:
        raise OutOfReachError(f"{error} {NOTHING}") from None
    certificate = certificate_of_release(make_pipeline(model, release), prepared.X_new, **people)
    return Promised(release, certificate, release.trade_off(Z, **people), maps)


def release_of(model: FairPCA, seed: int = 0) -> Release:
    """Return a release, not fitted, that compares people as a model does.

    Parameters
    ----------
    model : FairPCA
        The model.
    seed : int, default=0
        Draws first centres.
    """
    return Release(**{name: getattr(model, name) for name in TERMS}, random_state=seed)


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
        show_maps(console, found.maps)
    console.print(f"\n[bold]The promise[/bold]\n{plain(str(found.certificate))}")
    kept = next(cost["variance"] for cost in found.costs if cost["target"] == found.certificate.target)
    console.print(
        f"It is of the released rows, rounded to {found.certificate.n_cells} cells, which keep {100 * kept:.1f} % of "
        f"the variance of the projections. {SAME_ROWS}"
    )


def write_promise(found: Promised | None, folder: Path) -> dict[str, str]:
    """Write the certificate, or remove what another fit has left.

    Parameters
    ----------
    found : Promised or None
        The certified release, if one was asked for.
    folder : Path
        Where to.

    Returns
    -------
    files : dict of str to str
        What is, or will be, where.
    """
    files = {what: folder / name for what, name in FILES.items()}
    if found is None:
        for path in files.values():
            path.unlink(missing_ok=True)
        return {}
    found.certificate.save(files["promise"])
    return {what: str(path) for what, path in files.items()}
