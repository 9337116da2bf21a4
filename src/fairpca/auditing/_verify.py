"""A certificate checked on anyone's rows, and whether it holds in plain words."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter
from typing import Any

from sklearn.utils.validation import check_random_state

from fairpca._utils.progress import say_with
from fairpca.auditing._adversaries import check_adversaries
from fairpca.auditing._audit import Settings, audited
from fairpca.auditing._certificate import (
    Certificate,
    PromiseCertificate,
    installed,
    rows_of,
    told_apart,
    why_not_new,
)
from fairpca.auditing._promise import bound_of_rows, digest_of, numbers_of, with_kinds_detected
from fairpca.auditing._reduction import model_digest, overlap_of, projections
from fairpca.auditing._result import AuditResult
from fairpca.comparison import People, Terms, check_same_rows
from fairpca.inference import LEAST_ROWS
from fairpca.release import AnyClassifierBound, Sides, sides_of
from fairpca.rows import Overlap

SAME = 1e-4
"""Numbers that agree to this part of U are the same: other machines add in another order."""

OF_ROWS = ("mmd2", "unbiased", "chance_level", "finite_sample_bound")
"""Findings that depend on rows and bandwidth alone."""


@dataclass(frozen=True)
class Verification:
    """What rows say of a certificate.

    Attributes
    ----------
    holds : bool
        Whether these rows, with this model, show what was certified.
    differences : list of str
        Why not: a sentence for each reason.
    same_model : bool or None
        Whether it is the model that was certified; None of what is known by its name only.
    same_rows : bool or None
        Whether they are the rows that were audited, in their order; None where that is unknown.
    upper_bound : float
        U of the worst measure, from these rows; of the audited rows of a release, which chose its level, the target.
    mmd2 : float or None
        MMD^2 of the same measure; None of a release.
    certified : float
        The U of the certificate, or the target of a release.
    confidence : float
        Of both.
    n_rows : int
        Rows that were looked at.
    overlap : Overlap or None
        How many of them were in the fit; None where that could not be checked.
    failed : str
        That and how groups can be told apart, by the certificate or on these rows; empty where they cannot.
    audit : AuditResult or None
        The audit of these rows; None of a release.
    """

    holds: bool
    differences: list[str]
    same_model: bool | None
    same_rows: bool | None
    upper_bound: float
    mmd2: float | None
    certified: float
    confidence: float
    n_rows: int
    overlap: Any = None
    failed: str = ""
    audit: "AuditResult | None" = None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain types, without the audit."""
        return asdict(replace(self, audit=None)) | {"audit": None if self.audit is None else self.audit.to_dict()}

    def __str__(self) -> str:
        which = {True: "the audited rows", False: "other rows than the audited", None: "whether audited is not known"}
        rows = f"{self.n_rows} rows ({which[self.same_rows]})"
        if not self.holds:
            reasons = [*self.differences, *([self.failed] if self.failed else [])]
            return "\n".join([f"NOT confirmed by {rows}:", *(f"  - {sentence}" for sentence in reasons)])
        what = "a distance between groups" if self.mmd2 is None else "an MMD^2"
        whose = "it is of this name, as the caller says" if self.same_model is None else "it is this model"
        trusted = "" if self.overlap is not None else " That they were not in the fit is what the caller says."
        failed = f" But {self.failed[0].lower()}{self.failed[1:]}" if self.failed else ""
        return (
            f"The certificate holds: {whose}, and {rows} show {what} of at most {self.upper_bound:.2g} with "
            f"{100 * self.confidence:g} % confidence, where {self.certified:.2g} was certified.{trusted}{failed}"
        )


def verify(
    certificate: Certificate | PromiseCertificate,
    model: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    fitted_rows: Any = None,
    trust_rows: bool = False,
    random_state: Any = None,
) -> Verification:
    """Show again what a certificate says, or say why not.

    Parameters
    ----------
    certificate : Certificate or PromiseCertificate
        What was certified, see `fairpca.load_certificate`.
    model : fitted transformer, array-like of shape (n_components, n_features) or None
        The model that it is said to be of; of a release, the pipeline that ends in it. None where `X` holds reduced
        rows, of a certificate by name.
    X : array-like, or Dask array or frame, of shape (n_samples, n_features)
        Rows that were used neither to fit nor to choose it: the audited ones or others.
    y : array-like of shape (n_samples,), default=None
        Labels, where the certified notion of fairness speaks of them.
    sensitive_features, control_features, sample_weight, fitted_rows
        See `fairpca.audit`.
    trust_rows : bool, default=False
        Where it cannot be checked that the rows were not in the fit, take your word for it; without, they confirm
        nothing.
    random_state : int, RandomState instance or None, default=None
        None draws what the audit has drawn: the same rows give the same numbers. Others move bounds by a percent or
        two.

    Returns
    -------
    verification : Verification
        Whether it holds; `print` it.

    Notes
    -----
    That other rows do not confirm a certificate is no proof against it: their own bound is a matter of chance, too, and
    fewer rows show less. What they say is in `differences`.
    """
    if not isinstance(certificate, Certificate | PromiseCertificate):
        raise TypeError(
            f"certificate must be a Certificate, as fairpca.load_certificate reads it from a file; got "
            f"{type(certificate).__name__}."
        )
    digest = model_digest(model)
    if digest is None and (isinstance(certificate, PromiseCertificate) or certificate.model is not None):
        raise TypeError(
            f"model must be what was certified: a fitted estimator, a certified release of cells, a pipeline of such "
            f"steps or an array of components, which have fingerprints; got {type(model).__name__}."
        )
    people = People(sensitive_features, y, control_features, sample_weight)
    if isinstance(certificate, PromiseCertificate):
        return _verify_promise(certificate, model, X, people, fitted_rows, trust_rows)
    settings = _settings(certificate, random_state)
    found = audited(model, X, people, Terms.named(**certificate.terms), settings, fitted_rows)
    same_model = _same(certificate.model, digest)
    same_rows = _same(certificate.rows, found.origin.rows)
    differences = [*_of_rows(certificate, found.overlap, trust_rows), *_of_names(certificate, found)]
    differences += [
        f"{each['name']}: {rows_of(each)} rows, and with fewer than {LEAST_ROWS} on a side nothing can be shown."
        for each in found.measures
        if math.isnan(each["upper_bound"])
    ]
    if same_model is False:
        differences.append(
            "This is another model than the certified one: its components, means or scales differ. The certificate "
            "says nothing of it."
        )
    if not differences:
        differences += _of_same_rows(certificate, found) if same_rows else _of_other_rows(certificate, found)
    return Verification(
        holds=not differences,
        differences=differences,
        same_model=same_model,
        same_rows=same_rows,
        upper_bound=found.upper_bound,
        mmd2=found.mmd2,
        certified=certificate.upper_bound,
        confidence=certificate.confidence,
        n_rows=found.n_rows,
        overlap=found.overlap,
        failed=told_apart(found.p_value, found.adversaries, found.confidence) or certificate.failed,
        audit=found,
    )


def _verify_promise(
    certificate: PromiseCertificate, model: Any, X: Any, people: People, fitted_rows: Any, trust_rows: bool
) -> Verification:
    """Show again what is promised of a release, or say why not.

    On other rows the level is fixed beforehand, so that their bound holds as it is. On those of the certificate the
    target has to come out once more: groups are no further apart on the coarser levels that were passed before.

    Parameters
    ----------
    certificate : PromiseCertificate
        What is promised.
    model : Release or Pipeline
        The release that it is said to be of.
    X : array-like of shape (n_samples, n_features)
        Rows, before the reduction.
    people : People
        What is known of them.
    fitted_rows, trust_rows
        See `fairpca.verify`.
    """
    check_same_rows(X, people.tables)
    terms = Terms.named(**certificate.terms)
    found = bound_of_rows(projections(model, X), people, terms, certificate.confidence, certificate.against)
    same_model = model_digest(model) == certificate.release
    same_rows = _same(certificate.rows, digest_of(X, people, terms))
    overlap = overlap_of(model, X, fitted_rows)
    differences = [*_of_rows(certificate, overlap, trust_rows), *_of_names(certificate, found)]
    if not same_model:
        differences.append("This is another release than the certified one, and the certificate says nothing of it.")
    sides, _ = sides_of(people, X.shape[0], with_kinds_detected(terms), certificate.against)
    differences += _of_bounds(certificate, found, sides, bool(same_rows and same_model))
    return Verification(
        holds=not differences,
        differences=differences,
        same_model=same_model,
        same_rows=same_rows,
        upper_bound=max(found.upper_bound, certificate.target) if same_rows else found.upper_bound,
        mmd2=None,
        certified=certificate.target,
        confidence=certificate.confidence,
        n_rows=found.n_rows,
        overlap=overlap,
    )


def _of_rows(certificate: Certificate | PromiseCertificate, overlap: Overlap | None, trust_rows: bool) -> Iterator[str]:
    """Yield why rows cannot confirm a certificate, whatever they show."""
    if certificate.is_edited:
        yield "The certificate was edited: its digest is not that of what it says."
    if why := why_not_new(overlap, trust_rows, "this model"):
        yield f"{why[0].upper()}{why[1:]}."


def _of_bounds(
    certificate: PromiseCertificate, found: AnyClassifierBound, sides: Sequence[Sides], same: bool
) -> Iterator[str]:
    if found.upper_bound > certificate.target:
        worst, side = max(zip(found.measures, sides, strict=True), key=lambda each: float(each[0]["upper_bound"]))
        by_chance = side.distance_of_equals(certificate.n_cells)
        if worst["distance"] - by_chance > certificate.target:
            reason = "their distance itself is above it"
        elif by_chance + side.slack(1.0 - certificate.confidence) > certificate.target:
            reason = f"so few cannot show it of {certificate.n_cells} cells, even where groups do not differ"
        else:
            reason = "too few rows, or chance, can do that"
        yield (
            f"{worst['name']}: these rows show a distance of at most {found.upper_bound:.3f}, more than the promised "
            f"{certificate.target:g}; {reason}."
        )
    there, here = ({measure["name"]: numbers_of(measure) for measure in each.measures} for each in (certificate, found))
    for name in sorted(there.keys() & here.keys()) if same else ():
        if there[name] != here[name]:
            yield f"{name}: these are the audited rows, but their distance or groups are not those of the certificate."


def _of_names(certificate: Certificate | PromiseCertificate, found: AuditResult | AnyClassifierBound) -> Iterator[str]:
    """Yield what is compared on one side only."""
    there, here = (Counter(measure["name"] for measure in each.measures) for each in (certificate, found))
    if there - here:
        yield f"Certified, but not compared on these rows: {'; '.join(sorted((there - here).elements()))}."
    if here - there:
        yield f"Compared on these rows, but not certified: {'; '.join(sorted((here - there).elements()))}."


def _settings(certificate: Certificate, random_state: Any) -> Settings:
    return Settings(
        adversaries=check_adversaries(dict.fromkeys(record["adversary"] for record in certificate.adversaries)),
        confidence=certificate.confidence,
        n_permutations=certificate.n_permutations,
        bandwidth=certificate.bandwidth,
        seed=certificate.seed if random_state is None else int(check_random_state(random_state).randint(2**31)),
        say=say_with(None),
    )


def _same(there: str | None, here: str | None) -> bool | None:
    """Tell whether fingerprints are of the same; None where there is none."""
    return None if there is None or here is None else there == here


def _of_other_rows(certificate: Certificate, found: AuditResult) -> Iterator[str]:
    for there, here in _pairs(certificate, found):
        if here["upper_bound"] > there["upper_bound"] * (1.0 + SAME):
            beyond = here["unbiased"] > there["upper_bound"]
            verdict = "the estimate itself is above it" if beyond else "too few rows, or chance, can do that"
            yield (
                f"{here['name']}: these rows show an MMD^2 of at most {here['upper_bound']:.2g}, more than the "
                f"certified {there['upper_bound']:.2g}; their unbiased estimate is {here['unbiased']:.2g}: {verdict}."
            )


def _of_same_rows(
    certificate: Certificate, found: AuditResult, other_permutations: float = 0.1, other_draws: float = 0.05
) -> Iterator[str]:
    """Yield where the audited rows do not give the certified numbers: someone has changed one or the other.

    Parameters
    ----------
    certificate, found
        What is compared.
    other_permutations : float, default=0.1
        By how much other permutations may move a p-value.
    other_draws : float, default=0.05
        By which part of U other frequencies and halves may move bounds and scores of adversaries.
    """
    same_seed = found.origin.seed == certificate.seed
    # Of the same permutations one or two may fall on the other side by rounding.
    permutations = 2.0 / certificate.n_permutations if same_seed else other_permutations
    draws = SAME if same_seed else other_draws
    if not _agree(found.p_value, certificate.p_value, permutations):
        yield (
            f"These are the audited rows, but the p-value of all measures is {found.p_value:.3g} and the certificate "
            f"says {certificate.p_value:.3g}{_versions(certificate)}."
        )
    for there, here in _pairs(certificate, found):
        size = abs(here["upper_bound"])
        allowed = dict.fromkeys(OF_ROWS, SAME * size) | {"upper_bound": draws * size}
        allowed |= {
            "p_value": permutations,
            "p_value_scales": permutations,
            "n_rows": 0,
            "weight": SAME * here["weight"],
        }
        for name, most in allowed.items():
            if not _agree(here[name], there[name], most):
                yield (
                    f"{here['name']}: these are the audited rows, but {name} is {here[name]:.4g} and the certificate "
                    f"says {there[name]:.4g}{_versions(certificate)}."
                )
        if list(here["sides"]) != there["sides"]:
            yield f"{here['name']}: these are the audited rows, but their groups are of other sizes than certified."
    scores, certified = _scores(found.adversaries), _scores(certificate.adversaries)
    for who, score in certified.items():
        if who not in scores or not _agree(scores[who], score, other_draws):
            here_is = f"{scores[who]:.3f}" if who in scores else "not known"
            yield f"{who}: these are the audited rows, but its score is {here_is}, and {score:.3f} in the certificate."


def _scores(adversaries: list[dict[str, Any]]) -> dict[str, float]:
    """Return AUC or R^2 by adversary and attribute."""
    return {
        f"{each['adversary']} of {each['attribute']}": float(each["r2"] if "r2" in each else each["auc"])
        for each in adversaries
    }


def _agree(here: float, there: float, most: float) -> bool:
    return abs(here - there) <= most or (math.isnan(here) and math.isnan(there))


def _pairs(certificate: Certificate, found: AuditResult) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the same measures of both; columns may have come in another order, and without names some are alike."""
    there, here = (sorted(each.measures, key=itemgetter("name")) for each in (certificate, found))
    return list(zip(there, here, strict=True))


def _versions(certificate: Certificate) -> str:
    other = [
        f"{package} {certificate.versions.get(package)} there, {version} here"
        for package, version in installed().items()
        if certificate.versions.get(package) != version
    ]
    return f" ({'; '.join(other)})" if other else ""
