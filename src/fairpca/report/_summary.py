"""From a case to the facts of a report: plain numbers, texts, lists and dicts, and nothing drawn."""
# SPDX-License-Identifier: MIT

import datetime
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fairpca._utils.schema import plain_data
from fairpca.auditing import ADVERSARY_NAMES, AuditResult, Verdict, judge, of_release, task_gap
from fairpca.estimator import FairPCA
from fairpca.metrics import communality
from fairpca.report._case import PLAIN, Case
from fairpca.report._colouring import NO_NAME, Colouring
from fairpca.report._pictures import QUANTILES, densities, drawn_rows, scatter, trade_off
from fairpca.report._words import alerts, comparison_name, limits, notion_words, plain, tolerance_words
from fairpca.versions import environment

OF_MEASURE = (
    "mmd2",
    "chance_level",
    "excess",
    "p_value",
    "p_value_scales",
    "p_value_adjusted",
    "upper_bound",
    "finite_sample_bound",
)
OF_ADVERSARY = ("n_rows", "auc", "balanced_accuracy", "r2", "p_value")
OF_TASK = ("gap", "accuracy", "demographic_parity", "equal_opportunity", "equalized_odds")
PACKAGES = ("fairpca", "numpy", "scipy", "scikit-learn")

# Characters of a line of code, and of a sentence that names many things.
LONG = 1000


def summarise(case: Case) -> dict[str, Any]:
    """Return everything that a report says.

    Parameters
    ----------
    case : Case
        What it is of.
    """
    rows = drawn_rows(case)
    said = judge(case.after.audit)
    if case.release is not None:
        said = of_release(said, case.release.certificate_)
    summary: dict[str, Any] = plain_data(
        {
            "title": plain(case.title),
            "promise": _promise(case),
            "asked": _asked(case),
            "kept": {
                "name": case.before.name,
                "name_in_a_sentence": "plain PCA" if case.before.name == PLAIN else "the other reduction",
                "origin": case.before.origin,
                "before": case.before.variance,
                "after": case.after.variance,
                "fitted": case.model.explained_variance_ratio_.sum(),
            },
            "audit": _findings(case),
            "attributes": [_attribute(colouring, rows) for colouring in case.colours],
            "n_attributes": len(case.compared.known),
            "n_points": len(rows),
            "densities": densities(case),
            "quantiles": QUANTILES,
            "scatter": scatter(case, rows),
            "trade_off": trade_off(case),
            "verdict": _verdict(said),
            "loadings": _loadings(case.model, case.about.features),
            "origin": _origin(case),
            "about": _about(case),
        }
    )
    return summary | {"alerts": alerts(case.model, summary), "limits": limits(summary)}


def summarise_audit(audit: AuditResult, title: str | None) -> dict[str, Any]:
    """Return everything that the page of an audit says.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    title : str or None
        Of the page.
    """
    names = ", ".join(dict.fromkeys(_named(each["attribute"]) for each in audit.measures))
    sizes = ("n_rows", "n_components", "n_permutations", "bandwidth", "confidence")
    found = {
        "measures": [each | {"name": comparison_name(each["name"])} for each in audit.measures],
        "adversaries": [each | _keys(each) for each in audit.adversaries],
        "parity": _with_gaps(audit, audit.origin.terms["fairness"]),
    }
    summary: dict[str, Any] = plain_data(
        {
            "title": plain(title or f"Fairness of reduced data: {names}"),
            "date": datetime.date.today().isoformat(),
            "verdict": _verdict(judge(audit)),
            "audit": found | {name: getattr(audit, name) for name in sizes},
            "origin": {"model_digest": audit.origin.model, "certificate": _certificate(audit)},
        }
    )
    return summary | {"limits": limits(summary)}


def _findings(case: Case) -> dict[str, Any]:
    """Return measures, adversaries and gaps, each before and after."""
    before, after = case.before.audit, case.after.audit
    gaps, gaps_after = (_with_gaps(each, case.model.fairness) for each in (before, after))
    return {
        "measures": [_measure(*records) for records in zip(before.measures, after.measures, strict=True)],
        "adversaries": _pairs(before.adversaries, after.adversaries, ("attribute", "adversary"), OF_ADVERSARY),
        "parity": _pairs(gaps, gaps_after, ("attribute",), OF_TASK),
        "p_value": {"before": before.p_value, "after": after.p_value},
        "confidence": after.confidence,
        "bandwidth": after.bandwidth,
        "n_permutations": after.n_permutations,
        "worst": after.measures.index(after.worst),
        "training_rows": after.origin.training_rows,
    }


def _with_gaps(audit: AuditResult, fairness: Any) -> list[dict[str, Any]]:
    return [each | {"gap": task_gap(each, fairness)} for each in audit.parity]


def _measure(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": comparison_name(after["name"]),
        "attribute": _named(after["attribute"]),
        "among": plain(after["among"]),
        "kind": after["kind"],
        "n_rows": after["n_rows"],
        "sides": after["sides"],
        "before": {name: before[name] for name in OF_MEASURE},
        "after": {name: after[name] for name in OF_MEASURE},
    }


def _named(attribute: str) -> str:
    """Return the name of an attribute, or words for one that has none."""
    return plain(attribute) or NO_NAME


def _pairs(
    before: list[dict[str, Any]], after: list[dict[str, Any]], keys: tuple[str, ...], values: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return records of both audits by what they are of; what one of them lacks is None."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for side, records in (("before", before), ("after", after)):
        for record in records:
            pair = found.setdefault(tuple(record[key] for key in keys), {"before": None, "after": None})
            pair[side] = {name: record[name] for name in values if name in record}
    return [_keys(dict(zip(keys, names, strict=True))) | pair for names, pair in found.items()]


def _keys(record: dict[str, Any]) -> dict[str, Any]:
    """Return what a record is of, in words."""
    keys = {"attribute": _named(record["attribute"])}
    if "adversary" in record:
        keys["adversary"] = ADVERSARY_NAMES[record["adversary"]].removeprefix("a ")
    return keys


def _loadings(model: FairPCA, names: Sequence[str], most: int = 12, components: int = 4) -> dict[str, Any]:
    """Return some loadings of the columns that matter most, named as the model knows them or as is said here."""
    live = model.components_[: max(model.n_live_components_, 1)]
    shares = communality(live)
    known = getattr(model, "feature_names_in_", names)
    order = np.argsort(-shares, kind="stable")[:most]
    return {
        "n_components": min(len(live), components),
        "n_columns": live.shape[1],
        "explained": model.explained_variance_ratio_[:components].tolist(),
        "columns": [
            {
                "name": plain(known[j]) if len(known) == live.shape[1] else f"column {j}",
                "loadings": live[:components, j].tolist(),
                "communality": float(shares[j]),
            }
            for j in order.tolist()
        ],
    }


def _origin(case: Case) -> dict[str, Any]:
    """Return command or lines of Python, versions, seeds and fingerprints."""
    known, installed = case.after.audit.origin, environment()
    return {
        "command": plain(case.about.command, LONG),
        "python": _lines(case),
        "versions": {package: installed["versions"][package] for package in PACKAGES} | {"Python": installed["python"]},
        "random_state": case.random_state,
        "seed": known.seed,
        "model_digest": known.model,
        "rows_digest": known.rows,
        "certificate": _certificate(case.after.audit),
    }


def _lines(case: Case) -> list[str]:
    tables = case.people.tables
    known = (", y" if "y" in tables else "") + "".join(f", {name}=..." for name in tables if name != "y")
    lines = ["from fairpca import FairPCA, FairPCAPath", f"model = {plain(repr(case.model), LONG)}"]
    lines.append(f"model.fit(X_train{known})")
    along = ""
    if case.path is not None:
        lines.append(f"path = {plain(repr(case.path), LONG)}.fit(X_train{known})")
        along = ", path=path"
    return [*lines, f'model.report(X_new{known}{along}, random_state={case.random_state}, file="report.html")']


def _certificate(audit: AuditResult) -> dict[str, Any]:
    """Return the text of the certificate, or why there is none."""
    try:
        certificate = audit.certificate()
    except ValueError as reason:
        return {"granted": False, "text": plain(reason, LONG)}
    measures = [measure | {"name": comparison_name(measure["name"])} for measure in certificate.measures]
    return {"granted": True, "text": str(replace(certificate, measures=measures))}


def _promise(case: Case) -> dict[str, Any] | None:
    """Return what is promised of the release, and what other promises would have cost; None without a release."""
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


def _verdict(said: Verdict) -> dict[str, Any]:
    def shown(value: Any) -> Any:
        if isinstance(value, list):
            return list(map(shown, value))
        return plain(value, LONG) if isinstance(value, str) else value

    return {name: shown(value) for name, value in said.to_dict().items()}


def _asked(case: Case) -> dict[str, Any]:
    model = case.model
    return {
        "data": plain(case.about.data),
        "date": plain(case.about.date) or datetime.date.today().isoformat(),
        "n_rows": len(case.after.Z),
        "n_rows_fitted": model.n_samples_,
        "held_out": case.about.held_out,
        "n_columns": model.n_features_in_,
        "n_components": model.n_components_,
        "n_live_components": model.n_live_components_,
        "weighted": case.people.sample_weight is not None,
        "notion": notion_words(model.fairness),
        "tolerance": tolerance_words(model),
        "left_out": [plain(words) for words in case.compared.left_out],
    }


def _attribute(colouring: Colouring, rows: Any) -> dict[str, Any]:
    return {
        "name": colouring.name,
        "kind": colouring.kind,
        "n_merged": colouring.n_merged,
        "groups": [
            {"label": label, "n_rows": int(count), "n_drawn": int(np.sum(colouring.codes[rows] == k))}
            for k, (label, count) in enumerate(zip(colouring.labels, colouring.counts, strict=True))
        ],
        "codes": colouring.codes[rows].tolist(),
    }


def _about(case: Case, most: int = 100) -> dict[str, Any]:
    about = case.about
    return {
        "notes": [plain(note[:1].upper() + note[1:], LONG) for note in about.notes],
        "left_out": {plain(name): plain(reason) for name, reason in about.left_out.items()},
        "columns": [
            {key: plain(column.get(key, ""), 60) for key in ("name", "kind", "note")}
            for column in list(about.columns)[:most]
        ],
        "n_columns": len(about.columns),
    }
