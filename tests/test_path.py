import warnings

import numpy as np
import pytest
from matplotlib import pyplot

from fairpca import FairPCA, FairPCAPath, fair_pca_path


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    group = np.repeat(["a", "b"], [180, 120])
    X = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6))
    X[group == "b"] += rng.normal(size=6)
    return X, group


@pytest.fixture(scope="module")
def path(data):
    return fair_pca_path(*data, 2, random_state=0)


def test_path_goes_from_pca_to_the_strictest_tolerance(data, path):
    X, group = data
    pca = FairPCA(2, tolerance=2.0).fit(X, sensitive_features=group)
    assert len(path.models_) == 12
    assert path.variances_[0] == pytest.approx(pca.result_.variance_kept)
    # A twentieth of the chance level, which depends on the subspace a little.
    assert path.tolerances_[-1] == pytest.approx(max(pca.chance_level_ / 20, 1e-4), rel=1e-6)
    assert np.all(path.mmd2s_[path.converged_] <= path.tolerances_[path.converged_])


def test_less_tolerance_never_keeps_more_variance(path):
    met = path.mmd2s_ <= path.tolerances_
    assert met.sum() >= 10
    assert np.all(np.diff(path.variances_[met]) <= 1e-6)


def test_every_point_of_a_jagged_curve_is_reached(reference):
    data = reference("compas", 2)
    path = fair_pca_path(data["X_train"], data["a_train"], 2, random_state=0)
    assert path.converged_.all()
    assert np.all(np.diff(path.variances_) <= 1e-6)


def test_models_are_ready_to_use(data, path):
    X, group = data
    model = path.select(max_mmd2=1e-3)
    assert model.mmd2_ <= 1e-3
    assert model.transform(X).shape == (300, 2)
    alone = FairPCA(2, tolerance=model.tolerance).fit(X, sensitive_features=group)
    assert model.score(X) >= alone.score(X) - 1e-3


def test_selection_by_variance_and_by_knee(path):
    share = float(np.median(path.variances_))
    chosen = path.select(min_variance=share)
    assert chosen.result_.variance_kept >= share
    assert chosen.mmd2_ == path.mmd2s_[path.variances_ >= share].min()
    assert path.select(knee=True) in path.models_


def test_table_has_a_row_for_each_tolerance(path):
    rows = path.table()
    assert [row["tolerance"] for row in rows] == path.tolerances_.tolist()
    assert [row["variance_kept"] for row in rows] == path.variances_.tolist()


def test_plot_draws_the_curve(path):
    display = path.plot()
    np.testing.assert_allclose(display.line_.get_xdata(), path.mmd2s_)
    np.testing.assert_allclose(display.line_.get_ydata(), 100 * path.variances_)
    pyplot.close(display.figure_)


@pytest.mark.parametrize(
    ("tolerances", "message"),
    [
        ([], "tolerances is empty"),
        (1e-3, "tolerances=0.001 must be a sequence of decreasing numbers"),
        ([1e-3, 1e-2], r"tolerances must decrease and be finite and greater than 0; got \[0.001, 0.01\]"),
        ([1e-2, 0.0], "tolerances must decrease and be finite and greater than 0"),
    ],
)
def test_bad_tolerances_are_refused(data, tolerances, message):
    with pytest.raises(ValueError, match=message):
        fair_pca_path(*data, 2, tolerances=tolerances)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "select needs exactly one of"),
        ({"knee": True, "max_mmd2": 1.0}, "select needs exactly one of"),
        ({"min_variance": 1.1}, "no model of the path has min_variance=1.1: variance goes from"),
        ({"max_mmd2": 1e-12}, "no model of the path has max_mmd2=1e-12"),
    ],
)
def test_bad_selections_are_refused(path, arguments, message):
    with pytest.raises(ValueError, match=message):
        path.select(**arguments)


def test_parameters_are_those_of_an_estimator():
    estimator = FairPCAPath(FairPCA(3, standardize=False), tolerances=[1e-2])
    assert estimator.get_params()["estimator__n_components"] == 3


def test_the_knee_of_a_path_that_ends_where_nothing_differs(rng):
    group = np.arange(60) % 2
    X = np.repeat(rng.normal(size=(30, 3)), 2, axis=0)
    path = fair_pca_path(X, group, 2, tolerances=[1e-2, 1e-3])
    assert path.mmd2s_.max() < 1e-12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert path.select(knee=True) in path.models_


def test_points_out_of_reach_share_the_fairest_model(rng):
    group = np.arange(60) % 2
    X = rng.normal(size=(60, 3)) + 2 * group[:, None]
    tolerances = [1e-1, 1e-2, 1e-3, 1e-7, 1e-8]
    path = fair_pca_path(X, group, 2, tolerances=tolerances, random_state=0)
    assert path.tolerances_.tolist() == tolerances
    assert [model.tolerance for model in path.models_] == tolerances
    assert np.all(np.diff(path.variances_) <= 1e-9)
    assert np.all(np.diff(path.mmd2s_) <= 0)
    assert not path.converged_[-2:].any()
    assert path.mmd2s_[-1] == path.mmd2s_[-2] > 1e-7


def test_a_path_has_the_settings_of_a_fit(data):
    X, group = data
    path = fair_pca_path(
        X, group, 2, tolerances=[1e-2, 1e-3], solver="repms", mmd="hermite", init="pca", random_state=0
    )
    assert all(model.result_.solver == "repms" for model in path.models_)
    assert all(model.mmd_method_ == "hermite" for model in path.models_)
    assert path.converged_.all()


@pytest.mark.thorough
def test_default_tolerances_work_on_many_rows(rng):
    group = np.arange(6000) % 2
    X = rng.normal(size=(6000, 2)) + 0.5 * group[:, None]
    path = fair_pca_path(X, group, 2, random_state=0)
    assert path.converged_[0]
    assert path.variances_[0] == pytest.approx(1.0)
    assert not path.converged_[1:].any()


def test_a_path_without_groups_is_refused(data):
    with pytest.raises(ValueError, match="sensitive_features=None: a path of tolerances needs the groups"):
        fair_pca_path(data[0], None)


def test_a_failed_path_learns_nothing(data):
    X, group = data
    path = FairPCAPath(FairPCA(2))
    with pytest.raises(ValueError, match="NaN"):
        path.fit(np.where(X > 2, np.nan, X), sensitive_features=group)
    assert not hasattr(path, "n_features_in_")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "d", "tolerance"), [("german", 2, 1e-6), ("german", 10, 1e-4), ("compas", 2, 1e-5)])
@pytest.mark.parametrize("split", [0, 1, 2])
@pytest.mark.filterwarnings("ignore::fairpca.exceptions.NullComponentsWarning")
def test_the_path_keeps_what_a_fit_keeps(reference, name, d, tolerance, split):
    data = reference(name, split)
    X, group = data["X_train"], data["a_train"]
    alone = FairPCA(d, tolerance=tolerance, random_state=0).fit(X, sensitive_features=group)
    path = fair_pca_path(X, group, d, tolerances=np.geomspace(1e-2, tolerance, 8), random_state=0)
    assert abs(100 * path.variances_[-1] - 100 * alone.result_.variance_kept) <= 0.05
