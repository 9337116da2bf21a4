"""Tables with many columns: the same answers as on few, without an array of p x p."""

import warnings

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.data._axes import singular_axes
from fairpca.exceptions import RankWarning


def factors_table(n, p, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    factors = rng.normal(size=(n, 6)) * np.linspace(3, 1, 6)
    factors[:, [0, 2]] += group[:, None]
    return factors @ rng.normal(size=(6, p)) + noise * rng.normal(size=(n, p)), group


def rotated_to_fewer(X):
    """Return the same rows in orthonormal coordinates of their span."""
    mean = X.mean(axis=0)
    return (X - mean) @ np.linalg.svd(X - mean, full_matrices=False)[2][: len(X) - 1].T


@pytest.mark.parametrize("spread", [0, 6, 10])
@pytest.mark.parametrize("shape", [(30, 700), (700, 40)])
def test_small_singular_values_keep_their_digits(rng, shape, spread):
    n, p = shape
    k = min(n, p)
    singular = np.logspace(0, -spread, k)
    left, right = (np.linalg.qr(rng.normal(size=(m, k)))[0] for m in (n, p))
    found, axes = singular_axes((left * singular) @ right.T, 1e-13)
    np.testing.assert_allclose(found, singular, rtol=1e-5 if spread == 10 else 1e-9)
    np.testing.assert_allclose(axes.T @ axes, np.eye(k), atol=1e-11)
    if spread:  # equal singular values have no vectors of their own
        np.testing.assert_allclose(np.abs(np.sum(axes * right, axis=0)), 1.0, atol=1e-5)


def test_a_table_with_more_columns_than_rows_is_that_table_in_fewer_columns():
    X, group = factors_table(60, 3000)
    sigma = FairPCA(2, standardize=False, tolerance=2.0).fit(X, sensitive_features=group).bandwidth_
    parameters = {"tolerance": 1e-2, "standardize": False, "bandwidth": sigma}
    wide, few = (FairPCA(2, **parameters).fit(each, sensitive_features=group) for each in (X, rotated_to_fewer(X)))
    assert wide.converged_
    assert wide.result_.variance_kept == pytest.approx(few.result_.variance_kept, abs=1e-6)
    np.testing.assert_allclose(wide.components_ @ wide.components_.T, np.eye(2), atol=1e-11)


def grown_and_whole(monkeypatch, X, group, sizes, **parameters):
    """Return the results of a fit on a span that grows from few leading axes, and of one on all of them."""
    whole = FairPCA(**parameters).fit(X, sensitive_features=group)
    monkeypatch.setattr("fairpca.solvers.budget._budget.has_many_axes", lambda problem: True)
    for name, size in sizes.items():
        monkeypatch.setattr(f"fairpca.{name}", size)
    grown = FairPCA(**parameters).fit(X, sensitive_features=group)
    assert grown.converged_
    return grown.result_, whole.result_


SPAN = "solvers.budget._span"


@pytest.mark.parametrize(
    ("d", "p", "sizes", "less"),
    [
        *((d, 120, {f"{SPAN}.LEADING": 40}, 1e-5) for d in (2, 5)),
        # One leading axis for each component is enough to begin with.
        (2, 100, {f"{SPAN}.LEADING": 2, f"{SPAN}.LEAST_AXES": 2}, 1e-3),
    ],
)
def test_a_span_that_grows_ends_where_all_axes_end(monkeypatch, d, p, sizes, less):
    X, group = factors_table(150, p, noise=1.5)
    grown, whole = grown_and_whole(monkeypatch, X, group, sizes, n_components=d, tolerance=2e-3)
    # Either may leave 5e-4 of the tolerance unused.
    unused = 5e-4 * 2e-3 * whole.certificate.multiplier
    assert grown.variance_kept == pytest.approx(whole.variance_kept, abs=less + unused)
    # The conditions are those in all axes: of the first ones alone they would not show what is outside.
    assert grown.certificate.kkt_residual < 1e-2


def test_wide_tables_of_categories_with_copies_constants_and_a_far_row(rng):
    codes = rng.integers(0, 20, size=(40, 50))
    X = (codes[:, :, None] == np.arange(20)).reshape(40, 1000).astype(float)
    X = np.hstack([X, X[:, :30], np.ones((40, 5))])
    X[3, :-5] *= 1e3
    X[7] = X[8]
    model = FairPCA(3, tolerance=5e-2).fit(X, sensitive_features=np.arange(40) % 2)
    assert model.converged_
    assert model.mmd2_ <= 5e-2
    assert not model.components_[:, -5:].any()
    moved = np.random.default_rng(1).permutation(X.shape[1])
    other = FairPCA(3, tolerance=5e-2).fit(X[:, moved], sensitive_features=np.arange(40) % 2)
    np.testing.assert_allclose(other.components_, model.components_[:, moved], atol=1e-12)


@pytest.mark.parametrize("d", [19, 25])
def test_as_many_components_as_rows_of_a_wide_table(d):
    X, group = factors_table(20, 3000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairPCA(d, tolerance=2.0).fit(X, sensitive_features=group)
    assert model.n_live_components_ == 19
    assert model.result_.variance_kept == pytest.approx(1.0)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-10)
    assert not model.transform(X)[:, 19:].any()
    with pytest.warns(RankWarning):
        FairPCA(25, tolerance=2.0).fit(X, sensitive_features=group)


def test_columns_whose_covariance_is_too_large_are_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr("fairpca.data._columns.MOST_COLUMNS", 10)
    X, group = factors_table(60, 11)
    with pytest.raises(ValueError, match=r"X has 11 columns, whose covariance would take .* at most 10 columns"):
        FairPCA(2, tolerance=1e-2, mmd="hermite").fit(X, sensitive_features=group)


def test_many_rows_of_many_columns_are_searched_in_all_of_them(monkeypatch):
    X, group = factors_table(900, 130, noise=1.5)
    sizes = {"mmd._coordinates.MANY_COLUMNS": 20, "data._many_rows.MANY_COLUMNS": 20}
    grown, whole = grown_and_whole(monkeypatch, X, group, sizes, n_components=2, tolerance=1e-3, mmd="hermite")
    assert grown.variance_kept == pytest.approx(whole.variance_kept, abs=2e-5)
    assert grown.certificate.kkt_residual < 1e-2
