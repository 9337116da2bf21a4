"""What an audit can say of every classifier, and the certificate of what is promised of a release."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from typing import Any

from fairpca._utils.typing import FloatArray
from fairpca.auditing._certificate import PromiseCertificate, installed, plain_terms
from fairpca.auditing._reduction import learned, model_digest, projections, rows_digest, steps_of
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, compare
from fairpca.release import AnyClassifierBound, Release, any_classifier_bound


def release_of(reduction: Any) -> Release | None:
    """Return the release in which a reduction ends, if it does.

    Parameters
    ----------
    reduction : Any
        What reduces.
    """
    last = steps_of(reduction)[-1]
    return last if isinstance(last, Release) else None


def bound_of_rows(
    Z: FloatArray, people: People, terms: Terms, confidence: float, against: str = "each other"
) -> AnyClassifierBound:
    """Return what rows show of every classifier.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        What is released of each.
    people : People
        What is known of them.
    terms : Terms
        How they are compared.
    confidence : float
        Of the bound.
    against : {"each other", "all others"}, default="each other"
        Of more than two groups, who is compared with whom.
    """
    chosen = vars(with_kinds_detected(terms))
    return any_classifier_bound(Z, **vars(people), confidence=confidence, against=against, **chosen)


def with_kinds_detected(terms: Terms) -> Terms:
    """Return the same comparison, but by no kinds of attributes: those of a fit may be of other columns."""
    return replace(terms, sensitive_kind=Terms().sensitive_kind)


def bound_for_every_classifier(
    reduction: Any, Z: FloatArray, people: People, terms: Terms, compared: Compared, confidence: float
) -> AnyClassifierBound | None:
    """Return what rows show of every classifier, or None where that is nothing.

    Parameters
    ----------
    reduction : Any
        What was audited.
    Z : ndarray of shape (n, d)
        The rows after it.
    people, terms, confidence
        As above.
    compared : Compared
        Who was compared with whom.
    """
    if any(known.is_continuous for known in compared.known):
        return None
    release = release_of(reduction)
    try:
        found = bound_of_rows(Z, people, terms, confidence, "each other" if release is None else release.against)
    except ValueError:
        # A notion of fairness whose measures are no difference of two means.
        return None
    promised = getattr(release, "certificate_", None)
    if promised is not None and found.upper_bound < promised.upper_bound:
        # The level may have been chosen by these rows.
        found = found.after_search(promised.upper_bound, promised.n_levels)
    # Of data that are no release a larger bound says less than adversaries do.
    return found if release is not None or found.upper_bound <= 0.5 else None


def certificate_of_release(
    reduction: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
) -> PromiseCertificate:
    """Return what `Release.certify` has shown, in a form that can be saved and verified by others.

    Parameters
    ----------
    reduction : Release or Pipeline
        A certified release of cells, of those for a task too, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features)
        The rows that it was certified on, before the reduction.
    y, sensitive_features, control_features, sample_weight
        As they were given to `certify`.

    Returns
    -------
    certificate : PromiseCertificate
        What is promised; `save` it.
    """
    release, digest = release_of(reduction), model_digest(reduction)
    if release is None or digest is None:
        raise ValueError(
            "reduction must be a certified Release of cells, or a pipeline that ends in one and whose steps have "
            "fingerprints: those of this package, PCA and IncrementalPCA."
        )
    people, bound = People(sensitive_features, y, control_features, sample_weight), release.certificate_
    terms = Terms.named(**{name: learned(reduction, name, value) for name, value in vars(Terms()).items()})
    shown = bound_of_rows(projections(reduction, X), people, terms, bound.confidence, release.against)
    if [numbers_of(each) for each in shown.measures] != [numbers_of(each) for each in bound.measures]:
        raise ValueError("these are not the rows, groups and weights that the release was certified on.")
    return PromiseCertificate(
        release=digest,
        kind=release.kind,
        target=bound.upper_bound,
        n_cells=int(release.level_),
        n_levels=bound.n_levels,
        against=release.against,
        terms=plain_terms(vars(terms)),
        measures=[measure | {"sides": list(measure["sides"])} for measure in bound.measures],
        confidence=bound.confidence,
        slack_kind=bound.slack_kind,
        n_rows=bound.n_rows,
        rows=digest_of(X, people, terms),
        versions=installed(),
    ).with_digest()


def numbers_of(measure: dict[str, Any]) -> tuple[Any, ...]:
    """Return what rows show of a comparison, as far as other machines round alike."""
    return measure["name"], tuple(measure["sides"]), measure["n_rows"], round(float(measure["distance"]), 9)


def digest_of(X: Any, people: People, terms: Terms) -> str | None:
    """Return the fingerprint of rows before a release, and of how they are compared."""
    return rows_digest(X, compare(people, X.shape[0], terms, LARGEST_MMD2).attached)
