import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning, NoSensitiveFeaturesWarning, NullComponentsWarning, RankWarning
from fairpca.geometry import projection_distance
from fairpca.solvers import Budget, Status


@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NoSensitiveFeaturesWarning")
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.RankWarning")
@parametrize_with_checks([FairPCA(tolerance=1e-3), FairPCA(n_components=1, standardize=False, tolerance=1e-3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def same_subspace(first, second, atol=1e-5):
    return projection_distance(first.components_.T, second.components_.T) < atol


@pytest.fixture
def two_groups(rng):
    """Return rows as everywhere, of eight columns: with six or fewer every fit searches from a dozen starts."""
    group = np.repeat(["a", "b"], [180, 120])
    X = rng.normal(size=(300, 8)) @ rng.normal(size=(8, 8))
    X[group == "b"] += rng.normal(size=8)
    X[group == "b", 1] *= 1.5
    return X, group


@pytest.fixture
def fitted(two_groups):
    X, group = two_groups
    return FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)


def dense_mmd2(Z, group, sigma):
    A, B = Z[group == "a"], Z[group == "b"]

    def mean(P, Q):
        return np.exp(-cdist(P, Q, "sqeuclidean") / (2 * sigma**2)).mean()

    return mean(A, A) + mean(B, B) - 2 * mean(A, B)


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


def test_fairer_than_pca_at_a_price(two_groups, fitted):
    X, group = two_groups
    pca = PCA(2).fit_transform(StandardScaler().fit_transform(X))
    assert dense_mmd2(pca, group, fitted.bandwidth_) > 20 * fitted.mmd2_
    loose = FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=group)
    assert loose.score(X) >= fitted.score(X)


def test_without_sensitive_features_it_is_pca_and_says_so(two_groups):
    X, _ = two_groups
    with pytest.warns(NoSensitiveFeaturesWarning, match="plain PCA, and nothing was made fair"):
        model = FairPCA(3, tolerance=1e-3).fit(X)
    pca = PCA(3).fit(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(model.components_), np.abs(pca.components_), atol=1e-10)
    assert np.isnan(model.mmd2_)
    assert model.result_.status is Status.NO_SENSITIVE_FEATURES


def test_signs_make_the_largest_entry_positive(fitted):
    largest = np.abs(fitted.components_).argmax(axis=1)
    assert np.all(fitted.components_[[0, 1], largest] > 0)


def test_inverse_transform_is_the_closest_row(two_groups, fitted):
    X, _ = two_groups
    back = fitted.inverse_transform(fitted.transform(X))
    np.testing.assert_allclose(fitted.transform(back), fitted.transform(X), atol=1e-10)
    residual = (X - back) / fitted.scale_
    np.testing.assert_allclose(residual @ fitted.components_.T, 0, atol=1e-10)


@pytest.mark.parametrize("standardize", [True, False])
def test_constant_columns_stay_at_zero(two_groups, standardize):
    X, group = two_groups
    padded = np.column_stack([X, np.full(len(X), 0.1)])
    model = FairPCA(2, standardize=standardize, tolerance=1e-3).fit(padded, sensitive_features=group)
    np.testing.assert_allclose(model.components_[:, -1], 0, atol=1e-12)
    plain = FairPCA(2, standardize=standardize, tolerance=1e-3).fit(X, sensitive_features=group)
    np.testing.assert_allclose(model.components_[:, :-1], plain.components_, atol=1e-4)


def test_standardizing_makes_units_irrelevant(two_groups, fitted):
    X, group = two_groups
    other = FairPCA(2, tolerance=1e-3).fit(X * 10.0 ** np.arange(8) + 5, sensitive_features=group)
    np.testing.assert_allclose(other.components_, fitted.components_, atol=1e-5)


def test_the_order_of_rows_does_not_matter(two_groups, fitted, rng):
    X, group = two_groups
    order = rng.permutation(len(X))
    assert same_subspace(FairPCA(2, tolerance=1e-3).fit(X[order], sensitive_features=group[order]), fitted)


def test_group_names_do_not_matter(two_groups, fitted):
    X, group = two_groups
    swapped = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=np.where(group == "a", "b", "a"))
    np.testing.assert_allclose(swapped.components_, fitted.components_, atol=1e-10)
    assert swapped.mmd2_ == pytest.approx(fitted.mmd2_, abs=1e-14)


def test_duplicated_columns_change_nothing(two_groups, fitted):
    X, group = two_groups
    doubled = FairPCA(2, tolerance=1e-3).fit(np.hstack([X, X]), sensitive_features=group)
    expected = np.hstack([fitted.components_, fitted.components_]) / np.sqrt(2)
    assert projection_distance(doubled.components_.T, expected.T) < 1e-5
    assert doubled.mmd2_ == pytest.approx(fitted.mmd2_, rel=1e-3)
    assert doubled.score(np.hstack([X, X])) == pytest.approx(fitted.score(X), abs=1e-6)


def test_the_order_of_rows_changes_nothing_and_that_of_columns_hardly(two_groups, fitted, rng):
    X, group = two_groups
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    by_rows = FairPCA(2, tolerance=1e-3).fit(X[rows], sensitive_features=group[rows])
    np.testing.assert_array_equal(by_rows.components_, fitted.components_)
    by_columns = FairPCA(2, tolerance=1e-3).fit(X[:, columns], sensitive_features=group)
    assert by_columns.result_.variance_kept == pytest.approx(fitted.result_.variance_kept, abs=1e-6)


@pytest.mark.parametrize("init", ["mean-matched", "pca", "auxiliary"])
def test_same_seed_same_bits(two_groups, init):
    X, group = two_groups
    first, second = (
        FairPCA(2, init=init, random_state=3, tolerance=1e-3).fit(X, sensitive_features=group) for _ in range(2)
    )
    np.testing.assert_array_equal(first.components_, second.components_)
    assert first.mmd2_ == second.mmd2_ <= 1e-3


def test_a_given_start_is_used(two_groups, fitted):
    X, group = two_groups
    steps = []
    again = FairPCA(2, init=fitted.components_, tolerance=1e-3, callback=steps.append).fit(X, sensitive_features=group)
    assert same_subspace(again, fitted, atol=1e-2)
    assert steps[0].variance_kept == pytest.approx(fitted.result_.variance_kept, abs=1e-3)


def test_more_components_than_dimensions_work_and_warn(two_groups):
    X, group = two_groups
    flat = np.hstack([X, X[:, :2] @ [[1.0, 2.0], [3.0, 4.0]]])
    with pytest.warns(RankWarning, match="n_components=9 is above the rank of the data, 8: the last 1"):
        model = FairPCA(9, tolerance=1.0).fit(flat, sensitive_features=group)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(9), atol=1e-10)
    assert model.explained_variance_[-1] < 1e-10


def test_fewer_rows_than_columns(rng):
    X, group = rng.normal(size=(20, 50)), np.repeat([0, 1], 10)
    model = FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=group)
    assert model.converged_
    assert model.mmd2_ <= 1e-2


LABELS = {
    "strings": lambda g: g,
    "booleans": lambda g: g == "a",
    "floats": lambda g: (g == "a") * 2.5,
    "list": lambda g: list(g),
    "list of bools": lambda g: [label == "a" for label in g],
    "objects of mixed kind": lambda g: np.array([0 if label == "a" else "b" for label in g], dtype=object),
    "column": lambda g: g[:, None],
    "pandas": lambda g: pd.Series(g),
    "pandas category": lambda g: pd.Series(g, dtype="category"),
    "pandas boolean": lambda g: pd.Series(g == "a", dtype="boolean"),
    "pandas frame": lambda g: pd.DataFrame({"group": g}),
    "polars": lambda g: pl.Series(g.tolist()),
    "polars frame": lambda g: pl.DataFrame({"group": g.tolist()}),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_any_two_valued_labels(two_groups, fitted, labels):
    X, group = two_groups
    assert same_subspace(FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=labels(group)), fitted)


def test_frames_in_frames_out(two_groups):
    X, group = two_groups
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)])
    model = FairPCA(2, tolerance=1e-3).set_output(transform="pandas")
    Z = model.fit_transform(frame, sensitive_features=group)
    assert list(Z.columns) == list(model.get_feature_names_out()) == ["fairpca0", "fairpca1"]
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)


def test_float32_comes_out_as_float32(two_groups, fitted):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X.astype(np.float32), sensitive_features=group)
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert same_subspace(model, fitted, atol=1e-3)


def test_the_data_are_not_changed(two_groups):
    X, group = two_groups
    before = X.copy()
    FairPCA(2, tolerance=1e-3).fit_transform(X, sensitive_features=group)
    np.testing.assert_array_equal(X, before)


def test_callback_sees_every_step(two_groups):
    X, group = two_groups
    seen = []
    model = FairPCA(2, callback=seen.append, tolerance=1e-3).fit(X, sensitive_features=group)
    assert tuple(seen) == model.result_.steps


def test_survives_pickle_and_clone(two_groups, fitted):
    X, _ = two_groups
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
    assert clone(fitted).get_params() == fitted.get_params()


def test_routing_through_pipeline_search_and_validation(two_groups, rng):
    order = rng.permutation(300)
    X, group = two_groups[0][order], two_groups[1][order]
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    with config_context(enable_metadata_routing=True):
        fair = FairPCA(2, tolerance=1e-3).set_fit_request(sensitive_features=True)
        pipeline = make_pipeline(StandardScaler(), fair, LogisticRegression())
        pipeline.fit(X, y, sensitive_features=group)
        assert pipeline[1].mmd2_ <= 1e-3
        scores = cross_validate(pipeline, X, y, cv=3, params={"sensitive_features": group}, return_estimator=True)
        assert all(model[1].mmd2_ <= 1e-3 for model in scores["estimator"])
        search = GridSearchCV(pipeline, {"fairpca__tolerance": [1e-2, 1e-3]}, cv=2)
        search.fit(X, y, sensitive_features=group)
        assert search.best_estimator_[1].converged_


def bad(X, group, case):
    X, group = X.copy(), group.astype(object)
    if case == "nan":
        X[3, 2] = np.nan
    if case == "inf":
        X[3, 2] = np.inf
    if case == "missing":
        group[[5, 9]] = None
    if case == "missing nan":
        group[5] = np.nan
    if case == "missing NA":
        group[5] = pd.NA
    if case == "one group":
        group[:] = "a"
    if case == "many groups":
        group[:] = [f"g{k // 2}" for k in range(300)]
    if case == "lonely":
        group[:] = "a"
        group[0] = "b"
    if case == "short":
        group = group[:-1]
    if case == "constant":
        X = np.ones_like(X)
    return X, group


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("nan", "contains NaN"),
        ("inf", "contains infinity"),
        ("missing", "has 2 missing values, the first in row 5; drop those rows"),
        ("missing nan", "has 1 missing value, the first in row 5"),
        ("missing NA", "has 1 missing value, the first in row 5"),
        ("one group", "has one group only, 'a'"),
        ("many groups", r"has 150 groups, 'g0' \(2 rows\), .*, ...; at most 100 can be compared. Merge some of them"),
        ("lonely", r"groups of fewer than min_group_size=5 rows: 'b' \(1 row\). Merge them with others"),
        ("short", "has 299 entries but X has 300 rows"),
        ("constant", "zero variance in every column"),
    ],
)
def test_bad_data_get_one_clear_sentence(two_groups, case, message):
    X, group = bad(*two_groups, case)
    with pytest.raises(ValueError, match=message):
        FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 0}, ValueError, "n_components=0 must be between 1 and the number of features, n_features=8"),
        ({"n_components": 9}, ValueError, "n_components=9 must be between 1"),
        ({"n_components": 1.5}, ValueError, "n_components=1.5 must be an integer, or a share of the variance"),
        ({"n_components": "2"}, TypeError, "n_components must be an integer, or a share of the variance in"),
        ({"n_components": None}, TypeError, "n_components=None would keep every direction"),
        ({"tolerance": -1e-3}, ValueError, "tolerance=-0.001 must be a finite number >= 0"),
        (
            {"tolerance": [1e-3, 1e-3]},
            ValueError,
            "tolerance has 2 numbers, but there are 1 measures: a against b. Give",
        ),
        (
            {"fairness": "parity"},
            ValueError,
            r"fairness='parity' is unknown; choose one of \['demographic_parity', 'equal_opp",
        ),
        ({"fairness": 3}, TypeError, "fairness must be one of .* or a fairpca.comparison.Notion; got 3"),
        ({"tolerance": np.nan}, ValueError, "tolerance=nan must be"),
        ({"tolerance": "small"}, ValueError, "tolerance='small' must be 'auto', or a number, the largest MMD"),
        ({"bandwidth": 0}, ValueError, "bandwidth=0 must be greater than 0"),
        ({"bandwidth": "mean"}, ValueError, r"bandwidth='mean' is unknown; choose one of \['median', 'scales'\]"),
        ({"bandwidth": None}, TypeError, 'bandwidth must be "median", "scales" or a positive number'),
        ({"solver": "sdp"}, ValueError, r"solver='sdp' is unknown; choose one of \['budget', 'repms'\]"),
        ({"solver": 3}, TypeError, "solver must be one of"),
        (
            {"init": "zeros"},
            ValueError,
            r"init='zeros' is unknown; choose one of \['auxiliary', 'mean-m",
        ),
        ({"init": np.eye(3)}, ValueError, r"init has shape \(3, 3\); .* = \(2, 8\)"),
        ({"init": np.ones((2, 8))}, ValueError, "init must hold 2 finite, linearly independent rows"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(two_groups, parameters, error, message):
    X, group = two_groups
    with pytest.raises(error, match=message):
        FairPCA(**parameters).fit(X, sensitive_features=group)


def test_inverse_transform_keeps_single_precision(two_groups, fitted):
    X, _ = two_groups
    Z = fitted.transform(X.astype(np.float32))
    assert Z.dtype == fitted.inverse_transform(Z).dtype == np.float32
    assert fitted.inverse_transform(Z.astype(np.float64)).dtype == np.float64


def test_one_component_is_spoken_of_in_the_singular(two_groups):
    X, group = two_groups
    assert FairPCA(1).fit(X, sensitive_features=group).summary().startswith("1 component keeps ")


def test_inverse_transform_checks_the_width(fitted):
    with pytest.raises(ValueError, match=r"Z has shape \(3, 5\); it must be \(n_samples, n_components=2\)"):
        fitted.inverse_transform(np.ones((3, 5)))


def test_score_needs_rows_that_differ(two_groups, fitted):
    X, _ = two_groups
    with pytest.raises(ValueError, match="X has no variance"):
        fitted.score(np.repeat(X[:1], 3, axis=0))


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


def test_a_refit_on_nameless_rows_forgets_the_names(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(pd.DataFrame(X, columns=list("abcdefgh")), sensitive_features=group)
    model.fit(X, sensitive_features=group)
    assert not hasattr(model, "feature_names_in_")


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


def test_a_flag_is_a_flag(two_groups):
    X, group = two_groups
    with pytest.raises(TypeError, match="standardize"):
        FairPCA(2, standardize="yes", tolerance=1e-3).fit(X, sensitive_features=group)


def test_the_bound_on_the_variance_is_that_of_all_components(reference):
    data = reference("german", 0)
    X, group = data["X_train"], data["a_train"]
    with pytest.warns(NullComponentsWarning):
        model = FairPCA(10, tolerance=1e-6, solver=Budget(n_starts=1), random_state=0).fit(X, sensitive_features=group)
    pca = PCA(10).fit(StandardScaler().fit_transform(X)).explained_variance_ratio_.sum()
    assert model.n_live_components_ < 10
    assert model.result_.certificate.variance_bound == pytest.approx(pca)


def test_an_unmet_tolerance_is_not_blamed_on_null_components(rng):
    group = np.arange(80) % 2
    X = np.column_stack([rng.normal(size=(80, 2)) + 3 * group[:, None], np.zeros(80)])
    with pytest.warns(ConvergenceWarning, match="did not meet") as caught:
        FairPCA(2, tolerance=1e-7).fit(X, sensitive_features=group)
    assert not any(issubclass(each.category, NullComponentsWarning) for each in caught)


