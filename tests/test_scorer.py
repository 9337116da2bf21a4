"""The score that knows fairness: its formula, and what a search makes of it."""

import pickle

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from sklearn import clone, config_context
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comparisons import kernel
from fairpca import FairPCA
from fairpca.exceptions import RowLabelsWarning
from fairpca.metrics import fair_variance_scorer, mmd2_by_measure

TOLERANCES = [1e-3, 1e-2, 1e-1, 1.0]


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


def rows(rng, shift, n=500):
    group = rng.integers(2, size=n)
    X = rng.normal(size=(n, 6)) @ rng.normal(size=(6, 6))
    X[group == 1] += shift * rng.normal(size=6)
    return X, group


@pytest.fixture
def held_out(rng):
    X, group = rows(rng, 4.0)
    model = FairPCA(2, tolerance=1.0).fit(X[:300], sensitive_features=group[:300])
    return model, X[300:], group[300:]


def dense(Z, group, sigma):
    """Return MMD^2, its permutation mean and its null deviation from the kernel matrix itself."""
    K = kernel(Z, sigma)
    N, (m, n) = len(Z), np.bincount(group)
    w = np.where(group == 0, 1 / m, -1 / n)
    H = np.eye(N) - 1 / N
    off_diagonal = (K.sum() - N) / (N * (N - 1))
    share = 1 / m + 1 / n
    return w @ K @ w, share * (1 - off_diagonal), share * np.sqrt(2) * np.linalg.norm(H @ K @ H) / N


def test_the_score_is_the_documented_formula(held_out):
    model, X, group = held_out
    h, b, s = dense(model.transform(X), group, model.bandwidth_)
    assert h > b + 2 * s > 0
    for tau in (0.0, h - b - 2 * s, 1.0):
        expected = model.score(X) * min(1.0, (tau + b + 2 * s) / h)
        found = fair_variance_scorer(tau)(model, X, sensitive_features=group)
        assert found == pytest.approx(expected, rel=1e-10)


def test_of_several_measures_the_worst_counts(rng):
    X, group = rows(rng, 4.0)
    people = {"group": group, "lot": rng.permutation(np.arange(len(X)) % 3)}
    model = FairPCA(2, tolerance=1.0).fit(X[:300], sensitive_features={k: v[:300] for k, v in people.items()})
    held_out = {name: values[300:] for name, values in people.items()}
    measures = mmd2_by_measure(model.transform(X[300:]), sensitive_features=held_out, bandwidth=model.bandwidth_)
    assert len(measures) == 4
    both = fair_variance_scorer()(model, X[300:], sensitive_features=held_out)
    alone = fair_variance_scorer()(model, X[300:], sensitive_features=group[300:])
    assert both == pytest.approx(alone, rel=1e-10)
    assert both < model.score(X[300:])


def test_labels_count_where_the_notion_speaks_of_them(rng):
    X, group = rows(rng, 4.0)
    y = rng.integers(2, size=len(X))
    model = FairPCA(2, tolerance=1.0, fairness="equalized_odds").fit(X, y, sensitive_features=group)
    score = fair_variance_scorer()(model, X, y, sensitive_features=group)
    allowed = []
    for label in (0, 1):
        h, b, s = dense(model.transform(X[y == label]), group[y == label], model.bandwidth_)
        allowed.append((1e-3 + b + 2 * s) / h)
    assert score == pytest.approx(model.score(X) * min(1.0, *allowed), rel=1e-10)


def test_weights_count_in_the_variance_and_in_the_comparison(held_out, rng):
    model, X, group = held_out
    weight = rng.integers(1, 4, size=len(X))
    often = np.repeat(np.arange(len(X)), weight)
    variance = fair_variance_scorer(2.0)(model, X, sensitive_features=group, sample_weight=weight)
    assert variance == pytest.approx(model.score(X[often]))
    score = fair_variance_scorer(0.0)
    weighted = score(model, X, sensitive_features=group, sample_weight=weight)
    assert weighted != pytest.approx(score(model, X, sensitive_features=group) * variance / model.score(X), rel=1e-3)
    lazy = da.from_array(X, chunks=(50, -1))
    assert score(model, lazy, sensitive_features=group, sample_weight=weight) == pytest.approx(weighted)


def test_groups_are_compared_within_segments_in_the_score(held_out):
    model, X, group = held_out
    segment = np.where(group == 0, "one", "other")
    segment[::7] = "both"
    score = fair_variance_scorer(1e-3)
    controlled = score(model, X[::7], sensitive_features=group[::7], control_features=segment[::7])
    assert controlled == pytest.approx(score(model, X[::7], sensitive_features=group[::7]))
    with pytest.raises(ValueError, match="among control = one"):
        score(model, X[1::7], sensitive_features=group[1::7], control_features=segment[1::7])


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.ConvergenceWarning")
def test_a_search_keeps_nearly_all_variance_where_groups_are_drawn_by_lot(routing, rng):
    X, group = rows(rng, 0.0)
    model = FairPCA(2, tolerance=1e-3).set_fit_request(sensitive_features=True)
    search = GridSearchCV(model, {"tolerance": TOLERANCES}, cv=3, scoring=fair_variance_scorer())
    search.fit(X, sensitive_features=group)
    pca = PCA(2).fit(StandardScaler().fit_transform(X))
    assert search.best_estimator_.score(X) > 0.98 * pca.explained_variance_ratio_.sum()


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.ConvergenceWarning")
def test_pipelines_that_end_in_fair_pca(routing, rng):
    X, group = rows(rng, 4.0)
    fair = FairPCA(2, standardize=False, tolerance=1e-3).set_fit_request(sensitive_features="sex")
    pipeline = make_pipeline(StandardScaler(), fair).set_output(transform="pandas")
    scorer = fair_variance_scorer().set_score_request(sensitive_features="sex")
    scores = cross_validate(pipeline, X, cv=3, scoring=scorer, params={"sex": group}, return_estimator=True)
    assert np.isfinite(scores["test_score"]).all()
    search = GridSearchCV(pipeline, {"fairpca__tolerance": [1e-2, 1.0]}, cv=3, scoring=scorer).fit(X, sex=group)
    assert search.best_params_ == {"fairpca__tolerance": 1e-2}


def test_it_survives_pickle_and_clone_and_what_it_cannot_score_is_said(held_out):
    model, X, group = held_out
    scorer = pickle.loads(pickle.dumps(fair_variance_scorer(1e-4)))
    search = clone(GridSearchCV(FairPCA(tolerance=1e-3), {"tolerance": [1e-3]}, scoring=scorer))
    assert repr(search.scoring) == "fair_variance_scorer(max_mmd2=0.0001)"
    for value, error in ((-1.0, ValueError), (np.nan, ValueError), ("small", TypeError), (True, TypeError)):
        with pytest.raises(error, match=f"max_mmd2.*{value}"):
            fair_variance_scorer(value)
    with pytest.raises(TypeError, match=r"needs sensitive_features.*enable_metadata_routing=True"):
        scorer(model, X)
    classifier = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, group)
    for other, name in ((PCA(2).fit(X), "PCA"), (classifier, "LogisticRegression")):
        with pytest.raises(TypeError, match=f"got {name}, which has no bandwidth_"):
            scorer(other, X, sensitive_features=group)
    with pytest.raises(NotFittedError):
        scorer(make_pipeline(StandardScaler(), FairPCA(tolerance=1e-3)), X, sensitive_features=group)
    frame = pd.DataFrame(X, index=np.arange(len(X)) + 10)
    with pytest.warns(RowLabelsWarning), pytest.raises(ValueError, match="one group only"):
        scorer(model, frame, sensitive_features=pd.Series(np.zeros(len(X))))
