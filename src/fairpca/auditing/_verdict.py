"""The verdict of an audit: is it fair enough, by which promise, how sure, for whom, and what to do next."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from scipy.stats import norm

from fairpca.auditing._adversaries import LEARNABLE
from fairpca.release import least_bound

ADVERSARY_NAMES = {
    "linear": "a linear model",
    "svm": "a support vector machine",
    "boosting": "boosted trees",
    "neighbours": "nearest neighbours",
}


@dataclass(frozen=True)
class Verdict:
    """What follows from an audit.

    Attributes
    ----------
    fair : bool or None
        True where no gap between groups is above the limit as far as the promise goes, False where one is, None where
        these rows cannot say.
    answer : str
        Is it fair enough?
    promise : str
        Against whom it holds.
    certainty : str
        How sure is it?
    people : str
        For whom does it hold?
    findings : sequence of str
        One sentence for each attribute.
    steps : sequence of str
        What to do next, in order.
    at_most : float
        No gap that was looked at is larger, with the confidence of the audit; nan where that is not known.
    """

    fair: bool | None
    answer: str
    promise: str
    certainty: str
    people: str
    findings: Sequence[str]
    steps: Sequence[str]
    at_most: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain types."""
        return asdict(self)

    def __str__(self) -> str:
        lines = [f"Verdict: {self.answer}", *(f"  {each}" for each in self.findings), self.promise]
        lines += [f"How sure: {self.certainty}", f"For whom: {self.people}"]
        return "\n".join([*lines, *(f"What next, {k}: {step}" for k, step in enumerate(self.steps, 1))])


def judge(audit: Any, limit: float = 0.1) -> Verdict:
    r"""Judge an audit by the size of what can be predicted, and by how sure that is.

    Everything is a gap between groups: of a decision the difference of its rates, of a smooth score with values
    between -1 and 1 the difference of its means. An adversary with balanced accuracy b and AUC a shows a gap of at
    least max(2 b - 1, 1 - \sqrt{2 - 2 a}), one that predicts an amount a correlation of \sqrt{R^2}. Smooth scores have
    gaps of at most \sqrt U, where U is the bound on MMD^2; of amounts 2 \sqrt U, where U bounds HSIC, for two groups
    that are coded as -1 and 1 have twice the gap of their covariance.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    limit : float, default=0.1
        The largest gap that is fair enough. Ten points are the usual limit of the field, for example in AIF360.
    """
    found = _attributes(audit, limit)
    if audit.origin.training_rows:
        return Verdict(
            None,
            "Not known. These look like rows of the fit, which say nothing of new people.",
            "Promise: none.",
            "not at all, for what rows of the fit show is smaller than what new people will.",
            "nobody but the people of the fit.",
            [each.sentence(audit) for each in found],
            ["Audit rows that were held out."],
            math.nan,
        )
    fair = _together([each.fair for each in found])
    return Verdict(
        fair,
        _answer(found, fair, limit),
        _promise(audit),
        _certainty(audit, found),
        _people(audit),
        [each.sentence(audit) for each in found],
        list(_steps(audit, found, fair, limit)),
        _largest(found),
    )


def of_release(verdict: Verdict, bound: Any, limit: float = 0.1) -> Verdict:
    """Return the verdict on what is released of audited projections.

    Parameters
    ----------
    verdict : Verdict
        Of the projections.
    bound : AnyClassifierBound
        What was certified of the release.
    limit : float, default=0.1
        As in `judge`.
    """
    fair = True if bound.upper_bound <= limit else None
    most = f"no decision made from it alone, by any classifier, has a gap above {points(bound.upper_bound)} points"
    opening = "What is released is fair enough" if fair else "What is released is not shown to be fair"
    most += "" if fair else f", but one above {points(limit)} points is not ruled out"
    return replace(
        verdict,
        fair=fair,
        answer=f"{opening}: {most}. Of the projections before the release: {verdict.answer}",
        promise=bound.promise,
        certainty=f"with {100 * bound.confidence:g} % confidence, for all classifiers at once.",
        findings=[f"Before the release, {each}" for each in verdict.findings],
        steps=["Hand on the released rows only, not the projections.", *([] if fair else verdict.steps)],
        at_most=bound.upper_bound,
    )


def revealed(audit: Any, limit: float = 0.1) -> list[str]:
    """Return the attributes that are revealed with a gap above the limit.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    limit : float, default=0.1
        As in `judge`.
    """
    return [each.key for each in _attributes(audit, limit) if each.fair is False]


def _attributes(audit: Any, limit: float) -> list["_Attribute"]:
    names = dict.fromkeys([*_of(audit.measures), *_of(audit.adversaries)])
    return [_Attribute(name, audit, limit) for name in names]


def _largest(found: Sequence["_Attribute"]) -> float:
    known = [gap for each in found for gap in (each.smooth, each.at_most)]
    known += [each.task_at_most for each in found if not math.isnan(each.task)]
    return math.nan if any(map(math.isnan, known)) else max(known)


def _of(records: Iterable[dict[str, Any]]) -> list[str]:
    return [record["attribute"] for record in records]


def _together(answers: Sequence[bool | None]) -> bool | None:
    return False if False in answers else None if None in answers else True


class _Attribute:
    """What is known of the gaps between the groups of one attribute; nan is not known."""

    def __init__(self, key: str, audit: Any, limit: float) -> None:
        self.key, self.name = key, key or "the attribute"
        alpha = 1.0 - audit.confidence
        measures = [each for each in audit.measures if each["attribute"] == key]
        tried = [each for each in audit.adversaries if each["attribute"] == key]
        bounds, unbiased = ([each[name] for each in measures] for name in ("upper_bound", "unbiased"))
        times = 2.0 if any(each["kind"] == "continuous" for each in measures) else 1.0
        unknown = not bounds or any(map(math.isnan, bounds))
        self.smooth = math.nan if unknown else times * math.sqrt(max(bounds))
        self.excess = times * math.sqrt(max([0.0, *unbiased]))
        self.p_value = min((each["p_value_adjusted"] for each in measures), default=1.0)
        self.best = max(tried, key=gap_of, default=None)
        self.shown = 0.0 if self.best is None else gap_of(self.best)
        sampling = alpha - max((each["doubt"] for each in measures), default=0.0)
        share = sampling / max(len(tried), 1)
        self.width = max((_width(each, measures, share) for each in tried), default=math.nan)
        # What does not even rank people rightly has a gap of 0, however small its p-value.
        right = [each["p_value"] for each in tried if gap_of(each) > 0.0]
        self.sees = bool(right) and min(right) * len(audit.adversaries) < alpha
        self.task, width = _task(key, audit, measures, share)
        bound = math.inf if audit.any_classifier is None else audit.any_classifier.upper_bound
        self.at_most = bound if math.isnan(self.width) and bound < math.inf else min(self.shown + self.width, bound)
        self.task_at_most = min(self.task + width, bound)
        by_test = self.excess > limit and self.p_value < alpha
        reveals = (self.shown > limit and self.sees) or by_test or self.task - width > limit
        within = self.smooth <= limit and self.shown + self.width <= limit and not self.task + width > limit
        self.fair = True if within or bound <= limit else False if reveals else None
        self.is_finer = all(each["p_value"] >= alpha for each in measures if each["p_value_adjusted"] < alpha)
        # Of more than two groups adversaries are judged by means over groups.
        compared = {each["name"].removesuffix(f" among {each['among']}") for each in measures}
        self.mean = " in the mean over groups" if len(compared) > 1 else ""

    def sentence(self, audit: Any) -> str:
        """Say what was found, with its size first and whether it is detectable last."""
        detected = self.p_value < 1.0 - audit.confidence
        if math.isnan(self.smooth):
            size = "The groups have too few rows for a bound on smooth scores."
        else:
            about = f"about {points(self.excess)} points, " if detected and self.excess > 0.0 else ""
            size = f"Smooth scores differ by {about}at most {points(self.smooth)} points."
        if not math.isnan(self.task):
            most = "" if math.isnan(self.task_at_most) else f", at most {points(self.task_at_most)}"
            size += f" Predictions of the label have a gap of {points(self.task)} points{most}."
        test = "detects a difference" if detected else "detects no difference"
        test += " finer than the kernel width of the fit" if detected and self.is_finer else ""
        test += " of a size that the limit allows" if detected and self.fair else ""
        return f"{self.name}: {self._read(audit)} {size} The permutation test {test} (p = {brief(self.p_value)})."

    def _read(self, audit: Any) -> str:
        if self.best is None:
            return "No adversary was tried." if _learnable(audit) else "The groups have too few rows for adversaries."
        if "r2" in self.best:
            score, gap = f"R² {self.best['r2']:.3f}, 0 is guessing", f"a correlation of {points(self.shown)} points"
        else:
            score, gap = (
                f"AUC {self.best['auc']:.3f}, 0.5 is guessing",
                f"a gap of {points(self.shown)} points{self.mean}",
            )
        who = ADVERSARY_NAMES[self.best["adversary"]]
        if not self.sees:
            most = f"({score}), at most {points(self.at_most)}"
            return f"No adversary predicts it beyond chance; the best, {who}, shows {gap} {most}."
        verb = "predict" if self.best["adversary"] in ("boosting", "neighbours") else "predicts"
        return f"{who[:1].upper()}{who[1:]} {verb} it best ({score}): {gap}, at most {points(self.at_most)}."


def gap_of(record: dict[str, Any]) -> float:
    """Return the gap between groups that an adversary shows, see `judge`.

    Parameters
    ----------
    record : dict
        One of `AuditResult.adversaries`.
    """
    if "r2" in record:
        return math.sqrt(max(record["r2"], 0.0))
    by_auc = 1.0 - math.sqrt(2.0 - 2.0 * max(record["auc"], 0.5))
    return max(2.0 * record["balanced_accuracy"] - 1.0, by_auc, 0.0)


def _width(record: dict[str, Any], measures: Sequence[dict[str, Any]], alpha: float) -> float:
    """Return by how much a gap may be larger than rows show it, with probability 1 - alpha; normal limit."""
    z = float(norm.isf(alpha)) * max((each["correction"] for each in measures), default=1.0)
    if "r2" in record:
        return z / math.sqrt(record["n_rows"])
    shares = [side / sum(each["sides"]) for each in measures for side in each["sides"]] or [0.5]
    smaller = min(max(min(shares), 1.0 / record["n_rows"]), 0.5)
    return z * 0.5 * math.sqrt((1.0 / smaller + 1.0 / (1.0 - smaller)) / record["n_rows"])


def _task(name: str, audit: Any, measures: Sequence[dict[str, Any]], alpha: float) -> tuple[float, float]:
    """Return the gap of predictions of a label that the notion speaks of, and by how much it may be larger."""
    gaps = next((each for each in audit.parity if each["attribute"] == name), None)
    if gaps is None:
        return math.nan, math.nan
    # Of two of the groups, the smallest at worst.
    sizes = sorted(side for each in measures for side in each["sides"] if side)[:2]
    width = float(norm.isf(alpha)) * 0.5 * math.sqrt(sum(1.0 / size for size in sizes)) if sizes else math.nan
    return task_gap(gaps, audit.origin.terms["fairness"]), width


def task_gap(record: dict[str, Any], notion: Any) -> float:
    """Return the gap of predictions of a label of which a notion of fairness speaks.

    Parameters
    ----------
    record : dict
        One of `AuditResult.parity`.
    notion : str or object
        A notion of an author's own is judged by the gap in positive predictions.
    """
    gap = record[notion if isinstance(notion, str) else "demographic_parity"]
    return math.nan if gap is None else float(gap)


def _learnable(audit: Any) -> bool:
    """Tell whether adversaries can learn of each comparison."""
    return all(min(each["sides"] or [each["n_rows"] // 2]) >= LEARNABLE for each in audit.measures)


def _answer(found: Sequence[_Attribute], fair: bool | None, limit: float) -> str:
    most = f"{points(limit)} points"
    if fair:
        return f"Fair enough for {_listed(found)}: no gap between groups is above {most}, as far as the promise goes."
    parts = {answer: [each for each in found if each.fair is answer] for answer in (False, None, True)}
    if fair is None:
        rest = f" It is fair enough for {_listed(parts[True])}." if parts[True] else ""
        return f"Not shown to be fair for {_listed(parts[None])}: these rows cannot rule out a gap above {most}.{rest}"
    said = f"Not fair enough: the data reveal {_listed(parts[False])}, with a gap above {most}."
    said += f" For {_listed(parts[None])} these rows cannot say." if parts[None] else ""
    return said + (f" It is fair enough for {_listed(parts[True])}." if parts[True] else "")


def _listed(found: Sequence[_Attribute]) -> str:
    return listed([each.name for each in found])


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _promise(audit: Any) -> str:
    if audit.any_classifier is not None:
        most = points(audit.any_classifier.upper_bound)
        return f"Promise: no decision made from these data alone, by any classifier, has a gap above {most} points."
    tried = list(dict.fromkeys(ADVERSARY_NAMES[record["adversary"]] for record in audit.adversaries))
    also = f" and of the adversaries tried ({', '.join(tried)})" if tried else ""
    return f"Promise: it speaks of smooth scores (the bound on MMD²){also}; it is no promise about every classifier."


def _certainty(audit: Any, found: Sequence[_Attribute]) -> str:
    sure = f"{100 * audit.confidence:g} %"
    if audit.any_classifier is not None:
        return f"with {sure} confidence, for all classifiers at once."
    smooth = [each.smooth for each in found if not math.isnan(each.smooth)]
    predicted = [each.at_most for each in found if not math.isnan(each.at_most)]
    known = [f"gaps of smooth scores are at most {points(max(smooth))} points"] if smooth else []
    known += [f"gaps of the adversaries at most {points(max(predicted))} points"] if predicted else []
    task = [each.task_at_most for each in found if not math.isnan(each.task_at_most)]
    known += [f"gaps in predictions of the label at most {points(max(task))} points"] if task else []
    return f"with {sure} confidence {listed(known)}." if known else "these groups are too small to say anything."


def _people(audit: Any) -> str:
    names = [measure["name"] for measure in audit.measures]
    more = f" and {len(names) - 3} more comparisons" if len(names) > 3 else ""
    corrected = any(measure["correction"] > 1.0 for measure in audit.measures)
    true = ", by the true groups where rates of errors were given" if corrected else ""
    return (
        f"people like the {audit.n_rows:,} audited, drawn in the same way. Compared: {'; '.join(names[:3])}{more}"
        f"{true}. It says nothing of single people."
    )


def _steps(audit: Any, found: Sequence[_Attribute], fair: bool | None, limit: float) -> Iterator[str]:
    if fair:
        yield "Save the certificate, and audit again after every new fit."
        return
    yield from audit.remedies
    if audit.any_classifier is None and fair is False:
        yield from _on_promise(audit, [each.key for each in found if each.fair is False])
    alpha = 1.0 - audit.confidence
    fine = [each for each in audit.measures if each["p_value_adjusted"] < alpha <= each["p_value"]]
    if fine:
        p, scales = (brief(min(each[name] for each in fine)) for name in ("p_value", "p_value_adjusted"))
        yield (
            'Fit with several kernel widths (bandwidth="scales", --scales): the difference is finer than the width of '
            f"the fit (p = {p} at it, {scales} over all scales)."
        )
    if not audit.adversaries and audit.any_classifier is None and _learnable(audit):
        yield "Audit with adversaries: bounds on smooth scores say nothing of them."
    unsure = [each for each in found if each.fair is None]
    # What adversaries show by chance lies half as far above 0 again.
    parts = [each / limit for one in unsure for each in (one.smooth, 1.5 * one.width) if not math.isnan(each)]
    if parts:
        rows = _round(audit.n_rows * max(2.0, max(parts) ** 2))
        names = " and ".join(each.name for each in unsure)
        yield (
            f"Audit more people: about {rows:,} (now {audit.n_rows:,}) can show that no gap for {names} is above "
            f"{points(limit)} points, if there is none."
        )
    elif unsure:
        yield f"Audit more people than these {audit.n_rows:,}, with at least 40 of each group."


def _on_promise(audit: Any, attributes: Sequence[str]) -> Iterator[str]:
    sides = [measure["sides"] for measure in audit.measures if measure["attribute"] in attributes]
    if not sides or not all(len(each) == 2 and min(each) > 0 for each in sides):
        return
    least = max(least_bound(m, n, audit.confidence, 2) for m, n in sides)
    of = f" of {' and '.join(attributes)}" if len(dict.fromkeys(_of(audit.measures))) > 1 else ""
    if least < 1.0:
        yield (
            "Release cells in place of coordinates (fairpca.Release, fairpca fit --promise): a bound for every "
            f"classifier{of}. The least gap that it can promise on rows like these is {points(least)} points."
        )


def points(gap: float) -> str:
    """Return a gap in points, hundredths, with two digits that count.

    Parameters
    ----------
    gap : float
        Between 0 and 1.

    Examples
    --------
    >>> points(0.1), points(0.2537), points(0.0043)
    ('10', '25', '0.43')
    """
    return f"{100 * gap:.0f}" if gap >= 0.0995 else f"{100 * gap:.2g}"


def _round(number: float) -> int:
    power = 10 ** max(0, math.floor(math.log10(number)) - 1)
    return int(math.ceil(number / power) * power)


def brief(value: float) -> str:
    """Return a p-value with as many digits as matter."""
    return f"{value:.3f}" if value >= 1e-3 else f"{value:.1g}"
