"""Features up to all products of two coordinates, beside the same ones made one by one."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from comparisons import by_group, exact_mmd
from fairpca import FairPCA
from fairpca.mmd import Coordinates, features_mmd
from fairpca.mmd.hermite._basis import HermiteBasis
from fairpca.mmd.hermite._quadratic import QuadraticBasis
from fairpca.rows import ArrayRows


@pytest.fixture
def points(rng):
    """Rows of different spread, the basis for them, and all rows in its axes, one of them out of reach."""
    Z = rng.normal(size=(300, 5)) * [0.6, 0.4, 0.3, 0.2, 0.1]
    basis = QuadraticBasis.fit(Z)
    Y = np.ascontiguousarray((Z @ basis.rotation).T)
    Y[:, 7] = 1e160
    return Z, basis, Y


def test_moments_are_those_of_single_features(points, rng):
    Z, basis, Y = points
    single = HermiteBasis.fit(Z, 2000)
    features = single.values(Y)[single.orders.sum(axis=1) <= 2]
    assert len(features) == QuadraticBasis.count(5)
    weights, squares = rng.normal(size=(2, Y.shape[1])), np.empty(Y.shape[1])
    moments = basis.moments(Y, weights, squares)
    np.testing.assert_allclose(moments @ moments.T, weights @ features.T @ features @ weights.T, rtol=1e-10)
    np.testing.assert_allclose(squares, np.square(features).sum(axis=0), rtol=1e-10, atol=1e-300)


def test_gradients_are_those_of_moments_and_squares(points, rng):
    _, basis, Y = points
    coefficients = basis.moments(Y, rng.normal(size=(1, Y.shape[1])))
    gradients, step = basis.gradients(Y, coefficients), 1e-6

    def potential(Y):
        squares = np.empty(Y.shape[1])
        basis.moments(Y, np.ones((1, Y.shape[1])), squares)
        each = [basis.moments(Y[:, [i]], np.ones((1, 1))) @ coefficients.T for i in range(Y.shape[1])]
        return np.array([np.ravel(each), squares])

    for a in range(len(Y)):
        moved = np.zeros_like(Y)
        moved[a] = step
        slopes = (potential(Y + moved) - potential(Y - moved)) / (2 * step)
        np.testing.assert_allclose(gradients[a], slopes, atol=1e-8)


def test_in_many_dimensions_differences_cannot_hide_in_products_of_coordinates(rng):
    """Groups that differ in the covariance of every pair of coordinates a little."""
    n, d = 3000, 30
    group = np.arange(n) % 2
    X = rng.normal(size=(n, d + 10))
    X[group == 1] = X[group == 1] @ np.linalg.cholesky(np.eye(d + 10) + 0.25 * np.ones((d + 10, d + 10))).T
    codes, comparison = by_group(group)
    rows, coordinates = ArrayRows(X, codes), Coordinates(X.mean(axis=0), np.eye(d + 10))
    V, other = (np.linalg.qr(rng.normal(size=(d + 10, d)))[0] for _ in range(2))
    exact = exact_mmd(X, codes, comparison, 9.0)
    mmd = features_mmd(rows, coordinates, comparison, 9.0).around(V, exact.value(V))
    np.testing.assert_allclose(mmd.value(V), exact.value(V), rtol=1e-10)
    np.testing.assert_allclose(mmd.value(other), exact.value(other), rtol=0.05)


def test_a_fit_of_many_components_to_many_rows_meets_its_tolerance_in_few_rounds(rng):
    n, p, d = 6000, 45, 25
    group = np.arange(n) % 2
    X = rng.normal(size=(n, p)) * np.geomspace(2, 0.5, p)
    X[group == 1] += 0.3 * X[group == 1] @ np.linalg.qr(rng.normal(size=(p, p)))[0]
    model = FairPCA(d, tolerance=2e-3, mmd="hermite", standardize=False, random_state=0).fit(
        X, sensitive_features=group
    )
    assert model.converged_
    assert model.mmd2_ <= 2e-3
    assert len(model.result_.levels) <= 4
