"""Hessians of discrepancies from the first two moments of the rows."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from comparisons import by_group, exact_mmd
from fairpca.mmd import Coordinates, features_mmd
from fairpca.rows import ArrayRows

D, Q = 4, 3


def flat(B):
    return B.T.ravel()


@pytest.fixture
def groups(rng):
    """Normal rows whose three groups agree along the first axes, and differ in means and covariances elsewhere."""
    group = np.arange(6000) % 3
    X = rng.normal(size=(len(group), D + Q)) * np.geomspace(1.0, 0.3, D + Q)
    X[:, D] += 0.2 * (group == 1)
    X[:, D + 1] += 0.3 * (group == 2) * X[:, 0]
    X[:, D + 2] -= 0.3 * (group == 0) * X[:, 1]
    return X - X.mean(axis=0), *by_group(group)


def frames(X):
    axes = np.eye(X.shape[1])
    return axes[:, :D], axes[:, D:]


@pytest.mark.parametrize("factors", [(1.0,), (2.0, 1.0)])
def test_near_a_fair_frame_it_is_nearly_the_exact_one(groups, factors):
    X, codes, comparison = groups
    V, complement = frames(X)
    mmd = exact_mmd(X, codes, comparison, 3.0, factors)
    multipliers = np.linspace(0.5, 1.5, mmd.n_measures)
    gradient = np.tensordot(multipliers, mmd.evaluate(V)[1], axes=1)
    exact = mmd.hessian(V, complement, gradient, multipliers)
    by_moments = mmd.moment_hessian(V, complement, X[:, :D].var(axis=0), multipliers)
    units = np.eye(D * Q)
    products = np.stack([flat(by_moments.product(unit.reshape(D, Q).T)) for unit in units], axis=1)
    np.testing.assert_allclose(products, products.T, atol=1e-15)
    np.testing.assert_allclose(flat(by_moments.diagonal()), np.diag(products), rtol=1e-12)
    assert np.linalg.norm(products - exact) < 0.15 * np.linalg.norm(exact)


def test_a_pass_over_blocks_has_the_moments_of_all_rows(groups, rng):
    X, codes, comparison = groups
    V, complement = frames(X)
    rows = ArrayRows(X + 5.0, codes)
    coordinates = Coordinates(np.full(X.shape[1], 5.0), np.eye(X.shape[1]))
    B = rng.normal(size=(Q, D))
    for factors in ((1.0,), (2.0, 1.0)):
        exact = exact_mmd(X, codes, comparison, 3.0, factors).moment_hessian(V, complement, np.ones(D))
        features = features_mmd(rows, coordinates, comparison, 3.0, factors)
        here = features.around(V, np.zeros(features.n_measures)).moment_hessian(V, complement, np.ones(D))
        np.testing.assert_allclose(here.product(B), exact.product(B), rtol=1e-9)
