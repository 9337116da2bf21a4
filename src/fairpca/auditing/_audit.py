"""The audit: what a reduction of people that it has not seen reveals of their attributes."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state, column_or_1d

from fairpca._utils.checks import check_bandwidth, check_confidence, check_integer
from fairpca._utils.progress import Say, say_with
from fairpca._utils.typing import FloatArray
from fairpca._utils.warn import warn_user
from fairpca.auditing._adversaries import ADVERSARIES, against_true_groups, attempts, check_adversaries, parity_gaps
from fairpca.auditing._promise import bound_for_every_classifier
from fairpca.auditing._reduction import Origin, learned, model_digest, overlap_of, projections, rows_digest
from fairpca.auditing._result import AuditResult
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare, masses_of
from fairpca.exceptions import TrainingRowsWarning
from fairpca.inference import ComparedRows, Evidence, PermutationTest
from fairpca.mmd import EXACT_ROWS, FOUR_SCALES, factor_to_judge, median_bandwidth
from fairpca.rows import compute, is_dask


@dataclass(frozen=True)
class Settings:
    """How an audit is done.

    Attributes
    ----------
    adversaries : tuple of str
        Which.
    confidence : float
        Of the bounds.
    n_permutations : int
        Number of permutations.
    bandwidth : "median", float or None
        sigma; None takes that of the reduction.
    seed : int
        With which permutations, frequencies, samples and halves are drawn.
    say : callable
        Called with what is being done.
    """

    adversaries: tuple[str, ...]
    confidence: float
    n_permutations: int
    bandwidth: str | float | None
    seed: int
    say: Say


def audit(
    reduction: Any,
    X: Any,
    y: Any = None,
    *,
    sensitive_features: Any,
    control_features: Any = None,
    sample_weight: Any = None,
    adversaries: Any = ADVERSARIES,
    confidence: float = 0.95,
    n_permutations: int = 999,
    bandwidth: str | float | None = None,
    fitted_rows: Any = None,
    callback: Callable[[str], None] | None = None,
    random_state: Any = None,
    **terms: Any,
) -> AuditResult:
    r"""Say what a reduction of people that it has not seen reveals of their attributes.

    Parameters
    ----------
    reduction : fitted transformer, array-like of shape (n_components, n_features) or None
        What is audited: a `FairPCA`, any fitted reduction of scikit-learn, a certified `Release` or a pipeline that
        ends in one, components as rows, or None where `X` holds reduced rows or what is released of them.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
        Rows that were used neither to fit nor to choose the reduction; what is said holds for such rows only.
    y : array-like of shape (n_samples,), default=None
        Labels, for notions of fairness that speak of them, and for parity gaps of a task.
    sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
        Protected attributes.
    control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
        Segments: groups are compared within each.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, for measures and tests; adversaries count rows.
    adversaries : str or iterable of {"linear", "svm", "boosting", "neighbours"}, default=all of them
        Models that try to predict the attribute from the projection; regressors for continuous attributes.
    confidence : float, default=0.95
        Of the bounds on the population.
    n_permutations : int, default=999
        How often attributes are permuted.
    bandwidth : "median" or float, default=None
        sigma; by default that which the reduction was fitted with, or the median heuristic of the projections.
    fitted_rows : array-like of shape (m_samples, n_features) or path, default=None
        The rows that the reduction was fitted to, or the file of their hashes beside a model of `fairpca fit`, to count
        how many of the audited ones are among them. What this package has fitted knows its rows until it is saved.
    callback : callable, default=None
        Called with a few words on what is being done; `print` shows them.
    random_state : int, RandomState instance or None, default=None
        Draws permutations, frequencies, samples and halves.
    **terms : dict
        How people are compared: `fairness`, `favourable`, `sensitive`, `sensitive_kind`, `min_group_size`,
        `small_groups`, `missing`, `attribute_error`; by default as the reduction was fitted, if it is of this package.
        With `attribute_error` all figures but p-values speak of the true groups.

    Returns
    -------
    result : AuditResult
        Measures with chance levels, p-values and bounds, adversaries and parity gaps; `print` it.

    Notes
    -----
    To fail to find a difference is no proof of none. What can be shown is a bound: with probability `confidence` over
    the choice of these rows, the MMD^2 of the population they come from is at most `upper_bound`.

    The bandwidth that was fitted with is blind to finer differences, so tests look at a quarter to twice of it, and
    adversaries at anything they can learn. Bounds speak of the kernel of that one bandwidth.

    Of released data, which have few different rows, there is a bound for every classifier, too
    (`AuditResult.any_classifier`). For a certified release it is never below the target of its `certify`, for the level
    may have been chosen by these rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from fairpca import audit
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 200)
    >>> X = rng.normal(size=(400, 5)) + 0.8 * (group == "b")[:, None]
    >>> reduction = PCA(2).fit(X[::2])
    >>> found = audit(reduction, X[1::2], sensitive_features=group[1::2], adversaries="linear", random_state=0)
    >>> bool(found.p_value < 0.01), bool(found.upper_bound > found.mmd2)
    (True, True)
    """
    fitted_with = {name: learned(reduction, name, value) for name, value in vars(Terms()).items()}
    chosen = Terms.named(**(fitted_with | terms))
    names = check_adversaries(adversaries)
    check_integer("n_permutations", n_permutations, least=19)
    sigma = None if bandwidth is None else check_bandwidth(bandwidth)
    check_confidence(confidence)
    chosen.check_confidence(confidence)
    seed = int(check_random_state(random_state).randint(2**31))
    people = People(sensitive_features, y, control_features, sample_weight)
    settings = Settings(names, confidence, n_permutations, sigma, seed, say_with(callback))
    found = audited(reduction, X, people, chosen, settings, fitted_rows)
    if found.origin.training_rows:
        warn_user(
            f"{found.overlap}. What is found on them says nothing of new people; audit rows that were held out.",
            TrainingRowsWarning,
        )
    return found


def audited(
    reduction: Any, X: Any, people: People, terms: Terms, settings: Settings, fitted_rows: Any = None
) -> AuditResult:
    """Audit, with everything chosen.

    Parameters
    ----------
    reduction, X
        See `audit`.
    people : People
        What is known of them.
    terms : Terms
        How they are compared.
    settings : Settings
        How the audit is done.
    fitted_rows : array-like of shape (m, p), path or SeenRows, default=None
        The rows of the fit, where the reduction does not know them.
    """
    if people.sensitive_features is None:
        raise ValueError("sensitive_features=None: an audit needs the attributes that must not show.")
    people, X = _in_memory(X, people)
    settings.say("projecting")
    Z = projections(reduction, X)
    compared = compare(people, len(Z), terms, LARGEST_MMD2)
    overlap = overlap_of(reduction, X, fitted_rows)
    sigma = _bandwidth(settings.bandwidth, reduction, Z, compared)
    # Around their median features lose no digits to an offset.
    rows = ComparedRows.of(Z - np.median(Z, axis=0), compared)
    measures, p_value = _measured(rows, compared, sigma, settings)
    found_by, gaps = _adversaries(Z, compared, settings), _parity(Z, people.y, compared, terms, settings)
    return AuditResult(
        any_classifier=bound_for_every_classifier(reduction, Z, people, terms, compared, settings.confidence),
        measures=measures,
        adversaries=found_by,
        parity=gaps,
        p_value=p_value,
        bandwidth=sigma,
        confidence=settings.confidence,
        n_rows=len(Z),
        n_components=Z.shape[1],
        n_permutations=settings.n_permutations,
        origin=Origin(
            model_digest(reduction), rows_digest(X, compared.attached), dict(vars(terms)), settings.seed, overlap
        ),
    )


def _in_memory(X: Any, people: People) -> tuple[People, Any]:
    """Return what is known of people in memory, and the rows."""
    check_same_rows(X, people.tables)
    if not hasattr(X, "shape"):
        X = np.asarray(X)
    in_memory = {name: compute(table)[0] if is_dask(table) else table for name, table in people.tables.items()}
    return People(**in_memory), X


def _bandwidth(sigma: str | float | None, reduction: Any, Z: FloatArray, compared: Compared) -> float:
    if isinstance(sigma, float):
        return sigma
    fitted = learned(reduction, "bandwidth_")
    if sigma is None and fitted is not None:
        return float(fitted) * factor_to_judge(learned(reduction, "bandwidth_factors_", (1.0,)))
    return median_bandwidth(Z, masses_of(compared.attached))


def _measured(
    rows: ComparedRows, compared: Compared, bandwidth: float, settings: Settings
) -> tuple[list[dict[str, Any]], float]:
    """Return a record of all that is known of each measure, and the p-value of all together."""
    confidence, generator = settings.confidence, np.random.default_rng(settings.seed)
    settings.say("measuring")
    found = Evidence.of(rows, bandwidth, generator)
    test = PermutationTest.of(rows, bandwidth, settings.n_permutations, generator, FOUR_SCALES, settings.say)
    numbers = {
        "mmd2": found.values,
        "mmd2_error": found.errors,
        "chance_level": found.levels,
        "excess": found.excesses,
        "unbiased": found.unbiased,
        "p_value": test.at_bandwidth(),
        "p_value_scales": test.over_scales(),
        "p_value_adjusted": test.adjusted(),
    }
    records = []
    for j, known in enumerate(compared.measures):
        record = known.as_dict() | {name: float(column[j]) for name, column in numbers.items()}
        sure, is_large = confidence + known.correction.doubt, rows.n_rows > EXACT_ROWS
        record["p_value_moments"] = found.features.by_chance(j).p_value(record["mmd2"]) if is_large else math.nan
        record["upper_bound"] = found.upper_bound(j, known, confidence)
        record["finite_sample_bound"] = found.finite_sample_bound(j, sure) if known.kind == "groups" else math.nan
        records.append(record | {"correction": known.correction.scale, "doubt": known.correction.doubt})
    return records, test.family_wise()


def _adversaries(Z: FloatArray, compared: Compared, settings: Settings) -> list[dict[str, Any]]:
    tried = [(name, Z, attribute) for attribute in compared.known for name in settings.adversaries]
    if not tried:
        return []
    settings.say(f"adversaries: {', '.join(settings.adversaries)}")
    found = zip(tried, attempts(tried, settings.seed), strict=True)
    return [
        {"attribute": attribute.name} | against_true_groups(record, attribute.scale_among())
        for (_, _, attribute), record in found
        if record is not None
    ]


def _parity(Z: FloatArray, y: Any, compared: Compared, terms: Terms, settings: Settings) -> list[dict[str, Any]]:
    if y is None:
        return []
    settings.say("parity gaps of a task")
    labels = column_or_1d(np.asarray(y))
    if terms.favourable is not None and len(np.unique(labels)) == 2:
        labels = labels.astype(str) == str(terms.favourable)
    found = []
    for attribute in compared.known:
        gaps = None if attribute.is_continuous else parity_gaps(Z, labels, attribute, settings.seed)
        if gaps is not None:
            found.append({"attribute": attribute.name} | gaps)
    return found
