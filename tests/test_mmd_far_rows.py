"""Distances lose no digits to rows that are far from the others."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from comparisons import by_group, exact_mmd, exact_parity, weights_of_groups
from fairpca.metrics import mmd2
from fairpca.mmd import Clusters, Coordinates, HermiteMMD, kernel_products
from fairpca.rows import ArrayRows

SIGMA = 1.3
FAR = [1e3, 1e6, 1e10, 1e150]


class ByPairs:
    """h and its derivatives as sums over pairs, differences of rows before anything else."""

    def __init__(self, X, V, weights):
        self.rows = X[:, None] - X[None, :]
        self.Z = self.rows @ V
        # A kernel value below the smallest number is 0, and so is whatever it multiplies.
        with np.errstate(over="ignore"):
            squares = np.sum(self.Z**2, axis=2)
        self.A = np.outer(weights, weights) * np.exp(-squares / (2 * SIGMA**2))
        self.rows[self.A == 0] = self.Z[self.A == 0] = 0

    def gradient(self):
        return -np.einsum("ij,ijp,ija->pa", self.A, self.rows, self.Z) / SIGMA**2

    def hessian_product(self, E):
        rate = self.rows @ E
        inner = np.sum(self.Z * rate, axis=2, keepdims=True) / SIGMA**2
        return -np.einsum("ij,ijp,ija->pa", self.A, self.rows, rate - inner * self.Z) / SIGMA**2


def far_rows(rng, size, kind, d=2, p=5):
    """Return rows of which one is, some are, or pairs are `size` bandwidths away."""
    X = rng.normal(size=(70, p))
    ways = rng.normal(size=(3, p))
    if kind == "one":
        X[0] += size * SIGMA * ways[0]
    elif kind == "several":
        X[:3] += size * SIGMA * ways
    else:
        # Rounded to where both exist exactly, half a bandwidth apart or as close as numbers of that size can be.
        X[:2] = size * SIGMA * ways[0]
        X[1, 0] += max(SIGMA / 2, 4 * np.spacing(np.abs(X[1, 0])))
        X[2:4] = -size * SIGMA * ways[1]
    group = np.arange(70) % 2
    V = np.linalg.qr(rng.normal(size=(p, p)))[0]
    return X, group, V[:, :d], V[:, d:]


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("kind", ["one", "several", "pairs"])
@pytest.mark.parametrize("size", FAR)
def test_values_and_derivatives_are_those_of_pairs(rng, size, kind, d):
    X, group, V, Q = far_rows(rng, size, kind, d)
    mmd, pairs = exact_parity(X, group, SIGMA), ByPairs(X, V, weights_of_groups(group)[:, 0])
    # Rows known to no more than this many bandwidths cannot be nearer to each other than to this.
    known_to = 1e-15 * size if kind == "pairs" and size < 1e100 else 0.0
    value, (gradient,) = mmd.evaluate(V)
    assert value[0] == pytest.approx(pairs.A.sum(), abs=1e-15 + known_to * 1e-2)
    np.testing.assert_allclose(gradient, pairs.gradient(), rtol=0, atol=1e-14 + known_to * 1e-2)
    hessian = mmd.hessian(V, Q, gradient)
    tangent = Q @ rng.normal(size=(5 - d, d))
    expected = pairs.hessian_product(tangent) - tangent @ (V.T @ gradient + gradient.T @ V) / 2
    found = (hessian @ (Q.T @ tangent).T.ravel()).reshape(d, -1).T
    np.testing.assert_allclose(found, Q.T @ expected, rtol=0, atol=1e-13 + known_to * 1e-2)
    single = mmd.hessian(V, Q, gradient, single_precision=True)
    np.testing.assert_allclose(single, hessian, rtol=0, atol=1e-4 * np.abs(hessian).max())


@pytest.mark.usefixtures("each_engine")
def test_a_chain_of_rows_that_reaches_far_is_exact(rng):
    Z = np.vstack([rng.normal(size=(300, 2)), np.outer(np.arange(1, 300) * 36.0, [1.0, 0.3])])
    Z = np.vstack([Z, Z[-50:] + 0.4])
    assert Clusters.of(Z).origins is None
    operand = rng.normal(size=(len(Z), 3))
    expected = np.exp(-cdist(Z, Z, "sqeuclidean") / 2) @ operand
    np.testing.assert_allclose(kernel_products(Z, operand, 1.0), expected, rtol=0, atol=1e-11)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("columns", [3, 60])
def test_what_is_not_a_number_stays_so(rng, columns):
    Z = rng.normal(size=(40, 2))
    # The missing value of R has other bits than numpy's.
    for missing in (np.nan, np.array([0x7FF80000000007A2], dtype=np.uint64).view(np.float64)[0]):
        Z[7, 1] = missing
        product = kernel_products(Z, np.ones((40, columns)), 1.0)
        assert np.isnan(product).all()


def two_far_rows(rng):
    Z = rng.normal(size=(200, 2))
    group = np.arange(200) % 2
    Z[group == 1, 0] += 0.3
    Z[3], Z[10] = 1e9, -2e9
    return Z, group


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1.0, 1e160, 1e290])
@pytest.mark.parametrize("unbiased", [False, True])
def test_mmd2_of_any_size_of_numbers(rng, scale, unbiased):
    Z, group = two_far_rows(rng)
    weights = np.where(group == 0, 1, -1) / 100
    K = np.exp(-cdist(Z, Z, "sqeuclidean") / 2)
    expected = weights @ K @ weights - unbiased * 0.02
    if unbiased:
        same = group[:, None] == group
        off = ~np.eye(200, dtype=bool)
        expected = K[same & off].sum() / (100 * 99) - 2 * K[~same].sum() / 2 / 100**2
    found = mmd2(Z * scale, sensitive_features=group, bandwidth=scale, unbiased=unbiased)
    assert found == pytest.approx(expected, rel=1e-10)
    sigma = np.sqrt(np.median(cdist(Z, Z, "sqeuclidean")[np.triu_indices(200, 1)]) / 2)
    by_median = mmd2(Z * scale, sensitive_features=group, unbiased=unbiased)
    assert by_median == pytest.approx(mmd2(Z, sensitive_features=group, bandwidth=sigma, unbiased=unbiased), rel=1e-9)


@pytest.mark.parametrize("sampled", [True, False], ids=["in the sample", "beside the sample"])
@pytest.mark.parametrize("size", FAR)
def test_features_fit_the_body_and_not_the_far_rows(rng, size, sampled):
    n = 4500
    X = rng.normal(size=(n, 4)) * [2, 1, 0.7, 0.5]
    # Of 4096 rows out of 4500, row 10 is not one.
    far = np.setdiff1d(np.arange(30), np.arange(4096) * n // 4096)[0] if not sampled else 4
    X[far] *= size
    X[far + 20] = X[far]
    codes, comparison = by_group(np.arange(n) % 2)
    weights = comparison.columns.of(codes)
    V = np.linalg.qr(rng.normal(size=(4, 2)))[0]
    coordinates = Coordinates(X.mean(axis=0), np.eye(4))
    arguments = (ArrayRows(X, codes), coordinates, comparison, SIGMA)
    exact = exact_mmd(X, codes, comparison, SIGMA)
    values, gradients = exact.evaluate(V)
    mmd = HermiteMMD(*arguments, n_features=400)
    found, bound = mmd.value_and_bound(V)
    # The two equal rows outside see each other, which is left out, and known to be.
    found = found + 2 * weights[far] * weights[far + 20]
    assert bound[0] < 2e-6
    assert found[0] == pytest.approx(values[0], abs=1e-9)
    np.testing.assert_allclose(mmd.evaluate(V)[1], gradients, rtol=0, atol=1e-8)
