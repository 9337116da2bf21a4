"""What models that see only the projection make of it: adversaries, and classifiers of the labels."""
# SPDX-License-Identifier: MIT

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu, spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, balanced_accuracy_score, r2_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from threadpoolctl import threadpool_limits

from fairpca._utils.checks import check_name
from fairpca._utils.threads import run_all, single_threaded_blas
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.comparison import KnownAttribute

MOST_ROWS = {"linear": 100_000, "svm": 5_000, "boosting": 100_000, "neighbours": 20_000}
"""Rows at most that each is shown, half of them to learn from."""

LEARNABLE = 20
"""Rows of a group, half of them to learn from, below which nothing can be learned of it."""

Maker = Callable[[int], Any]

CLASSIFIERS: dict[str, Maker] = {
    "linear": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, class_weight="balanced")),
    "svm": lambda seed: make_pipeline(StandardScaler(), SVC(class_weight="balanced", random_state=seed)),
    "boosting": lambda seed: HistGradientBoostingClassifier(class_weight="balanced", random_state=seed),
    "neighbours": lambda seed: make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
}
REGRESSORS: dict[str, Maker] = {
    "linear": lambda seed: make_pipeline(StandardScaler(), RidgeCV()),
    "svm": lambda seed: make_pipeline(StandardScaler(), SVR()),
    "boosting": lambda seed: HistGradientBoostingRegressor(random_state=seed),
    "neighbours": lambda seed: make_pipeline(StandardScaler(), KNeighborsRegressor(15)),
}
ADVERSARIES = tuple(CLASSIFIERS)


def check_adversaries(names: Any) -> tuple[str, ...]:
    """Return the names of adversaries.

    Parameters
    ----------
    names : str or iterable of str
        What the user passed.
    """
    if not isinstance(names, Iterable):
        raise TypeError(f"adversaries must be names among {', '.join(ADVERSARIES)}, or () for none; got {names!r}.")
    listed = [names] if isinstance(names, str) else list(names)
    return tuple(check_name("adversaries", name, ADVERSARIES) for name in listed)


def attempts(tried: Sequence[tuple[str, FloatArray, KnownAttribute]], seed: int) -> list[dict[str, Any] | None]:
    """Let adversaries predict attributes from projections.

    They work side by side, each in one thread: several threads of one model wait for each other longer than they work,
    many times longer where the machine does other work too.

    Parameters
    ----------
    tried : sequence of tuples of str, ndarray of shape (n, d) and KnownAttribute
        Which adversary sees which projections and predicts which attribute of these rows.
    seed : int
        Of what they draw.

    Returns
    -------
    records : list of dict or None
        See `try_classifier` and `try_regressor`.
    """
    records: list[dict[str, Any] | None] = [None] * len(tried)

    def work(k: int) -> None:
        name, Z, attribute = tried[k]
        values = attribute.values
        known = ~np.isnan(values.astype(np.float64)) & (attribute.is_continuous | (values >= 0))
        attempt = try_regressor if attribute.is_continuous else try_classifier
        # Unlike that of BLAS, the limit of OpenMP belongs to the thread that sets it.
        with threadpool_limits(1, user_api="openmp"):
            records[k] = attempt(name, Z[known], values[known], seed)

    with single_threaded_blas(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        run_all([partial(work, k) for k in range(len(tried))])
    return records


def try_classifier(name: str, Z: FloatArray, labels: AnyArray, seed: int) -> dict[str, Any] | None:
    """Train a classifier of an attribute on half of the rows and score it on the others.

    Parameters
    ----------
    name : str
        Which.
    Z : ndarray of shape (n, d)
        Projections.
    labels : ndarray of int of shape (n,)
        The attribute. Groups of fewer than 20 rows are left out.
    seed : int
        Of the halves.

    Returns
    -------
    record : dict or None
        `adversary`, `n_rows`, `balanced_accuracy`, `auc` (of more than two groups the mean of one against the others)
        and `p_value`: of two groups that of Mann and Whitney's test of the scores, of more that of a permutation
        test. None where there are fewer than two groups to learn.
    """
    values, counts = np.unique(labels, return_counts=True)
    learnable = np.isin(labels, values[counts >= LEARNABLE])
    if np.sum(counts >= LEARNABLE) < 2:
        return None
    Z, labels = Z[learnable], labels[learnable]
    seen, unseen, known, hidden = _halves(name, Z, labels, labels, seed)
    model = CLASSIFIERS[name](seed).fit(seen, known)
    predicted = model.predict(unseen)
    groups = np.unique(hidden)
    scores = _scores(model, unseen)
    if len(groups) == 2:
        score = scores[:, -1]
        auc = float(roc_auc_score(hidden == groups[1], score))
        first, second = (score[hidden == group] for group in groups)
        p_value = float(mannwhitneyu(second, first, alternative="greater").pvalue)
    else:
        places = [int(np.flatnonzero(model.classes_ == group)[0]) for group in groups]
        auc = float(np.mean([roc_auc_score(hidden == g, scores[:, k]) for g, k in zip(groups, places, strict=True)]))
        p_value = _permuted(hidden, predicted, seed)
    return {
        "adversary": name,
        "n_rows": len(hidden),
        "balanced_accuracy": float(balanced_accuracy_score(hidden, predicted)),
        "auc": auc,
        "p_value": p_value,
    }


def try_regressor(name: str, Z: FloatArray, numbers: FloatArray, seed: int) -> dict[str, Any] | None:
    """Train a regressor of a continuous attribute on half of the rows and score it on the others.

    Parameters
    ----------
    name : str
        Which.
    Z : ndarray of shape (n, d)
        Projections.
    numbers : ndarray of shape (n,)
        The attribute, for example where rows stand in it.
    seed : int
        Of the halves.

    Returns
    -------
    record : dict or None
        `adversary`, `n_rows`, `r2` and `p_value`, that of Spearman's rank correlation, one-sided. None where there are
        fewer than 40 rows.
    """
    if len(Z) < 2 * LEARNABLE:
        return None
    seen, unseen, known, hidden = _halves(name, Z, numbers, None, seed)
    predicted = REGRESSORS[name](seed).fit(seen, known).predict(unseen)
    constant = not np.ptp(predicted) or not np.ptp(hidden)
    p_value = 1.0 if constant else float(spearmanr(predicted, hidden, alternative="greater").pvalue)
    return {"adversary": name, "n_rows": len(hidden), "r2": float(r2_score(hidden, predicted)), "p_value": p_value}


def _halves(name: str, Z: FloatArray, target: AnyArray, strata: AnyArray | None, seed: int) -> tuple[Any, ...]:
    """Return the rows to learn from and those to be scored on, and what is to be predicted of both."""
    if len(Z) > MOST_ROWS[name]:
        chosen = _drawn(len(Z), strata, MOST_ROWS[name], np.random.default_rng(seed))
        Z, target, strata = Z[chosen], target[chosen], None if strata is None else strata[chosen]
    halves: tuple[Any, ...] = tuple(train_test_split(Z, target, test_size=0.5, stratify=strata, random_state=seed))
    return halves


def _drawn(n_rows: int, strata: AnyArray | None, most: int, generator: np.random.Generator) -> AnyArray:
    """Return the numbers of random rows, of small groups as many as can be learned from."""
    if strata is None:
        return generator.choice(n_rows, most, replace=False)
    groups = [np.flatnonzero(strata == value) for value in np.unique(strata)]
    sizes = [min(len(rows), max(LEARNABLE, most * len(rows) // n_rows)) for rows in groups]
    return np.concatenate(
        [generator.choice(rows, size, replace=False) for rows, size in zip(groups, sizes, strict=True)]
    )


def _scores(model: Any, rows: FloatArray) -> FloatArray:
    """Return a score for each class, of shape (n, n_classes), or of the second of two, of shape (n, 1)."""
    scores = model.decision_function(rows) if hasattr(model, "decision_function") else model.predict_proba(rows)
    return np.asarray(scores).reshape(len(rows), -1)


def _permuted(truth: AnyArray, predicted: AnyArray, seed: int, n_permutations: int = 999) -> float:
    """Return the share of permutations in which labels agree as well with what was predicted."""
    groups, codes = np.unique(truth, return_inverse=True)
    hits = (predicted[:, None] == groups).astype(np.float64) / np.bincount(codes)
    generator, rows = np.random.default_rng(seed), np.arange(len(truth))
    own = hits[rows, codes].sum()
    permutations = [hits[rows, generator.permutation(codes)].sum() for _ in range(n_permutations)]
    return float((1 + np.sum(np.asarray(permutations) >= own - 1e-12)) / (1 + n_permutations))


def against_true_groups(record: dict[str, Any], scale: float) -> dict[str, Any]:
    """Return what an adversary would score against the true groups: AUC - 1/2 of recorded ones is smaller by the scale.

    Parameters
    ----------
    record : dict
        Of `try_classifier` or `try_regressor`.
    scale : float
        1 / (1 - a - b), see `ErrorRates`.
    """
    scores = {name: record[name] for name in ("auc", "balanced_accuracy") if name in record}
    return record | {name: min(1.0, 0.5 + scale * (score - 0.5)) for name, score in scores.items()}


def parity_gaps(
    Z: FloatArray, y: AnyArray, attribute: KnownAttribute, seed: int, n_folds: int = 5
) -> dict[str, float] | None:
    """Return accuracy and gaps between groups of a logistic regression of two labels, on rows it was not fitted to.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    y : ndarray of shape (n,)
        Labels; of other than two, or fewer rows with one of them than folds, there is nothing to say.
    attribute : KnownAttribute
        The groups.
    seed : int
        Of the folds.
    n_folds : int, default=5
        As many rows of each label at least.
    """
    labels, codes = np.unique(y, return_inverse=True)
    if len(labels) != 2 or np.bincount(codes).min() < n_folds:
        return None
    if len(Z) > MOST_ROWS["linear"]:
        chosen = np.random.default_rng(seed).choice(len(Z), MOST_ROWS["linear"], replace=False)
        Z, codes, attribute = Z[chosen], codes[chosen], replace(attribute, values=attribute.values[chosen])
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    predicted = cross_val_predict(model, Z, codes, cv=folds)
    return {
        "accuracy": float(accuracy_score(codes, predicted)),
        "demographic_parity": _gap(predicted, np.ones(len(Z), dtype=bool), attribute),
        "equal_opportunity": _gap(predicted, codes == 1, attribute),
        "equalized_odds": max(_gap(predicted, codes == 1, attribute), _gap(predicted, codes == 0, attribute)),
    }


def _gap(predicted: AnyArray, among: BoolArray, attribute: KnownAttribute) -> float:
    """Return the largest difference between groups in the share of positive predictions."""
    groups = attribute.values
    rates = [predicted[among & (groups == group)] for group in np.unique(groups[groups >= 0])]
    shares = [float(rate.mean()) for rate in rates if len(rate)]
    return min(1.0, attribute.scale_among(among) * (max(shares) - min(shares))) if len(shares) > 1 else float("nan")
