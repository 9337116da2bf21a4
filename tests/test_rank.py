"""More components than dimensions, null directions, and numbers at the ends of the scale."""

import warnings

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.exceptions import ConvergenceWarning, NullComponentsWarning, RankWarning
from fairpca.metrics import mmd2


@pytest.fixture
def flat(rng):
    """Six columns of rank three, and two groups that differ in one of the three."""
    group = np.arange(200) % 2
    factors = rng.normal(size=(200, 3))
    factors[:, 0] += group
    return np.hstack([factors, factors @ rng.normal(size=(3, 3))]), group


def quietly(model, X, group):
    with warnings.catch_warnings():
        for category in (ConvergenceWarning, NullComponentsWarning, RankWarning):
            warnings.simplefilter("ignore", category)
        return model.fit(X, sensitive_features=group)


@pytest.mark.parametrize("mmd", ["exact", "hermite"])
def test_components_beyond_the_rank_cost_nothing(flat, mmd):
    X, group = flat
    sigma = quietly(FairPCA(2, tolerance=3e-2), X, group).bandwidth_
    kept = []
    for d in (2, 3, 4, 5):
        model = quietly(FairPCA(d, tolerance=3e-2, bandwidth=sigma, mmd=mmd, random_state=0), X, group)
        assert model.converged_
        assert model.n_live_components_ == 2
        np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-12)
        kept.append(model.result_.variance_kept)
    assert np.ptp(kept) < 5e-4


def test_fewer_live_components_are_found_however_many_must_go(rng):
    group = np.arange(120) % 2
    X = rng.normal(size=(120, 9)) + np.outer(group, [1, 1, 1, 1, 1, 1, 1, 1, 0])
    X = np.hstack([X, np.zeros((120, 9))])
    with pytest.warns(NullComponentsWarning):
        model = FairPCA(9, tolerance=2e-4).fit(X, sensitive_features=group)
    assert model.converged_
    assert 1 <= model.n_live_components_ <= 4


def test_a_feasible_direction_among_copies_of_the_group_is_found():
    rng = np.random.default_rng(0)
    group = np.arange(100) % 2
    X = np.column_stack([group, 1 - group, rng.normal(size=100)])
    model = FairPCA(1, tolerance=5e-3).fit(X, sensitive_features=group)
    assert model.converged_
    assert model.mmd2_ <= 5e-3
    assert model.result_.variance_kept > 0.3


def test_where_only_the_group_varies_nothing_meets_the_tolerance():
    group = np.arange(100) % 2
    with pytest.warns(ConvergenceWarning, match="raise tolerance above it\\.") as caught:
        model = FairPCA(1, tolerance=1e-3).fit(np.column_stack([group, 1 - group]), sensitive_features=group)
    assert not any("fewer components" in str(each.message) for each in caught)
    assert not model.converged_
    assert model.n_live_components_ == 1


def test_a_projection_to_nothing_is_called_by_its_name():
    group = np.arange(100) % 2
    model = FairPCA(1, solver="repms", init="auxiliary", random_state=0, tolerance=1e-3)
    with pytest.warns(NullComponentsWarning, match="no component carries variance: the projection is 0 on every row"):
        model.fit(np.column_stack([group, 1 - group]), sensitive_features=group)
    assert model.n_live_components_ == 0
    assert model.mmd2_ == model.result_.variance_kept == 0.0


def test_identical_groups_are_fair_without_a_word():
    rows = np.random.default_rng(0).normal(size=(40, 3))
    model = FairPCA(2, tolerance=1e-3).fit(np.vstack([rows, rows]), sensitive_features=np.repeat([0, 1], 40))
    assert model.converged_
    assert model.mmd2_ == pytest.approx(0.0, abs=1e-14)
    strict = FairPCA(2, solver="repms", tolerance=0.0).fit(
        np.vstack([rows, rows]), sensitive_features=np.repeat([0, 1], 40)
    )
    assert strict.mmd2_ == pytest.approx(0.0, abs=1e-14)


def test_null_components_stay_zero_on_rows_outside_the_span(flat, rng):
    X, group = flat
    with pytest.warns(RankWarning):
        model = FairPCA(4, tolerance=2.0).fit(X, sensitive_features=group)
    assert model.n_live_components_ == 3
    assert not model.transform(rng.normal(size=(10, 6)))[:, 3:].any()


@pytest.mark.parametrize("factor", [*(pytest.param(f, marks=pytest.mark.slow) for f in (1e160, 1e-160, 1e-300)), 3e299])
def test_units_do_not_matter_up_to_the_ends_of_the_scale(two_groups, factor):
    X, group = two_groups
    X = X / np.abs(X).max()
    plain, scaled = (FairPCA(2, tolerance=1e-3).fit(each, sensitive_features=group) for each in (X, X * factor))
    # Rounding leads to other last steps, and either may leave 5e-4 of the tolerance unused.
    unused = 5e-4 * 1e-3 * plain.result_.certificate.multiplier
    assert scaled.result_.variance_kept == pytest.approx(plain.result_.variance_kept, abs=1e-6 + unused)
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=2e-4)
    np.testing.assert_allclose(scaled.transform(X * factor), plain.transform(X), atol=1e-3)


def test_an_offset_costs_digits_but_no_variance(two_groups):
    X, group = two_groups
    plain, moved = (FairPCA(2, tolerance=1e-3).fit(each, sensitive_features=group) for each in (X, X + 1e12))
    assert moved.result_.variance_kept == pytest.approx(plain.result_.variance_kept, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (lambda X: X * 1e300, {}, r"X has numbers up to .*e\+30\d, beyond 1e\+300 sums over rows overflow"),
        (lambda X: X * 1e160, {"standardize": False}, "squares are not normal numbers; use standardize=True"),
        (lambda X: X * 1e-300, {"standardize": False}, "squares are not normal numbers; use standardize=True"),
        (lambda X: 1e6 + 1e-10 * np.sign(X), {}, "X differs in no column by more than rounding: deviations are at"),
    ],
)
@pytest.mark.parametrize("mmd", ["exact", "hermite"])
def test_numbers_that_cannot_be_squared_or_told_apart_are_refused(two_groups, change, parameters, message, mmd):
    X, group = two_groups
    with pytest.raises(ValueError, match=message):
        FairPCA(2, mmd=mmd, **parameters).fit(change(X), sensitive_features=group)


@pytest.mark.parametrize("far", [1e10, 1e12, 1e100])
def test_one_far_cell_spoils_nothing(two_groups, far):
    X, group = two_groups
    X = X.copy()
    X[3, 2] = far
    model = quietly(FairPCA(2, standardize=False, random_state=0, tolerance=1e-3), X, group)
    assert 0.0 <= model.mmd2_ <= 2.0
    assert model.converged_ == (model.mmd2_ <= 1e-3)
    assert np.isfinite(model.transform(X)).all()


def test_a_column_that_only_rounding_moves_does_not_show(rng):
    """A null axis may be part of a component; what float32 has left of a constant must not be projected with it."""
    groups = np.arange(40) % 2
    noise = 1e4 + 1e-3 * rng.normal(size=40)
    X = np.column_stack([rng.normal(size=(40, 2)) + groups[:, None], noise]).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NullComponentsWarning)
        model = FairPCA(2, tolerance=0.05).fit(X, sensitive_features=groups)
    assert model.n_live_components_ == 1
    assert model.constant_features_.tolist() == [False, False, True]
    flat = X.copy()
    flat[:, 2] = 1e4
    np.testing.assert_array_equal(model.transform(X), model.transform(flat))
    assert mmd2(model.transform(X), sensitive_features=groups, bandwidth=model.bandwidth_) == pytest.approx(
        model.mmd2_, abs=1e-6
    )
