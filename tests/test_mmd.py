"""The exact discrepancy, on every engine and with one or several bandwidths, against its definition."""
# SPDX-License-Identifier: MIT

import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from comparisons import OWNER, by_group, exact_mmd, exact_parity, three_groups
from fairpca.compiled import HAS_COMPILED
from fairpca.mmd import RawRowsMMD, engine, using_engine

SIGMA = 1.3
MULTIPLIERS = np.array([0.5, 3.0])
# One, powers of one exponential, exponentials of their own, both, a single factor that is not 1, and many.
FACTORS = [(1.0,), (2.0, 1.0, 0.5, 0.25), (3.0, 1.0), (0.5, 1.0, 0.7), (0.5,), tuple(2.0 ** -np.arange(7))]


class Case:
    """Rows at all distances with three columns of weights in two measures, a frame and its complement."""

    def __init__(self, rng, n, p, d, factors):
        self.X = rng.normal(size=(n, p)) * np.exp(rng.uniform(-2, 2, size=(n, 1)))
        self.X[0] *= 30
        self.weights, codes, comparison = three_groups(rng, self.X, shift=1)
        basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
        self.V, self.Q = basis[:, :d], basis[:, d:]
        self.factors = factors
        self.mmd = exact_mmd(self.X, codes, comparison, SIGMA, factors)

    def dense(self):
        """Return values and gradients from full n x n arrays, scale by scale and column by column."""
        Z = self.X @ self.V
        squares = cdist(Z, Z, "sqeuclidean")
        values, gradients = np.zeros(2), np.zeros((2, *self.V.shape))
        for f in self.factors:
            K, rate = np.exp(-squares / (2 * (f * SIGMA) ** 2)) / len(self.factors), -2 / (f * SIGMA) ** 2
            for j, w in zip(OWNER, self.weights.T, strict=True):
                A = np.outer(w, w) * K
                values[j] += A.sum()
                gradients[j] += rate * self.X.T @ (A.sum(axis=1)[:, None] * Z - A @ Z)
        return values, gradients


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("factors", FACTORS, ids=str)
@pytest.mark.parametrize(("n", "d"), [(5, 1), (257, 2), (600, 10)])
def test_values_and_gradients_are_those_of_the_definition(rng, n, d, factors):
    case = Case(rng, n, d + 3, d, factors)
    values, gradients = case.mmd.evaluate(case.V)
    expected, expected_gradients = case.dense()
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=0, atol=1e-11)
    np.testing.assert_allclose(case.mmd.value(case.V), values, rtol=0, atol=1e-14)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("factors", FACTORS[:3], ids=str)
@pytest.mark.parametrize(("n", "p", "d"), [(60, 3, 2), (150, 6, 2), (140, 25, 3), (300, 9, 1)])
def test_hessians_agree_with_differences_of_gradients(rng, n, p, d, factors):
    case = Case(rng, n, p, d, factors)
    V, Q = case.V, case.Q
    gradient = np.tensordot(MULTIPLIERS, case.mmd.evaluate(V)[1], axes=1)
    hessian = case.mmd.hessian(V, Q, gradient, MULTIPLIERS)
    single = case.mmd.hessian(V, Q, gradient, MULTIPLIERS, single_precision=True)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-13)
    np.testing.assert_allclose(single, hessian, atol=2e-3 * np.abs(hessian).max())
    B = rng.normal(size=(p - d, d))
    ahead, behind = (case.mmd.evaluate(V + step * Q @ B)[1] for step in (1e-5, -1e-5))
    # On the Grassmann manifold the product with a tangent eta is P(Hess h[eta]) - eta V'G.
    expected = Q.T @ np.tensordot(MULTIPLIERS, ahead - behind, axes=1) / 2e-5 - B @ (V.T @ gradient)
    product = (hessian @ B.T.ravel()).reshape(d, p - d).T
    np.testing.assert_allclose(product, expected, atol=1e-6)


def problem(rng, n=150, p=4, d=2):
    X = rng.normal(size=(n, p))
    return X, rng.permutation(np.arange(n) % 3 == 0), np.linalg.qr(rng.normal(size=(p, d)))[0]


def value_of(X, group, V):
    return exact_parity(X, group, SIGMA).value(V)[0]


def test_it_is_a_squared_distance_of_distributions(rng):
    X, group, V = problem(rng)
    twice, copies = np.vstack([X, X]), np.repeat([0, 1], 150)
    assert value_of(twice, copies, V) == pytest.approx(0, abs=1e-15)
    assert min(value_of(twice, rng.permutation(copies), V) for _ in range(20)) > -1e-16
    expected = value_of(X, group, V)
    assert value_of(X, ~group, V) == expected
    rotation = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    assert value_of(X, group, V @ rotation) == pytest.approx(expected, abs=1e-14)
    assert value_of(X + 1000 * rng.normal(size=4), group, V) == pytest.approx(expected, abs=1e-10)


def test_rows_without_weight_change_nothing(rng):
    X, group, V = problem(rng, 200)
    codes, comparison = by_group(group)
    expected = exact_mmd(X, codes, comparison, SIGMA).evaluate(V)
    more, nowhere = np.vstack([X, rng.normal(size=(30, 4))]), np.full((30, 1), -1)
    same = exact_mmd(more, np.vstack([codes, nowhere]), comparison, SIGMA).evaluate(V)
    for found, each in zip(same, expected, strict=True):
        np.testing.assert_allclose(found, each, atol=1e-14)


def test_raw_rows_give_a_solver_what_their_coordinates_do(rng):
    n, p, r, d = 120, 9, 7, 2
    X, matrix = rng.normal(size=(n, p)) * np.logspace(0, 3, p), rng.normal(size=(p, r)) * np.logspace(0, -3, p)[:, None]
    X[5] *= 40  # stands alone
    codes, comparison = by_group(np.arange(n) % 3)
    plain = exact_mmd(X @ matrix, codes, comparison, 3.0)
    raw = RawRowsMMD(exact_mmd(X, codes, comparison, 3.0), matrix)
    frame = np.linalg.qr(rng.normal(size=(r, r)))[0]
    V, Q = frame[:, :d], frame[:, d:]
    np.testing.assert_allclose(raw.value(V), plain.value(V), rtol=1e-10)
    for of_raw, of_plain in zip(raw.evaluate(V), plain.evaluate(V), strict=True):
        np.testing.assert_allclose(of_raw, of_plain, rtol=1e-8, atol=1e-13)
    multipliers = np.array([1.0, 0.5, 2.0])
    gradient = np.tensordot(multipliers, plain.evaluate(V)[1], axes=1)
    hessians = (each.hessian(V, Q[:, :3], gradient, multipliers) for each in (raw, plain))
    np.testing.assert_allclose(*hessians, rtol=1e-8, atol=1e-12)
    towards, expected = (each.isolated_directions(V, np.full(3, 1e-5)) for each in (raw, plain))
    assert expected.shape[1] > 0
    np.testing.assert_allclose(towards, expected, rtol=1e-8, atol=1e-12)
    axes, inside = np.hstack([V, Q[:, :2]]), np.linalg.qr(np.arange(8.0).reshape(4, 2) ** 2 + 1)[0]
    np.testing.assert_allclose(raw.along(axes).value(inside), plain.value(axes @ inside), rtol=1e-10)


def test_compiled_exponential_is_exact_to_two_units_in_the_last_place(rng, native):
    x = np.concatenate([-rng.random(1001) * 40, -rng.random(1001) * 700, [0.0, -0.0, -1e-300, -5e-324]])
    y = x.copy()
    native.exp_inplace(y)
    np.testing.assert_allclose(y, np.exp(x), rtol=4.5e-16)


def test_compiled_loops_refuse_arrays_they_cannot_read(native):
    for bad in (np.ones(4, dtype=np.float32), np.ones((4, 4))[:, ::2], [1.0, 2.0]):
        with pytest.raises((TypeError, BufferError, ValueError)):
            native.exp_inplace(bad)
    operand, sums = np.ones((1, 5)), np.ones((1, 5))
    for bad in ((np.ones((1, 4)), sums, 0, 1, 1), (operand, sums, 0, 1, -1), (operand, sums, 0, 1, 2)):
        with pytest.raises(ValueError, match="do not agree in shape"):
            native.gaussian_sums(np.ones((2, 5)), *bad)
    for n_orders in (0, 3):
        with pytest.raises(ValueError, match="do not agree in shape"):
            native.gaussian_sums(np.ones((2, 5)), operand, sums, 0, 1, 1, np.ones((4, 2 + n_orders)), 1)


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
