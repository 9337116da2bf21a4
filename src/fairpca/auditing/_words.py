"""What an audit found, in plain words with their limits."""
# SPDX-License-Identifier: MIT

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult


def text_of(audit: "AuditResult") -> str:
    """Return the findings as text.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    """
    lines = [] if audit.any_classifier is None else [str(audit.any_classifier), ""]
    lines += [
        f"Audit of {audit.n_rows} rows that were not used to fit, as the caller says: {audit.n_components} components, "
        f"bandwidth {audit.bandwidth:.4g}.",
        "",
    ]
    for measure in audit.measures:
        lines += [*_of_measure(measure, audit.confidence), ""]
    if audit.adversaries:
        lines += ["Adversaries, trained on half of the rows and scored on the others:"]
        lines += [f"  {_of_adversary(record)}" for record in audit.adversaries] + [""]
    for record in audit.parity:
        lines += [_of_task(record), ""]
    return "\n".join([*lines, verdict(audit)])


def verdict(audit: "AuditResult") -> str:
    """Return what follows from all findings.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    """
    alpha = 1.0 - audit.confidence
    telling = [r for r in audit.adversaries if r["p_value"] * len(audit.adversaries) < alpha]
    found = [f"the groups differ more than chance shows (p = {_p(audit.p_value)} for all measures and scales together)"]
    found = found if audit.p_value < alpha else []
    if telling:
        best = min(telling, key=lambda record: record["p_value"])
        found.append(f"{_adversary(best)} reads {best['attribute'] or 'the attribute'} from it ({_score(best)})")
    if found:
        return f"Verdict: this projection still tells who is who: {'; '.join(found)}."
    limit = (
        "" if math.isnan(audit.upper_bound) else f" What can be said is that MMD^2 is at most {audit.upper_bound:.2g}."
    )
    return (
        "Verdict: no difference was found beyond chance. That is no proof of none: with more rows a smaller one would "
        f"show.{limit}"
    )


def _of_measure(measure: dict[str, Any], confidence: float) -> list[str]:
    rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
    lines = [
        f"{measure['name']} ({rows} rows): MMD^2 is {measure['mmd2']:.2g}; {measure['chance_level']:.2g} is what "
        f"chance shows; excess {measure['excess']:.2g}.",
        f"  p = {_p(measure['p_value'])} at this bandwidth, {_p(measure['p_value_scales'])} over scales from a quarter "
        f"to twice of it, {_p(measure['p_value_adjusted'])} with all measures counted.",
    ]
    percent = f"{100 * confidence:g} %"
    if math.isnan(measure["upper_bound"]):
        lines.append(
            f"  Fewer than 10 rows on a side: nothing can be said of the population with {percent} confidence."
        )
    else:
        always = measure["finite_sample_bound"]
        beside = "" if math.isnan(always) else f" ({always:.2g} by a bound that holds for any number of rows)"
        lines.append(
            f"  With {percent} confidence the MMD^2 of the population is at most {measure['upper_bound']:.2g}{beside}."
        )
    return lines


def _of_adversary(record: dict[str, Any]) -> str:
    attribute = f" of {record['attribute']}" if record["attribute"] else ""
    return f"{_adversary(record)}{attribute}: {_score(record)}, p = {_p(record['p_value'])} on {record['n_rows']} rows"


def _of_task(record: dict[str, Any]) -> str:
    attribute = f" by {record['attribute']}" if record["attribute"] else ""
    return (
        f"A logistic regression of the labels is right on {100 * record['accuracy']:.1f} % of the rows; gaps"
        f"{attribute}: {record['demographic_parity']:.3f} in positive predictions, "
        f"{record['equal_opportunity']:.3f} among those of the positive label, "
        f"{record['equalized_odds']:.3f} at most within a label."
    )


def _adversary(record: dict[str, Any]) -> str:
    return {"linear": "linear model", "svm": "RBF machine", "neighbours": "nearest neighbours"}.get(
        record["adversary"], str(record["adversary"])
    )


def _score(record: dict[str, Any]) -> str:
    if "r2" in record:
        return f"R^2 {record['r2']:.3f}"
    return f"AUC {record['auc']:.3f}, balanced accuracy {record['balanced_accuracy']:.3f}"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.1g}"
