"""What the audits of both reductions found, side by side."""
# SPDX-License-Identifier: MIT

from typing import Any

from fairpca.auditing import AuditResult
from fairpca.report._case import Case
from fairpca.report._colouring import NO_NAME
from fairpca.report._text import comparison_name, plain

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
OF_TASK = ("accuracy", "demographic_parity", "equal_opportunity", "equalized_odds")
ADVERSARIES = {
    "linear": "linear model",
    "svm": "RBF machine",
    "boosting": "boosted trees",
    "neighbours": "nearest neighbours",
}


def findings(case: Case) -> dict[str, Any]:
    """Return measures, adversaries and gaps, each before and after.

    Parameters
    ----------
    case : Case
        What the report is of.
    """
    before, after = case.before.audit, case.after.audit
    return {
        "measures": _measures(before, after),
        "adversaries": _pairs(before.adversaries, after.adversaries, ("attribute", "adversary"), OF_ADVERSARY),
        "parity": _pairs(before.parity, after.parity, ("attribute",), OF_TASK),
        "p_value": {"before": before.p_value, "after": after.p_value},
        "confidence": after.confidence,
        "bandwidth": after.bandwidth,
        "n_permutations": after.n_permutations,
        "worst": after.measures.index(after.worst),
        "training_rows": after.origin.training_rows,
    }


def _measures(before: AuditResult, after: AuditResult) -> list[dict[str, Any]]:
    return [
        {
            "name": comparison_name(new["name"]),
            "attribute": attribute_name(new["attribute"]),
            "among": plain(new["among"]),
            "kind": new["kind"],
            "n_rows": new["n_rows"],
            "sides": list(new["sides"]),
            "before": {name: old[name] for name in OF_MEASURE},
            "after": {name: new[name] for name in OF_MEASURE},
        }
        for old, new in zip(before.measures, after.measures, strict=True)
    ]


def attribute_name(name: str) -> str:
    """Return the name of an attribute, or words for one that has none."""
    return plain(name) or NO_NAME


def _pairs(
    before: list[dict[str, Any]], after: list[dict[str, Any]], keys: tuple[str, ...], values: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return records of both audits by what they are of; what one of them lacks is None."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for side, records in (("before", before), ("after", after)):
        for record in records:
            pair = found.setdefault(tuple(record[key] for key in keys), {"before": None, "after": None})
            pair[side] = {name: record[name] for name in values if name in record}
    return [_named(dict(zip(keys, names, strict=True))) | pair for names, pair in found.items()]


def _named(keys: dict[str, Any]) -> dict[str, Any]:
    named = {"attribute": attribute_name(keys["attribute"])}
    return named | ({"adversary": ADVERSARIES[keys["adversary"]]} if "adversary" in keys else {})
