import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from comparisons import dense_mmd2, two_groups_of
from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning, NoSensitiveFeaturesWarning, NullComponentsWarning
from fairpca.geometry import projection_distance
from fairpca.solvers import Budget, Status


@pytest.fixture(scope="module")
def two_groups():
    """Return rows as everywhere, of eight columns: with six or fewer every fit searches from a dozen starts."""
    return two_groups_of(8)


@pytest.fixture(scope="module")
def fitted(two_groups):
    X, group = two_groups
    return FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)


def test_reported_numbers_agree_with_an_independent_computation(two_groups, fitted):
    X, group = two_groups
    Z = fitted.transform(X)
    scaled = StandardScaler().fit_transform(X)
    assert fitted.mmd2_ == pytest.approx(dense_mmd2(Z, group, fitted.bandwidth_), abs=1e-12)
    np.testing.assert_allclose(fitted.components_ @ fitted.components_.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.cov(Z.T), np.diag(fitted.explained_variance_), atol=1e-10)
    assert np.all(np.diff(fitted.explained_variance_) <= 0)
    total = scaled.var(axis=0, ddof=1).sum()
    np.testing.assert_allclose(fitted.explained_variance_ratio_, fitted.explained_variance_ / total)
    assert fitted.score(X) == pytest.approx(fitted.explained_variance_ratio_.sum())
    assert fitted.score(X) == pytest.approx(fitted.result_.variance_kept)
    assert fitted.mmd2_ <= 1e-3


def test_without_sensitive_features_it_is_pca_and_says_so(two_groups):
    X, _ = two_groups
    with pytest.warns(NoSensitiveFeaturesWarning, match="plain PCA, and nothing was made fair"):
        model = FairPCA(3, tolerance=1e-3).fit(X)
    pca = PCA(3).fit(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-10)
    assert np.isnan(model.mmd2_)
    assert model.result_.status is Status.NO_SENSITIVE_FEATURES


def test_inverse_transform_is_the_closest_row(two_groups, fitted):
    X, _ = two_groups
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_allclose(fitted.transform(back), fitted.transform(X), atol=1e-10)
    residual = (X - back) / fitted.scale_
    np.testing.assert_allclose(residual @ fitted.components_.T, 0, atol=1e-10)


@pytest.mark.parametrize("init", ["mean-matched", "pca", "auxiliary"])
def test_same_seed_same_bits_and_the_data_are_left_alone(two_groups, init):
    X, group = two_groups
    before = X.copy()
    first, second = (
        FairPCA(2, init=init, random_state=3, tolerance=1e-3).fit(X, sensitive_features=group) for _ in range(2)
    )
    np.testing.assert_array_equal(first.components_, second.components_)
    assert first.mmd2_ <= 1e-3
    np.testing.assert_array_equal(X, before)


def test_a_given_start_is_used(two_groups, fitted):
    X, group = two_groups
    steps = []
    again = FairPCA(2, init=fitted.components_, tolerance=1e-3, callback=steps.append).fit(X, sensitive_features=group)
    assert projection_distance(again.components_.T, fitted.components_.T) < 1e-2
    assert tuple(steps) == again.result_.steps
    assert steps[0].variance_kept == pytest.approx(fitted.result_.variance_kept, abs=1e-3)


def test_routing_through_pipeline_search_and_validation(two_groups, rng):
    order = rng.permutation(300)
    X, group = two_groups[0][order], two_groups[1][order]
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    with config_context(enable_metadata_routing=True):
        fair = FairPCA(2, tolerance=1e-3).set_fit_request(sensitive_features=True)
        pipeline = make_pipeline(StandardScaler(), fair, LogisticRegression())
        pipeline.fit(X, y, sensitive_features=group)
        assert pipeline[1].mmd2_ <= 1e-3
        scores = cross_validate(pipeline, X, y, cv=2, params={"sensitive_features": group}, return_estimator=True)
        assert all(model[1].mmd2_ <= 1e-3 for model in scores["estimator"])
        search = GridSearchCV(pipeline, {"fairpca__tolerance": [1e-2, 1e-3]}, cv=2)
        search.fit(X, y, sensitive_features=group)
        assert search.best_estimator_[1].converged_


def test_a_failed_refit_leaves_the_old_model_whole(two_groups, fitted):
    X, group = two_groups
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="infinity"):
        fitted.fit(np.where(X > 2, np.inf, X)[:, :4], sensitive_features=group)
    assert vars(fitted) == before


def test_a_failed_first_fit_leaves_an_unfitted_model(two_groups):
    X, _ = two_groups
    model = FairPCA(2, tolerance=1e-3)
    with pytest.raises(ValueError, match="one group only"):
        model.fit(X, sensitive_features=np.zeros(len(X)))
    with pytest.raises(NotFittedError):
        model.transform(X)


def test_warnings_point_at_the_line_of_the_caller(two_groups):
    X, group = two_groups
    with pytest.warns(NoSensitiveFeaturesWarning) as plain:
        FairPCA(2, tolerance=1e-3).fit(X)
    with pytest.warns(ConvergenceWarning) as strict:
        FairPCA(6, tolerance=1e-3).fit_transform(X, sensitive_features=group)
    assert plain[0].filename == strict[0].filename == __file__


def test_a_share_of_the_variance_chooses_the_components(two_groups):
    X, group = two_groups
    shares = PCA().fit(StandardScaler().fit_transform(X)).explained_variance_ratio_.cumsum()
    model = FairPCA(n_components=0.8, tolerance=2.0).fit(X, sensitive_features=group)
    assert model.n_components_ == np.searchsorted(shares, 0.8) + 1
    assert model.result_.variance_kept >= 0.8


def test_what_users_of_pca_expect(two_groups):
    X, group = two_groups
    fair = FairPCA(2, tolerance=2.0, standardize=False).fit(X, sensitive_features=group)
    pca = PCA(2).fit(X)
    np.testing.assert_allclose(fair.singular_values_, pca.singular_values_)
    np.testing.assert_allclose(fair.get_covariance(), pca.get_covariance(), atol=1e-10)
    assert fair.noise_variance_ == pytest.approx(pca.noise_variance_)
    back = pca.inverse_transform(pca.transform(X))
    np.testing.assert_allclose(fair.residuals(X), ((X - back) ** 2).sum(axis=1), atol=1e-10)


def test_parameters_of_the_solver_can_be_searched(two_groups):
    X, group = two_groups
    model = FairPCA(2, solver=Budget(), tolerance=1e-3).set_params(solver__n_starts=2, solver__max_seconds=60.0)
    assert model.get_params()["solver__n_starts"] == 2
    assert clone(model).fit(X, sensitive_features=group).converged_
    with pytest.raises(ValueError, match="n_starts=0"):
        model.set_params(solver__n_starts=0).fit(X, sensitive_features=group)


def test_the_bound_on_the_variance_is_that_of_all_components(reference):
    data = reference("german", 0)
    X, group = data["X_train"], data["a_train"]
    with pytest.warns(NullComponentsWarning):
        model = FairPCA(10, tolerance=1e-6, solver=Budget(n_starts=1), random_state=0).fit(X, sensitive_features=group)
    pca = PCA(10).fit(StandardScaler().fit_transform(X)).explained_variance_ratio_.sum()
    assert model.n_live_components_ < 10
    assert model.result_.certificate.variance_bound == pytest.approx(pca)


def test_single_precision_stays_single(two_groups, fitted):
    X, group = two_groups
    narrow = X.astype(np.float32)
    model = FairPCA(2, tolerance=1e-3).fit(narrow, sensitive_features=group)
    assert projection_distance(model.components_.T, fitted.components_.T) < 1e-3
    Z = model.transform(narrow)
    assert Z.dtype == model.inverse_transform(Z).dtype == np.float32
    assert model.inverse_transform(Z.astype(np.float64)).dtype == np.float64


BAD_DATA = {
    "contains infinity": lambda X, group: (np.where(X[3, 2] == X, np.inf, X), group),
    "299 entries but X has 300 rows": lambda X, group: (X, group[:-1]),
    "zero variance in every column": lambda X, group: (np.ones_like(X), group),
    "one group only, 'a'": lambda X, group: (X, np.full(300, "a")),
    r"fewer than min_group_size=5 rows: 'b' \(1 row\)": lambda X, group: (X, np.where(np.arange(300) == 0, "b", "a")),
    "first in row 5; drop those rows": lambda X, group: (X, np.where(np.arange(300) == 5, None, group)),
}


@pytest.mark.parametrize("message", BAD_DATA)
def test_bad_data_get_one_clear_sentence(two_groups, message):
    X, group = BAD_DATA[message](*two_groups)
    with pytest.raises(ValueError, match=message):
        FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)


BAD_PARAMETERS = {
    "n_components": {ValueError: [0, 9, 1.5], TypeError: ["2", None]},
    "tolerance": {ValueError: [-1e-3, np.nan, "small", [1e-3, 1e-3]]},
    "fairness": {ValueError: ["parity"], TypeError: [3]},
    "bandwidth": {ValueError: [0, "mean"], TypeError: [None]},
    "solver": {ValueError: ["sdp"], TypeError: [3]},
    "init": {ValueError: ["zeros", np.eye(3), np.ones((2, 8))]},
    "standardize": {TypeError: ["yes"]},
    "mmd": {ValueError: ["fourier"]},
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters_are_named_with_what_is_allowed(two_groups, name):
    X, group = two_groups
    for error, values in BAD_PARAMETERS[name].items():
        for value in values:
            with pytest.raises(error, match=rf"{name}.*(must |unknown; choose one of|but there are|would keep)"):
                FairPCA(**{name: value}).fit(X, sensitive_features=group)


def test_calls_that_make_no_sense_are_refused(two_groups, fitted):
    X, _ = two_groups
    with pytest.raises(ValueError, match=r"Z has shape \(3, 5\); it must be \(n_samples, n_components=2\)"):
        fitted.inverse_transform(np.ones((3, 5)))
    with pytest.raises(ValueError, match="X has no variance"):
        fitted.score(np.repeat(X[:1], 3, axis=0))
