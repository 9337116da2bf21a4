"""Several bandwidths at once: one kernel, the mean of Gaussians, however it is computed."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from fairpca import FairPCA
from fairpca.comparison import People, Terms, compare
from fairpca.inference import ComparedRows, chance_deviations, chance_levels
from fairpca.metrics import fair_variance_scorer, mmd2, mmd2_by_measure
from fairpca.mmd import Scales, median_bandwidth

SIGMA = 1.3
FOUR = (2.0, 1.0, 0.5, 0.25)


def dense(Z, weights, sigma, factors):
    """Return w'Kw from full n x n arrays, scale by scale."""
    squares = cdist(Z, Z, "sqeuclidean")
    return np.mean([weights @ np.exp(-squares / (2 * (f * sigma) ** 2)) @ weights for f in factors])


def of_groups(group):
    return np.where(group, 1 / group.sum(), -1 / (~group).sum())


def table(n, p=8, seed=0):
    """Return rows whose groups differ in a mean, a spread and, finely, in shape."""
    rng = np.random.default_rng(seed)
    group = rng.random(n) < 0.4
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    X[group, 0] += 2
    X[group, 1] *= 1.4
    X[group, 2] = np.sign(X[group, 2])
    return X, group


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("bandwidth", ["scales", Scales((1.0, 0.3), bandwidth=2.0)])
def test_a_fit_to_few_rows_converges_and_measures_what_dense_matrices_do(bandwidth):
    X, group = table(300)
    model = FairPCA(2, tolerance=2e-3, bandwidth=bandwidth).fit(X, sensitive_features=group)
    assert model.converged_
    assert model.mmd_method_ == "exact"
    assert model.bandwidth_factors_ == Scales.of(bandwidth).factors
    expected = dense(model.transform(X), of_groups(group), model.bandwidth_, model.bandwidth_factors_)
    assert model.mmd2_ == pytest.approx(expected, abs=1e-13)
    assert 0.99 * 2e-3 <= model.mmd2_ <= 2e-3


def test_finer_scales_see_what_one_bandwidth_does_not(rng):
    """Groups on the odd and the even teeth of a comb agree at the median bandwidth, not at one of half a tooth."""
    Z = (np.arange(2000) % 100 + 0.02 * rng.normal(size=2000))[:, None]
    group = np.arange(2000) % 2 == 0
    assert mmd2(Z, sensitive_features=group) < 1e-3
    assert mmd2(Z, sensitive_features=group, bandwidth=Scales([1.0, 0.01])) > 1e-2


@pytest.mark.parametrize("unbiased", [False, True])
def test_metrics_take_the_same_argument(rng, unbiased):
    Z, group = rng.normal(size=(200, 3)), np.arange(200) % 3
    given = Scales((2, 0.1), bandwidth=1.5)
    for bandwidth, found in (("scales", Scales(bandwidth=median_bandwidth(Z))), (given, given)):
        expected = [
            mmd2_by_measure(Z, sensitive_features=group, bandwidth=factor * found.bandwidth, unbiased=unbiased)
            for factor in found.factors
        ]
        values = mmd2_by_measure(Z, sensitive_features=group, bandwidth=bandwidth, unbiased=unbiased)
        for name, value in values.items():
            assert value == pytest.approx(np.mean([each[name] for each in expected]), abs=1e-14)


def test_the_chance_level_is_that_of_the_mean_kernel(rng):
    Z, group = rng.normal(size=(60, 2)), np.arange(60) % 2
    rows = ComparedRows.of(Z, compare(People(group), 60, Terms(), 1.0))
    K = np.mean([np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * (f * SIGMA) ** 2)) for f in FOUR], axis=0)
    H = np.eye(60) - 1 / 60
    assert chance_levels(rows, SIGMA, FOUR)[0] == pytest.approx((2 / 30) * (1 - (K.sum() - 60) / (60 * 59)), abs=1e-13)
    deviation = (2 / 30) * np.sqrt(2) * np.linalg.norm(H @ K @ H) / 60
    assert chance_deviations(rows, SIGMA, FOUR)[0] == pytest.approx(deviation, abs=1e-12)
    model = FairPCA(2, bandwidth="scales", tolerance=0.5).fit(Z, sensitive_features=group)
    assert 0 < fair_variance_scorer()(model, Z, sensitive_features=group) <= 1 + 1e-12


def test_scales_are_values():
    assert Scales() == Scales.of("scales") == Scales([2, 1, 0.5, 0.25])
    assert hash(Scales()) == hash(Scales.of("scales"))
    assert Scales.of(3) == Scales((1.0,), 3.0)
    assert Scales.of("median") == Scales((1.0,))
    model = FairPCA(bandwidth=Scales((1, 0.5)))
    assert clone(model).bandwidth == model.bandwidth
    assert "Scales(factors=(1.0, 0.5), bandwidth='median')" in repr(model)


@pytest.mark.parametrize("error", [ValueError, TypeError])
def test_bad_scales_are_refused(error):
    numbers = [(), (1, 0), (1, -2.0), (1, np.inf), (1, np.nan), (1, 1e-5)]
    refused = {
        ValueError: [*({"factors": each} for each in numbers), {"bandwidth": "scales"}, {"bandwidth": 0.0}],
        TypeError: [*({"factors": each} for each in (2.0, "21", (1, "2"), (1, True))), {"bandwidth": None}],
    }
    for settings in refused[error]:
        with pytest.raises(error, match=next(iter(settings))):
            Scales(**settings)
    bad = {ValueError: ["scale", -1.0], TypeError: [[2, 1], None]}
    for bandwidth in bad[error]:
        with pytest.raises(error, match="bandwidth"):
            mmd2(np.zeros((4, 1)), sensitive_features=[0, 1, 0, 1], bandwidth=bandwidth)
        with pytest.raises(error, match="bandwidth"):
            # Rows that would be refused themselves, were they compared.
            FairPCA(1, bandwidth=bandwidth).fit(np.zeros((4, 1)), sensitive_features=[0, 0, 0, 1])
