"""Several bandwidths at once: one kernel, the mean of Gaussians, however it is computed."""
# SPDX-License-Identifier: MIT

import dask.array as da
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone

from comparisons import by_group, by_weights, hessian_product, riemannian_product
from fairpca import FairPCA, fair_pca_path
from fairpca.comparison import People, Terms, compare
from fairpca.geometry import taylor_slope
from fairpca.inference import ComparedRows, chance_deviations, chance_levels
from fairpca.metrics import fair_variance_scorer, mmd2, mmd2_by_measure
from fairpca.mmd import Coordinates, ExactMMD, Scales, features_mmd, median_bandwidth
from fairpca.mmd._kernel import Mixture
from fairpca.rows import ArrayRows

SIGMA = 1.3
FOUR = (2.0, 1.0, 0.5, 0.25)
# Powers of one exponential, exponentials of their own, both, and a single factor that is not 1.
EACH = [FOUR, (3.0, 1.0), (0.5, 1.0, 0.7), (0.5,)]


def dense(Z, weights, sigma, factors):
    """Return w'Kw from full n x n arrays, scale by scale."""
    squares = cdist(Z, Z, "sqeuclidean")
    return np.mean([weights @ np.exp(-squares / (2 * (f * sigma) ** 2)) @ weights for f in factors])


def dense_gradient(X, V, weights, sigma, factors):
    Z = X @ V
    squares, total = cdist(Z, Z, "sqeuclidean"), 0.0
    for f in factors:
        A = np.outer(weights, weights) * np.exp(-squares / (2 * (f * sigma) ** 2))
        total = total - 2 / (f * sigma) ** 2 * X.T @ (A.sum(axis=1)[:, None] * Z - A @ Z) / len(factors)
    return total


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


class Case:
    """Rows with one far from the others, three weights in two measures, a frame, a complement and a direction."""

    def __init__(self, rng, d=2, n=400, p=6):
        self.X = rng.normal(size=(n, p))
        self.X[0] *= 25
        group = rng.permutation(np.arange(n) % 3)
        self.X[group == 1, 0] += 1
        weights = np.stack([(group == k) / np.sum(group == k) - 1 / n for k in range(3)], axis=1)
        self.codes, self.comparison = by_weights(weights, np.array([0, 1, 1]))
        basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
        self.V, self.Q = basis[:, :d], basis[:, d:]
        self.E = rng.normal(size=(p, d))
        self.multipliers = np.array([0.5, 3.0])

    def exact(self, factors, sigma=SIGMA):
        return ExactMMD(self.X, self.comparison.weights.of(self.codes), self.comparison, sigma, factors)

    def features(self, factors):
        coordinates = Coordinates(self.X.mean(axis=0), np.eye(self.X.shape[1]))
        return features_mmd(ArrayRows(self.X, self.codes), coordinates, self.comparison, SIGMA, factors)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("factors", EACH)
@pytest.mark.parametrize(("n", "d"), [(5, 1), (257, 2), (600, 10)])
def test_tiles_agree_with_the_dense_formula(rng, n, d, factors):
    X, V = rng.normal(size=(n, d + 3)), np.linalg.qr(rng.normal(size=(d + 3, d)))[0]
    X[0] *= 30
    group = rng.permutation(np.arange(n) % 3 == 0)
    codes, comparison = by_group(group)
    mmd = ExactMMD(X, comparison.weights.of(codes), comparison, SIGMA, factors)
    (value,), (gradient,) = mmd.evaluate(V)
    assert value == pytest.approx(dense(X @ V, of_groups(group), SIGMA, factors), abs=1e-13)
    np.testing.assert_allclose(gradient, dense_gradient(X, V, of_groups(group), SIGMA, factors), rtol=0, atol=1e-12)
    assert mmd.value(V)[0] == pytest.approx(value, abs=1e-14)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("factors", EACH)
def test_all_derivatives_are_the_means_of_those_of_the_scales(rng, factors):
    case = Case(rng)
    V, Q, multipliers = case.V, case.Q, case.multipliers
    joint, apart = case.exact(factors), [case.exact((1.0,), factor * SIGMA) for factor in factors]
    values, gradients = joint.evaluate(V)
    np.testing.assert_allclose(values, np.mean([mmd.evaluate(V)[0] for mmd in apart], axis=0), atol=1e-14)
    np.testing.assert_allclose(gradients, np.mean([mmd.evaluate(V)[1] for mmd in apart], axis=0), atol=1e-13)
    total = np.tensordot(multipliers, gradients, axes=1)
    hessian = joint.hessian(V, Q, total, multipliers)
    hessians = [mmd.hessian(V, Q, np.tensordot(multipliers, mmd.evaluate(V)[1], axes=1), multipliers) for mmd in apart]
    np.testing.assert_allclose(hessian, np.mean(hessians, axis=0), atol=1e-11 * np.abs(hessian).max())
    single = joint.hessian(V, Q, total, multipliers, single_precision=True)
    np.testing.assert_allclose(single, hessian, atol=2e-3 * np.abs(hessian).max())


@pytest.mark.usefixtures("each_engine")
def test_derivatives_have_the_right_taylor_slopes(rng):
    case = Case(rng)
    mmd, V, E, multipliers = case.exact(FOUR), case.V, case.E / np.linalg.norm(case.E), case.multipliers
    values, gradients = mmd.evaluate(V)
    gradient, product = np.tensordot(multipliers, gradients, axes=1), hessian_product(mmd, V, E, multipliers)
    slope, curvature = np.vdot(gradient, E), np.vdot(product, E)
    steps = np.logspace(-4, -2.5, 8)

    def change(t):
        return multipliers @ (mmd.value(V + t * E) - values) - t * slope

    def gradient_change(t):
        return np.linalg.norm(np.tensordot(multipliers, mmd.evaluate(V + t * E)[1], axes=1) - gradient - t * product)

    assert taylor_slope(change, steps) == pytest.approx(2, abs=0.1)
    assert taylor_slope(lambda t: change(t) - t * t * curvature / 2, steps) == pytest.approx(3, abs=0.2)
    assert taylor_slope(gradient_change, steps) == pytest.approx(2, abs=0.2)
    B = rng.normal(size=(4, 2))
    tangent = case.Q @ B
    expected = riemannian_product(mmd, V, gradient, tangent, multipliers)
    found = (mmd.hessian(V, case.Q, gradient, multipliers) @ B.T.ravel()).reshape(2, 4).T
    np.testing.assert_allclose(found, case.Q.T @ expected, atol=1e-7)


@pytest.mark.parametrize("factors", [FOUR, (3.0, 1.0), (0.5,)])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_features_are_the_exact_discrepancy_within_their_errors(rng, d, factors):
    case = Case(rng, d)
    found, exact = case.features(factors).measured_at(case.V, np.zeros(2)), case.exact(factors).value(case.V)
    assert np.all(np.abs(found.values - exact) <= found.errors + 1e-12)


@pytest.mark.parametrize("factors", [FOUR, (0.5, 1.0, 0.7)])
def test_derivatives_of_features_agree_with_the_exact_ones(rng, factors):
    case = Case(rng, 1)
    exact, mmd = case.exact(factors), case.features(factors)
    for expected, found in zip(exact.evaluate(case.V), mmd.evaluate(case.V), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)
    gradient = mmd.evaluate(case.V)[1]
    arguments = case.V, case.Q, np.tensordot(case.multipliers, gradient, axes=1), case.multipliers
    # The row that no feature reaches has a part in the exact one.
    np.testing.assert_allclose(mmd.hessian(*arguments), exact.hessian(*arguments), rtol=0, atol=1e-3)


def test_features_have_the_known_value_where_they_were_made(rng):
    case = Case(rng, 4)
    known = case.exact(FOUR).value(case.V)
    around = case.features(FOUR).around(case.V, known)
    np.testing.assert_allclose(around.value(case.V), known, rtol=1e-10)
    E, (values, gradients) = case.E / np.linalg.norm(case.E), around.evaluate(case.V)
    slope = np.vdot(gradients.sum(axis=0), E)
    steps = np.logspace(-4, -2.5, 8)
    change = [around.value(case.V + t * E).sum() - values.sum() - t * slope for t in steps]
    assert taylor_slope(lambda t: change[int(np.argmin(np.abs(steps - t)))], steps) == pytest.approx(2, abs=0.1)


def test_scales_that_are_powers_of_each_other_share_an_exponential():
    assert Mixture.of(FOUR).rates == (1.0, 4.0, 16.0, 64.0)
    assert Mixture.of(FOUR).squarings == (-1, 2, 2, 2)
    assert Mixture.of((1.0, 0.5, 1.0)).squarings == (-1, 0, 2)
    assert Mixture.of((3.0, 1.0)).squarings == (-1, -1)
    # Errors grow with the power: some begin anew.
    assert Mixture.of(2.0 ** -np.arange(7)).squarings == (-1, 2, 2, 2, 2, -1, 2)
    assert Mixture.of((0.7,)).rates == (1.0,)


@pytest.mark.usefixtures("each_engine")
def test_seven_scales_and_rows_at_all_distances_lose_no_accuracy(rng):
    factors = tuple(2.0 ** -np.arange(7))
    X = rng.normal(size=(300, 2)) * np.exp(rng.uniform(-6, 5, size=(300, 1)))
    group = np.arange(300) % 2 == 0
    codes, comparison = by_group(group)
    found = ExactMMD(X, comparison.weights.of(codes), comparison, SIGMA, factors).value(np.eye(2))
    assert found[0] == pytest.approx(dense(X, of_groups(group), SIGMA, factors), abs=1e-13)


@pytest.mark.parametrize("n_orders", [0, 3])
def test_compiled_loops_refuse_tables_of_scales_they_cannot_read(native, n_orders):
    rows, operand, sums = np.ones((2, 5)), np.ones((1, 5)), np.ones((1, 5))
    with pytest.raises(ValueError, match="do not agree in shape"):
        native.gaussian_sums(rows, operand, sums, 0, 1, 1, np.ones((4, 2 + n_orders)), 1)


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


@pytest.mark.thorough
@pytest.mark.parametrize(("d", "in_blocks"), [(2, False), (4, False), pytest.param(2, True, marks=pytest.mark.slow)])
def test_a_fit_to_many_rows_converges_and_measures_what_dense_matrices_do(d, in_blocks):
    X, group = table(6000)
    rows, people = (da.from_array(X, chunks=(2500, -1)), da.from_array(group, chunks=2500)) if in_blocks else (X, group)
    model = FairPCA(d, tolerance=2e-3, bandwidth="scales", random_state=0).fit(rows, sensitive_features=people)
    assert model.converged_
    assert model.mmd_method_ == "hermite"
    expected = dense(model.transform(X), of_groups(group), model.bandwidth_, FOUR)
    assert model.mmd2_ == pytest.approx(expected, abs=1e-12)
    assert 0.99 * 2e-3 <= model.mmd2_ <= 2e-3


def test_sigma_is_the_one_of_a_single_bandwidth():
    X, group = table(300)
    one, four = (FairPCA(2, tolerance=1e-3, bandwidth=name) for name in ("median", "scales"))
    for model in (one, four):
        model.fit(X, sensitive_features=group)
    assert one.bandwidth_ == four.bandwidth_
    assert one.bandwidth_factors_ == (1.0,)
    assert four.bandwidth_factors_ == FOUR


def test_one_scale_is_a_bandwidth_bit_by_bit():
    X, group = table(300)
    usual, same, half = (
        FairPCA(2, tolerance=1e-3, bandwidth=bandwidth).fit(X, sensitive_features=group)
        for bandwidth in (2.0, Scales([1], bandwidth=2.0), Scales([0.5], bandwidth=4.0))
    )
    for model in (same, half):
        np.testing.assert_array_equal(model.components_, usual.components_)
        assert model.mmd2_ == usual.mmd2_
    assert (half.bandwidth_, half.bandwidth_factors_) == (4.0, (0.5,))


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


@pytest.mark.parametrize("n", [300, pytest.param(6000, marks=pytest.mark.slow)])
def test_the_automatic_tolerance_is_that_of_the_mean_kernel(n):
    X, group = table(n)
    model = FairPCA(2, tolerance="auto", bandwidth="scales", random_state=0).fit(X, sensitive_features=group)
    Z = model.transform(X)
    squares, masses = cdist(Z, Z, "sqeuclidean"), 1 / group.sum() + 1 / (~group).sum()
    mean = np.mean([np.exp(-squares / (2 * (f * model.bandwidth_) ** 2)).sum() for f in FOUR])
    chance = masses * (1 - (mean - n) / (n * (n - 1)))
    (measure,) = model.measures_
    assert measure["tolerance"] == pytest.approx(chance / 2, rel=0.1)
    assert model.mmd2_ <= measure["tolerance"]


def test_the_path_takes_scales():
    X, group = table(200, p=5)
    path = fair_pca_path(X, group, 2, tolerances=[3e-2, 1e-2], bandwidth="scales")
    assert [model.bandwidth_factors_ for model in path.models_] == [FOUR, FOUR]
    assert np.all(path.mmd2s_ <= [3e-2, 1e-2])


def test_scales_are_values():
    assert Scales() == Scales.of("scales") == Scales([2, 1, 0.5, 0.25])
    assert hash(Scales()) == hash(Scales.of("scales"))
    assert Scales.of(3) == Scales((1.0,), 3.0)
    assert Scales.of("median") == Scales((1.0,))
    model = FairPCA(bandwidth=Scales((1, 0.5)))
    assert clone(model).bandwidth == model.bandwidth
    assert "Scales(factors=(1.0, 0.5), bandwidth='median')" in repr(model)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"factors": ()}, ValueError, "factors is empty; give one number greater than 0"),
        ({"factors": (1, 0)}, ValueError, r"factors=\(1.0, 0.0\) must be finite and greater than 0"),
        ({"factors": (1, -2.0)}, ValueError, "must be finite and greater than 0"),
        ({"factors": (1, np.inf)}, ValueError, "must be finite and greater than 0"),
        ({"factors": (1, np.nan)}, ValueError, "must be finite and greater than 0"),
        ({"factors": (1, 1e-5)}, ValueError, "must be within 10,000 times of each other"),
        ({"factors": 2.0}, TypeError, "factors must be a sequence of numbers such as .*; got 2.0"),
        ({"factors": "21"}, TypeError, "factors must be a sequence of numbers such as .*; got '21'"),
        ({"factors": (1, "2")}, TypeError, "got '2' in it"),
        ({"factors": (1, True)}, TypeError, "got True in it"),
        ({"bandwidth": "scales"}, ValueError, r"bandwidth='scales' is unknown; choose one of \['median'\]"),
        ({"bandwidth": 0.0}, ValueError, "bandwidth=0.0 must be greater than 0"),
        ({"bandwidth": None}, TypeError, 'bandwidth must be "median" or a positive number; got None'),
    ],
)
def test_bad_scales_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        Scales(**settings)


@pytest.mark.parametrize("bad", ["scale", [2, 1], None, -1.0])
def test_bad_bandwidths_are_refused_before_any_work(bad):
    with pytest.raises((ValueError, TypeError), match="bandwidth"):
        mmd2(np.zeros((4, 1)), sensitive_features=[0, 1, 0, 1], bandwidth=bad)
    with pytest.raises((ValueError, TypeError), match="bandwidth"):
        # Rows that would be refused themselves, were they compared.
        FairPCA(1, bandwidth=bad).fit(np.zeros((4, 1)), sensitive_features=[0, 0, 0, 1])
