import os

import numpy as np
import pytest
from fairpca.comparison._measures import SignedMeasures, demographic_parity, merge_equal_rows
from scipy.spatial.distance import cdist

from fairpca.geometry import Grassmann, taylor_slope
from fairpca.mmd import ExactMMD, _gaussian

SIGMA = 1.3


def require_compiled():
    """Skip without the compiled loops, which need a compiler at install time; on CI, where there is one, fail."""
    if not _gaussian.NATIVE:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("the compiled loops were not built: no C compiler?")


@pytest.fixture
def native():
    require_compiled()
    return _gaussian._native


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"])
def engine(request, monkeypatch):
    """Run a test on the compiled loops and on plain numpy."""
    if request.param:
        require_compiled()
    monkeypatch.setattr(_gaussian, "NATIVE", request.param)


def dense(X, V, weights, sigma):
    """Return h and its gradient from full n x n arrays and the plain formula."""
    Z = X @ V
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / (2 * sigma**2))
    A = np.outer(weights, weights) * K
    return A.sum(), -2 / sigma**2 * X.T @ (A.sum(axis=1)[:, None] * Z - A @ Z)


def problem(rng, n, p, d):
    X = rng.normal(size=(n, p))
    group = rng.permutation(np.arange(n) % 3 == 0)
    V = np.linalg.qr(rng.normal(size=(p, d)))[0]
    return X, group, V


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("n", "d"), [(5, 1), (255, 2), (256, 3), (257, 2), (700, 10), (1030, 5)])
def test_tiles_agree_with_the_dense_formula(rng, n, d):
    X, group, V = problem(rng, n, d + 3, d)
    measures = demographic_parity(group)
    value, gradient = ExactMMD(X, measures, SIGMA).evaluate(V)
    expected, expected_gradient = dense(X, V, measures.weights[:, 0], SIGMA)
    np.testing.assert_allclose(value[0], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ExactMMD(X, measures, SIGMA).value(V), value, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("engine")
def test_rows_far_away_lose_no_accuracy(rng):
    X, group, V = problem(rng, 300, 4, 2)
    X[0] *= 1e3
    X[1:40] += 50 * SIGMA
    measures = demographic_parity(group)
    value, gradient = ExactMMD(X, measures, SIGMA).evaluate(V)
    expected, expected_gradient = dense(X, V, measures.weights[:, 0], SIGMA)
    np.testing.assert_allclose(value[0], expected, atol=1e-12)
    np.testing.assert_allclose(gradient, expected_gradient, atol=1e-10)


@pytest.mark.usefixtures("engine")
def test_derivatives_have_the_right_taylor_slopes(rng):
    X, group, V = problem(rng, 300, 6, 2)
    mmd = ExactMMD(X, demographic_parity(group), SIGMA)
    E = rng.normal(size=V.shape)
    value, gradient = mmd.evaluate(V)
    product = mmd.hessian_product(V, E)
    slope = np.vdot(gradient, E)
    curvature = np.vdot(product, E)

    assert taylor_slope(lambda t: mmd.value(V + t * E)[0] - value[0] - t * slope) == pytest.approx(2, abs=0.1)
    steps = np.logspace(-2.5, -1, 8)
    second = taylor_slope(lambda t: mmd.value(V + t * E)[0] - value[0] - t * slope - t * t * curvature / 2, steps)
    assert second == pytest.approx(3, abs=0.2)
    gradient_slope = taylor_slope(lambda t: np.linalg.norm(mmd.evaluate(V + t * E)[1] - gradient - t * product), steps)
    assert gradient_slope == pytest.approx(2, abs=0.2)


@pytest.mark.usefixtures("engine")
def test_several_measures_are_weighted_by_their_multipliers(rng):
    X, group, V = problem(rng, 200, 5, 2)
    other = rng.permutation(group)
    first, second = demographic_parity(group), demographic_parity(other)
    both = SignedMeasures(np.hstack([first.weights, second.weights, first.weights]), np.array([0, 1, 1]), ("x", "y"))
    multipliers = np.array([0.5, 3.0])
    E = rng.normal(size=V.shape)
    joint = ExactMMD(X, both, SIGMA)
    apart = [ExactMMD(X, measures, SIGMA) for measures in (first, second)]
    (h1, g1), (h2, g2) = (mmd.evaluate(V) for mmd in apart)
    values, gradient = joint.evaluate(V, multipliers)
    np.testing.assert_allclose(values, [h1[0], h1[0] + h2[0]], atol=1e-14)
    np.testing.assert_allclose(gradient, 0.5 * g1 + 3 * (g1 + g2), atol=1e-13)
    p1, p2 = (mmd.hessian_product(V, E) for mmd in apart)
    np.testing.assert_allclose(joint.hessian_product(V, E, multipliers), 0.5 * p1 + 3 * (p1 + p2), atol=1e-13)


def value_of(X, group, V, sigma=SIGMA):
    return ExactMMD(X, demographic_parity(group), sigma).value(V)[0]


def test_never_negative_and_zero_on_equal_samples(rng):
    X, _, V = problem(rng, 150, 4, 2)
    twice, group = np.vstack([X, X]), np.repeat([0, 1], 150)
    assert value_of(twice, group, V) == pytest.approx(0, abs=1e-15)
    for _ in range(20):
        assert value_of(twice, rng.permutation(group), V) > -1e-16


def test_symmetric_in_the_groups_bit_by_bit(rng):
    X, group, V = problem(rng, 150, 4, 2)
    assert value_of(X, group, V) == value_of(X, ~group, V)


def test_invariant_to_rotation_and_shift(rng):
    X, group, V = problem(rng, 150, 4, 2)
    rotation = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    expected = value_of(X, group, V)
    assert value_of(X, group, V @ rotation) == pytest.approx(expected, abs=1e-14)
    assert value_of(X + 1000 * rng.normal(size=4), group, V) == pytest.approx(expected, abs=1e-10)


def test_rows_without_weight_change_nothing(rng):
    X, group, V = problem(rng, 150, 4, 2)
    measures = demographic_parity(group)
    padded = SignedMeasures(np.vstack([measures.weights, np.zeros((30, 1))]), measures.owner, measures.names)
    more = np.vstack([X, rng.normal(size=(30, 4))])
    np.testing.assert_allclose(
        ExactMMD(more, padded, SIGMA).value(V), ExactMMD(X, measures, SIGMA).value(V), atol=1e-15
    )


def test_merging_equal_rows_changes_nothing(rng):
    X, group, V = problem(rng, 200, 4, 2)
    X = np.round(X)
    measures = demographic_parity(group)
    fewer, merged = merge_equal_rows(X, measures)
    assert len(fewer) == len(np.unique(X, axis=0)) < len(X)
    for before, after in zip(
        ExactMMD(X, measures, SIGMA).evaluate(V), ExactMMD(fewer, merged, SIGMA).evaluate(V), strict=True
    ):
        np.testing.assert_allclose(after, before, atol=1e-14)


def test_compiled_exponential_is_exact_to_two_units_in_the_last_place(rng, native):
    x = np.concatenate([-rng.random(1001) * 40, -rng.random(1001) * 700, [0.0, -0.0, -1e-300, -5e-324]])
    y = x.copy()
    native.exp_inplace(y)
    np.testing.assert_allclose(y, np.exp(x), rtol=4.5e-16)


@pytest.mark.parametrize("bad", [np.ones(4, dtype=np.float32), np.ones((4, 4))[:, ::2], [1.0, 2.0]])
def test_compiled_loops_refuse_arrays_they_cannot_read(bad, native):
    with pytest.raises((TypeError, BufferError, ValueError)):
        native.exp_inplace(bad)


def test_compiled_loops_refuse_shapes_that_disagree(native):
    with pytest.raises(ValueError, match="do not agree in shape"):
        native.gaussian_lane(np.ones((2, 5)), np.ones((1, 4)), np.ones((1, 5)), 0, 1)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(("n", "p", "d"), [(150, 6, 2), (140, 25, 3), (300, 9, 1)])
def test_hessian_agrees_with_hessian_vector_products(rng, n, p, d):
    X, group, _ = problem(rng, n, p, d)
    mmd = ExactMMD(X, demographic_parity(group), SIGMA)
    basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
    V, Q = basis[:, :d], basis[:, d:]
    gradient = mmd.evaluate(V)[1]
    hessian = mmd.hessian(V, Q, gradient)
    single = mmd.hessian(V, Q, gradient, single_precision=True)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)
    np.testing.assert_allclose(single, hessian, atol=1e-4 * np.abs(hessian).max())
    for _ in range(3):
        B = rng.normal(size=(p - d, d))
        tangent = Q @ B
        expected = Grassmann().riemannian_hessian(V, gradient, mmd.hessian_product(V, tangent), tangent)
        product = (hessian @ B.T.ravel()).reshape(d, p - d).T
        np.testing.assert_allclose(product, Q.T @ expected, atol=1e-13)


@pytest.mark.parametrize("n_far", [1, 2])
def test_rows_that_stand_alone_are_found(rng, n_far):
    X, group, V = problem(rng, 100, 4, 2)
    far = np.flatnonzero(group == group[7])[:n_far]
    X[far] = 400 * V[:, 0] + 0.01 * rng.normal(size=(n_far, 4))
    mmd = ExactMMD(X, demographic_parity(group), 30 * SIGMA)
    directions = mmd.isolated_directions(V, 0.05 * mmd.value(V)[0])
    assert directions.shape == (4, n_far)
    np.testing.assert_allclose(directions, np.repeat(V[:, :1], n_far, axis=1), atol=1e-3)
    assert mmd.isolated_directions(V, 1.0).shape == (4, 0)
