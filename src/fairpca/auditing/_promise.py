"""What an audit can say of every classifier, and what has been promised of a release."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from typing import Any

from fairpca._utils.typing import FloatArray
from fairpca.auditing._certificate import Verification, why_unchecked
from fairpca.auditing._fields import installed, plain_terms
from fairpca.auditing._promise_certificate import PromiseCertificate
from fairpca.auditing._reduction import learned, model_digest, overlap_of, projections, rows_digest, steps_of
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare
from fairpca.release import AnyClassifierBound, Release, any_classifier_bound, least_bound
from fairpca.rows import Overlap


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
    compared = {name: value for name, value in vars(terms).items() if name != "sensitive_kind"}
    return any_classifier_bound(Z, **vars(people), confidence=confidence, against=against, **compared)


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
    if [_numbers(each) for each in shown.measures] != [_numbers(each) for each in bound.measures]:
        raise ValueError("these are not the rows, groups and weights that the release was certified on.")
    certificate = PromiseCertificate(
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
        rows=_digest_of(X, people, terms),
        versions=installed(),
    )
    return certificate.with_digest()


def verify_promise(
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
    digest = _digest_of(X, people, terms)
    same_model = model_digest(model) == certificate.release
    same_rows = None if digest is None or certificate.rows is None else digest == certificate.rows
    overlap = overlap_of(model, X, fitted_rows)
    differences = [*of_rows(certificate.is_edited, overlap, trust_rows)]
    if not same_model:
        differences.append("This is another release than the certified one, and the certificate says nothing of it.")
    differences += _of_bounds(certificate, found, bool(same_rows and same_model))
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


def of_rows(is_edited: bool, overlap: Overlap | None, trust_rows: bool) -> Iterator[str]:
    """Yield why rows cannot confirm a certificate, whatever they show.

    Parameters
    ----------
    is_edited : bool
        Whether the certificate says something else than when it was written.
    overlap : Overlap or None
        How many of the rows were in the fit; None where that could not be checked.
    trust_rows : bool
        Whether the caller is trusted where that is not known.
    """
    if is_edited:
        yield "The certificate was edited: its digest is not that of what it says."
    if overlap is not None and overlap.too_many:
        yield f"{overlap}, and what they show says nothing of new people."
    elif not trust_rows and (overlap is None or not overlap.is_known):
        words = why_unchecked(overlap, "this model")
        yield f"{words[0].upper()}{words[1:]}."


def _of_bounds(certificate: PromiseCertificate, found: AnyClassifierBound, same: bool) -> Iterator[str]:
    there, here = ({measure["name"]: measure for measure in each.measures} for each in (certificate, found))
    if gone := sorted(set(there) - set(here)):
        yield f"Certified, but not compared on these rows: {'; '.join(gone)}."
    if new := sorted(set(here) - set(there)):
        yield f"Compared on these rows, but not certified: {'; '.join(new)}."
    if found.upper_bound > certificate.target:
        worst = max(found.measures, key=lambda measure: float(measure["upper_bound"]))
        m, n = worst["sides"]
        equal, least = (least_bound(m, n, certificate.confidence, k) for k in (certificate.n_cells, 1))
        if worst["distance"] - (equal - least) > certificate.target:
            reason = "their distance itself is above it"
        elif equal > certificate.target:
            reason = f"so few cannot show it of {certificate.n_cells} cells, even where groups do not differ"
        else:
            reason = "too few rows, or chance, can do that"
        yield (
            f"{worst['name']}: these rows show a distance of at most {found.upper_bound:.3f}, more than the promised "
            f"{certificate.target:g}; {reason}."
        )
    for name in sorted(there.keys() & here.keys()) if same else ():
        if _numbers(there[name]) != _numbers(here[name]):
            yield f"{name}: these are the audited rows, but their distance or groups are not those of the certificate."


def _numbers(measure: dict[str, Any]) -> tuple[Any, ...]:
    """Return what rows show of a comparison, as far as other machines round alike."""
    return measure["name"], tuple(measure["sides"]), measure["n_rows"], round(float(measure["distance"]), 9)


def _digest_of(X: Any, people: People, terms: Terms) -> str | None:
    return rows_digest(X, compare(people, X.shape[0], terms, LARGEST_MMD2).attached)
