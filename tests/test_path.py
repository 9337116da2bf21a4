import warnings
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot

from comparisons import two_groups_of
from fairpca import FairPCA, FairPCAPath, fair_pca_path
from fairpca.exceptions import ConvergenceWarning
from fairpca.solvers import Budget, Status


@pytest.fixture(scope="module")
def data():
    return two_groups_of(6)


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
    met = path.mmd2s_ <= path.tolerances_
    assert met.sum() >= 10
    assert np.all(met[path.converged_])
    assert np.all(np.diff(path.variances_[met]) <= 1e-6)
    rows = path.table()
    assert [row["tolerance"] for row in rows] == path.tolerances_.tolist()
    assert [row["variance_kept"] for row in rows] == path.variances_.tolist()


def test_every_point_of_a_jagged_curve_is_reached(reference):
    data = reference("compas", 2)
    path = fair_pca_path(data["X_train"], data["a_train"], 2, random_state=0)
    assert path.converged_.all()
    assert np.all(np.diff(path.variances_) <= 1e-6)


def test_models_are_ready_to_use_and_selected_by_variance_mmd2_or_knee(data, path):
    X, group = data
    model = path.select(max_mmd2=1e-3)
    assert model.mmd2_ <= 1e-3
    assert model.transform(X).shape == (300, 2)
    alone = FairPCA(2, tolerance=model.tolerance).fit(X, sensitive_features=group)
    assert model.score(X) >= alone.score(X) - 1e-3
    share = float(np.median(path.variances_))
    chosen = path.select(min_variance=share)
    assert chosen.result_.variance_kept >= share
    assert chosen.mmd2_ == path.mmd2s_[path.variances_ >= share].min()
    assert path.select(knee=True) in path.models_
    for refused in ({}, {"knee": True, "max_mmd2": 1.0}):
        with pytest.raises(ValueError, match="select needs exactly one of"):
            path.select(**refused)
    for name, value in (("min_variance", 1.1), ("max_mmd2", 1e-12)):
        with pytest.raises(ValueError, match=f"no model of the path has {name}={value}"):
            path.select(**{name: value})


def test_bad_paths_are_refused_and_learn_nothing(data):
    X, group = data
    for tolerances in ([], 1e-3, [1e-3, 1e-2], [1e-2, 0.0]):
        with pytest.raises(ValueError, match="tolerances"):
            fair_pca_path(X, group, 2, tolerances=tolerances)
    with pytest.raises(ValueError, match="sensitive_features=None: a path of tolerances needs the groups"):
        fair_pca_path(X, None)
    path = FairPCAPath(FairPCA(2))
    with pytest.raises(ValueError, match="NaN"):
        path.fit(np.where(X > 2, np.nan, X), sensitive_features=group)
    assert not hasattr(path, "n_features_in_")


def test_plot_draws_the_curve(path):
    display = path.plot()
    np.testing.assert_allclose(display.line_.get_xdata(), path.mmd2s_)
    np.testing.assert_allclose(display.line_.get_ydata(), 100 * path.variances_)
    pyplot.close(display.figure_)


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


@pytest.mark.parametrize(("fit", "seconds"), [("path", 25), ("auto", 40)])
def test_a_limit_of_time_is_one_for_all_solves(data, monkeypatch, fit, seconds):
    X, group = data
    clock = count(0, seconds)
    monkeypatch.setattr("fairpca.fitting._fitter.time", SimpleNamespace(perf_counter=lambda: next(clock)))
    solver = Budget(max_seconds=60 if fit == "path" else 30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if fit == "path":
            path = fair_pca_path(X, group, 2, tolerances=[1e-2, 1e-3, 1e-4], solver=solver)
            assert path.converged_.tolist() == [True, False, False]
        else:
            model = FairPCA(2, solver=solver, random_state=0).fit(X, sensitive_features=group)
            assert model.result_.status is Status.OUT_OF_TIME


def test_a_path_has_the_settings_of_a_fit(data):
    X, group = data
    path = fair_pca_path(
        X, group, 2, tolerances=[1e-2, 1e-3], solver="repms", mmd="hermite", init="pca", random_state=0
    )
    assert all(model.result_.solver == "repms" for model in path.models_)
    assert all(model.mmd_method_ == "hermite" for model in path.models_)
    assert path.converged_.all()
