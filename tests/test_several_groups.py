"""FairPCA on more than two groups, each of which must look like all others together."""
# SPDX-License-Identifier: MIT

import dask.array as da
import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning
from fairpca.geometry import projection_distance
from fairpca.metrics import mmd2
from fairpca.solvers import Status

NAMES = ["a against all others", "b against all others", "c against all others"]


def table(rng, n, p=6):
    """Return rows in three groups of different sizes, means and spreads."""
    group = rng.choice(["a", "b", "c"], size=n, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(n, p))
    X[group == "b", 0] += 1.0
    X[group == "c", 1] *= 2.0
    return X @ np.random.default_rng(1).normal(size=(p, p)), group


def each_against_others(model, X, group):
    Z = model.transform(X)
    return [mmd2(Z, sensitive_features=group == label, bandwidth=model.bandwidth_) for label in np.unique(group)]


@pytest.mark.parametrize("solver", ["budget", "repms"])
def test_every_group_keeps_to_the_tolerance(rng, solver):
    X, group = table(rng, 400)
    model = FairPCA(2, tolerance=1e-2, solver=solver, random_state=0).fit(X, sensitive_features=group)
    expected = each_against_others(model, X, group)
    assert model.converged_
    assert max(expected) <= 1e-2
    assert list(model.mmd2_by_measure_) == NAMES
    np.testing.assert_allclose(list(model.mmd2_by_measure_.values()), expected, rtol=1e-9)
    np.testing.assert_allclose(model.result_.mmd2s, expected, rtol=1e-9)
    assert model.mmd2_ == pytest.approx(max(expected), rel=1e-9)


def test_the_budget_that_limits_is_used(rng):
    X, group = table(rng, 400)
    model = FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=group)
    certificate = model.result_.certificate
    assert certificate.budget_used > 0.99
    assert certificate.kkt_residual < 1e-2
    assert certificate.local_maximum
    # Only a measure at its tolerance has a price.
    assert np.all(certificate.budgets_used[certificate.multipliers > 0] > 0.9)


def test_every_measure_may_have_a_tolerance_of_its_own(rng):
    X, group = table(rng, 400)
    tolerances = np.array([3e-2, 3e-3, 1.0])
    model = FairPCA(2, tolerance=tolerances).fit(X, sensitive_features=group)
    expected = np.array(each_against_others(model, X, group))
    assert model.converged_
    assert np.all(expected <= tolerances)
    np.testing.assert_array_equal(model.result_.tolerances, tolerances)
    tightest = int(np.argmax(expected / tolerances))
    assert model.mmd2_ == pytest.approx(expected[tightest], rel=1e-9)
    assert model.result_.tolerance == tolerances[tightest]


def test_a_looser_tolerance_of_one_measure_never_keeps_less(rng):
    X, group = table(rng, 400)
    strict, loose = (
        FairPCA(2, tolerance=tolerances).fit(X, sensitive_features=group).result_.variance_kept
        for tolerances in ([1e-2, 1e-2, 1e-2], [1e-2, 1e-2, 1e-1])
    )
    assert loose >= strict - 1e-4


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_many_rows_in_many_groups(rng, d):
    X, group = table(rng, 7000, p=8)
    model = FairPCA(d, tolerance=3e-3, random_state=0).fit(X, sensitive_features=group)
    expected = each_against_others(model, X, group)
    assert model.mmd_method_ == "hermite"
    assert model.converged_
    assert max(expected) <= 3e-3
    np.testing.assert_allclose(list(model.mmd2_by_measure_.values()), expected, rtol=1e-9)
    blocks = da.from_array(X, chunks=(2000, -1))
    lazy = FairPCA(d, tolerance=3e-3, random_state=0).fit(blocks, sensitive_features=da.from_array(group, chunks=900))
    assert lazy.mmd2_by_measure_.keys() == model.mmd2_by_measure_.keys()
    assert projection_distance(lazy.components_.T, model.components_.T) < 1e-5


@pytest.mark.parametrize("n", [400, 7000])
def test_a_share_of_the_variance_may_be_asked_for(rng, n):
    X, group = table(rng, n)
    model = FairPCA(0.5, tolerance=0.5).fit(X, sensitive_features=group)
    assert model.result_.status is Status.PCA_IS_FAIR
    assert model.explained_variance_ratio_.sum() >= 0.5
    assert model.explained_variance_ratio_[:-1].sum() < 0.5


def test_the_measure_that_is_not_met_is_named(rng):
    X, group = table(rng, 400, p=2)
    X[group == "c"] += 3.0
    with pytest.warns(ConvergenceWarning, match=r"did not meet tolerance=0.0001: MMD\^2 of c against all others is"):
        model = FairPCA(2, tolerance=1e-4).fit(X, sensitive_features=group)
    assert not model.converged_
    assert max(model.mmd2_by_measure_, key=model.mmd2_by_measure_.get) == NAMES[2]


def test_names_of_groups_do_not_matter(rng):
    X, group = table(rng, 400)
    renamed = np.array(["z", "x", "y"])[np.searchsorted(["a", "b", "c"], group)]
    one, other = (FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=labels) for labels in (group, renamed))
    assert projection_distance(one.components_.T, other.components_.T) < 1e-6
    np.testing.assert_allclose(
        sorted(one.mmd2_by_measure_.values()), sorted(other.mmd2_by_measure_.values()), rtol=1e-6
    )
