"""A certificate checked on anyone's rows, and whether it holds in plain words."""
# SPDX-License-Identifier: MIT

import math
from collections import Counter
from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from sklearn.utils.validation import check_random_state

from fairpca._utils.progress import say_with
from fairpca.auditing._adversaries import check_adversaries
from fairpca.auditing._audit import audited
from fairpca.auditing._certificate import Certificate, Verification, told_apart
from fairpca.auditing._fields import installed
from fairpca.auditing._promise import of_rows, verify_promise
from fairpca.auditing._promise_certificate import PromiseCertificate
from fairpca.auditing._reduction import model_digest
from fairpca.auditing._result import AuditResult, Settings
from fairpca.comparison import People, Terms
from fairpca.inference import LEAST_ROWS

SAME = 1e-4
"""Numbers that agree to this part of U are the same: other machines add in another order."""

OF_ROWS = ("mmd2", "unbiased", "chance_level", "finite_sample_bound")
"""Findings that depend on rows and bandwidth alone."""


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
        return verify_promise(certificate, model, X, people, fitted_rows, trust_rows)
    settings = _settings(certificate, random_state)
    found = audited(model, X, people, Terms.named(**certificate.terms), settings, fitted_rows)
    same_model = None if digest is None else digest == certificate.model
    same_rows = _same_rows(certificate, found)
    differences = [*of_rows(certificate.is_edited, found.overlap, trust_rows), *_of_measures(certificate, found)]
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


def _settings(certificate: Certificate, random_state: Any) -> Settings:
    return Settings(
        adversaries=check_adversaries(dict.fromkeys(record["adversary"] for record in certificate.adversaries)),
        confidence=certificate.confidence,
        n_permutations=certificate.n_permutations,
        bandwidth=certificate.bandwidth,
        seed=certificate.seed if random_state is None else int(check_random_state(random_state).randint(2**31)),
        say=say_with(None),
    )


def _same_rows(certificate: Certificate, found: AuditResult) -> bool | None:
    if certificate.rows is None or found.origin.rows is None:
        return None
    return certificate.rows == found.origin.rows


def _of_measures(certificate: Certificate, found: AuditResult) -> Iterator[str]:
    """Yield what is compared on one side only, and what cannot be shown by so few rows."""
    there, here = (Counter(measure["name"] for measure in each.measures) for each in (certificate, found))
    if there - here:
        yield f"Certified, but not compared on these rows: {_listed(there - here)}."
    if here - there:
        yield f"Compared on these rows, but not certified: {_listed(here - there)}."
    for measure in found.measures:
        if math.isnan(measure["upper_bound"]):
            rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
            yield f"{measure['name']}: {rows} rows, and with fewer than {LEAST_ROWS} on a side nothing can be shown."


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


def _listed(names: Counter[str]) -> str:
    return "; ".join(sorted(names.elements()))
