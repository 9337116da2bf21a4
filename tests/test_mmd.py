import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from comparisons import by_group, by_weights, exact_mmd, exact_parity, riemannian_product, weights_of_groups
from fairpca.compiled import HAS_COMPILED
from fairpca.data._merged import merge_equal_rows
from fairpca.geometry import taylor_slope
from fairpca.mmd import ExactMMD, engine, using_engine
from fairpca.mmd.exact._products import whole_and_half_products

SIGMA = 1.3


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


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize(("n", "d"), [(5, 1), (255, 2), (256, 3), (257, 2), (700, 10), (1030, 5)])
def test_tiles_agree_with_the_dense_formula(rng, n, d):
    X, group, V = problem(rng, n, d + 3, d)
    mmd = exact_parity(X, group, SIGMA)
    value, gradients = mmd.evaluate(V)
    expected, expected_gradient = dense(X, V, weights_of_groups(group)[:, 0], SIGMA)
    np.testing.assert_allclose(value[0], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradients, [expected_gradient], rtol=0, atol=1e-12)
    np.testing.assert_allclose(mmd.value(V), value, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("each_engine")
def test_rows_far_away_lose_no_accuracy(rng):
    X, group, V = problem(rng, 300, 4, 2)
    X[0] *= 1e3
    X[1:40] += 50 * SIGMA
    value, gradients = exact_parity(X, group, SIGMA).evaluate(V)
    expected, expected_gradient = dense(X, V, weights_of_groups(group)[:, 0], SIGMA)
    np.testing.assert_allclose(value[0], expected, atol=1e-12)
    np.testing.assert_allclose(gradients, [expected_gradient], atol=1e-10)


@pytest.mark.usefixtures("each_engine")
def test_derivatives_have_the_right_taylor_slopes(rng):
    X, group, V = problem(rng, 300, 6, 2)
    mmd = exact_parity(X, group, SIGMA)
    E = rng.normal(size=V.shape)
    value, (gradient,) = mmd.evaluate(V)
    slope = np.vdot(gradient, E)

    assert taylor_slope(lambda t: mmd.value(V + t * E)[0] - value[0] - t * slope) == pytest.approx(2, abs=0.1)


@pytest.mark.usefixtures("each_engine")
def test_several_measures_have_gradients_of_their_own_and_hessians_with_multipliers(rng):
    X, group, V = problem(rng, 200, 5, 2)
    other = rng.permutation(group)
    weights = np.hstack([weights_of_groups(each) for each in (group, other, group)])
    multipliers = np.array([0.5, 3.0])
    basis = np.linalg.qr(np.hstack([V, rng.normal(size=(5, 3))]))[0]
    Q = basis[:, 2:]
    joint = exact_mmd(X, *by_weights(weights, np.array([0, 1, 1])), SIGMA)
    apart = [exact_parity(X, each, SIGMA) for each in (group, other)]
    (h1, (g1,)), (h2, (g2,)) = (mmd.evaluate(V) for mmd in apart)
    values, gradients = joint.evaluate(V)
    np.testing.assert_allclose(values, [h1[0], h1[0] + h2[0]], atol=1e-14)
    np.testing.assert_allclose(gradients, [g1, g1 + g2], atol=1e-13)
    H1, H2 = (mmd.hessian(V, Q, g) for mmd, g in zip(apart, (g1, g2), strict=True))
    gradient = np.tensordot(multipliers, gradients, axes=1)
    np.testing.assert_allclose(joint.hessian(V, Q, gradient, multipliers), 0.5 * H1 + 3 * (H1 + H2), atol=1e-13)


def value_of(X, group, V, sigma=SIGMA):
    return exact_parity(X, group, sigma).value(V)[0]


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
    codes, comparison = by_group(group)
    more, nowhere = np.vstack([X, rng.normal(size=(30, 4))]), np.full((30, 1), -1)
    np.testing.assert_allclose(
        exact_mmd(more, np.vstack([codes, nowhere]), comparison, SIGMA).value(V),
        exact_mmd(X, codes, comparison, SIGMA).value(V),
        atol=1e-15,
    )


def test_merging_equal_rows_changes_nothing(rng):
    X, group, V = problem(rng, 200, 4, 2)
    X = np.round(X)
    codes, comparison = by_group(group)
    weights = comparison.weights.of(codes)
    fewer, merged = merge_equal_rows(X, weights)
    assert len(fewer) == len(np.unique(X, axis=0)) < len(X)
    before, after = (ExactMMD(*rows, comparison, SIGMA).evaluate(V) for rows in ((X, weights), (fewer, merged)))
    np.testing.assert_allclose(after[0], before[0], atol=1e-14)
    np.testing.assert_allclose(after[1], before[1], atol=1e-14)


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
        native.gaussian_sums(np.ones((2, 5)), np.ones((1, 4)), np.ones((1, 5)), 0, 1, 1)


@pytest.mark.parametrize("n_whole", [-1, 2])
def test_compiled_loops_refuse_more_whole_products_than_operands(native, n_whole):
    with pytest.raises(ValueError, match="do not agree in shape"):
        native.gaussian_sums(np.ones((2, 5)), np.ones((1, 5)), np.ones((1, 5)), 0, 1, n_whole)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("n", [3, 70, 600])
def test_a_half_product_and_its_transpose_are_the_whole(rng, n):
    Z, whole, halved = (rng.normal(size=(n, width)) for width in (2, 3, 5))
    K = np.exp(-np.sum((Z[:, None] - Z) ** 2, axis=2) / 2)
    product, half = whole_and_half_products(Z, whole, halved)
    np.testing.assert_allclose(product, K @ whole, atol=1e-12)
    once = halved.T @ half
    np.testing.assert_allclose(once + once.T, halved.T @ K @ halved, atol=1e-11)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize(("n", "p", "d"), [(150, 6, 2), (140, 25, 3), (300, 9, 1)])
def test_hessian_agrees_with_differences_of_gradients(rng, n, p, d):
    X, group, _ = problem(rng, n, p, d)
    mmd = exact_parity(X, group, SIGMA)
    basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
    V, Q = basis[:, :d], basis[:, d:]
    gradient = mmd.evaluate(V)[1][0]
    hessian = mmd.hessian(V, Q, gradient)
    single = mmd.hessian(V, Q, gradient, single_precision=True)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-14)
    np.testing.assert_allclose(single, hessian, atol=1e-4 * np.abs(hessian).max())
    for _ in range(3):
        B = rng.normal(size=(p - d, d))
        tangent = Q @ B
        expected = riemannian_product(mmd, V, gradient, tangent)
        product = (hessian @ B.T.ravel()).reshape(d, p - d).T
        np.testing.assert_allclose(product, Q.T @ expected, atol=1e-8)


@pytest.mark.parametrize("n_far", [1, 2])
def test_rows_that_stand_alone_are_found(rng, n_far):
    X, group, V = problem(rng, 100, 4, 2)
    far = np.flatnonzero(group == group[7])[:n_far]
    X[far] = 400 * V[:, 0] + 0.01 * rng.normal(size=(n_far, 4))
    mmd = exact_parity(X, group, 30 * SIGMA)
    directions = mmd.isolated_directions(V, 0.05 * mmd.value(V))
    assert directions.shape == (4, n_far)
    np.testing.assert_allclose(directions, np.repeat(V[:, :1], n_far, axis=1), atol=1e-3)
    assert mmd.isolated_directions(V, np.ones(1)).shape == (4, 0)


WITHOUT_COMPILED_LOOPS = """
import sys

sys.modules["fairpca.compiled._native"] = None

import numpy as np
from fairpca.mmd import engine, kernel_products, using_engine

assert engine() == "numpy"
np.testing.assert_allclose(kernel_products(np.zeros((3, 1)), np.ones((3, 2)), 1.0), 3)
try:
    with using_engine("compiled"):
        pass
except ValueError as error:
    assert "this installation has ['numpy']" in str(error), error
else:
    raise AssertionError("an engine that is not there was not refused")
"""


def test_without_a_compiler_numpy_makes_the_kernel_sums():
    subprocess.run([sys.executable, "-c", WITHOUT_COMPILED_LOOPS], check=True)


def test_engines_are_chosen_for_a_while():
    usual = engine()
    assert usual == ("compiled" if HAS_COMPILED else "numpy")
    with using_engine("numpy"):
        assert engine() == "numpy"
    with (
        pytest.raises(ValueError, match="engine 'fortran' is not there; this installation has"),
        using_engine("fortran"),
    ):
        pass
    assert engine() == usual
