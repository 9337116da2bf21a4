"""What is said of a fit, in plain words."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca.fitting._tracer import FLOOR
from fairpca.solvers import FitResult, Status


def summary_of(model: Any) -> str:
    """Return what a model has learned, in a few plain sentences.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    """
    kept = model.explained_variance_ratio_.sum()
    n_live = model.n_live_components_
    lines = [f"{n_live} {'component keeps' if n_live == 1 else 'components keep'} {100 * kept:.1f} % of the variance."]
    for measure in model.measures_:
        rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
        lines.append(
            f"{measure['name']}: training MMD^2 is {measure['mmd2']:.2g} (tolerance {measure['tolerance']:.2g}); on as "
            f"many new people expect about {measure['expected_mmd2_new']:.2g}; random groups of this size ({rows} "
            f"rows) would differ by about {measure['chance_level']:.2g}."
        )
    is_auto = isinstance(model.tolerance, str)
    if model.measures_ and model.result_.status is Status.PCA_IS_FAIR:
        little = "its groups differ by no more than random groups would, or by less than one point"
        reason = little if is_auto else "it meets the tolerance"
        lines.append(f"This is plain PCA: {reason}.")
    elif is_auto and any(measure["tolerance"] == FLOOR for measure in model.measures_):
        lines.append(
            f"Tolerances go no lower than {FLOOR:g}: there no smooth score, with values between -1 and 1, has group "
            "means more than 0.01 apart, one point."
        )
    if not model.converged_:
        lines.append(f"Not what was asked for: {model.result_.message}.")
    if hasattr(model, "projected_covariance_"):
        lines += loading_columns(model)
    return "\n".join(lines)


def loading_columns(model: Any, most: int = 4, least: float = 0.3) -> list[str]:
    """Return a line for each component that carries variance, with the columns that load most.

    Parameters
    ----------
    model : LinearProjection
        A fitted model.
    most : int, default=4
        Columns at most.
    least : float, default=0.3
        Loading that a column needs beside the largest one.
    """
    names = getattr(model, "feature_names_in_", [f"column {j}" for j in range(model.n_features_in_)])
    lines = []
    for number in range(model.n_live_components_):
        loadings = model.components_[number]
        order = np.argsort(-np.abs(loadings), kind="stable")[:most]
        named = [f"{loadings[j]:+.2f} {names[j]}" for j in order if j == order[0] or abs(loadings[j]) >= least]
        share = 100 * model.explained_variance_ratio_[number]
        lines.append(f"{model.get_feature_names_out()[number]} ({share:.1f} % of the variance): {', '.join(named)}.")
    return lines


def words_on_failure(result: FitResult, n_components: int, measure: str | None) -> str:
    """Return why a fit is not what was asked for, and the way out.

    Parameters
    ----------
    result : FitResult
        The record of the fit.
    n_components : int
        d.
    measure : str or None
        What the measure with the largest ratio h / tau compares, where there are several.
    """
    if result.meets:
        return (
            f"FairPCA met tolerance={result.tolerance:g} but stopped before the answer was stationary "
            f"({result.message})."
        )
    advice = "raise tolerance above it"
    if n_components > 1:
        advice += " or ask for fewer components"
    if result.largest_feasible_components:
        advice += f"; {result.largest_feasible_components} met the tolerance in a trial with this bandwidth"
    of_measure = f" of {measure}" if measure else ""
    return (
        f"FairPCA did not meet tolerance={result.tolerance:g}: MMD^2{of_measure} is {result.mmd2:.3g} after "
        f"{len(result.steps)} steps ({result.message}). The smallest MMD^2 found at this number of components is "
        f"{result.smallest_mmd2:.3g}: {advice}."
    )


def words_on_strictness(result: FitResult, chance_level: float) -> str:
    """Return what it means that a tolerance is far below the chance level.

    Parameters
    ----------
    result : FitResult
        The record of the fit.
    chance_level : float
        What random groups of these sizes differ by on average.
    """
    return (
        f"tolerance={result.tolerance:g} is less than a twentieth of {chance_level:.2g}, by which random groups of "
        "these sizes would differ. So strict a tolerance fits single rows: it promises nothing more of new people, "
        'and the answer is one local optimum of many. tolerance="auto" asks for half of that level.'
    )


def words_on_null_components(n_live: int, n_components: int, result: FitResult) -> str:
    """Return what it means that some components carry no variance.

    Parameters
    ----------
    n_live, n_components : int
        How many do, of how many.
    result : FitResult
        The record of the fit.
    """
    if n_live == 0:
        return (
            f"no component carries variance: the projection is 0 on every row, which meets tolerance="
            f'{result.tolerance:g} and keeps nothing. Raise it, or use solver="budget", which keeps one at least.'
        )
    verb = "carries" if n_live == 1 else "carry"
    return (
        f"{n_live} of {n_components} components {verb} variance: at tolerance={result.tolerance:g} more of them would "
        "keep less. Use solver=Budget(allow_null=False) for components that all do."
    )


def words_on_shrinking(shrinking: float) -> str:
    """Return what it means that components lie partly in directions in which rows do not differ.

    Parameters
    ----------
    shrinking : float
        The share of the most shrunk component outside of them.
    """
    return (
        f"only {100 * shrinking:.0f} % of a component lies in directions in which rows differ: its projections are "
        "shrunk, which lowers MMD^2 at this bandwidth. Whoever scales them up again sees more of the groups; a larger "
        "tolerance or fewer components need no shrinking."
    )


def words_on_error(result: FitResult, n_rows: int) -> str:
    """Return what it means that MMD^2 is known less accurately than the tolerance calls for.

    Parameters
    ----------
    result : FitResult
        The record of the fit.
    n_rows : int
        Number of rows.
    """
    return (
        f"MMD^2 is {result.mmd2:.3g}, known to within {result.mmd2_error:.1g} only, more than a hundredth of tolerance="
        f"{result.tolerance:g}: {n_rows} rows are too many to compare all pairs of them, and neither features nor a "
        'sample say more. A larger tolerance needs less accuracy; mmd="exact" compares all pairs, which takes long.'
    )
