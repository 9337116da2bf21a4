"""The Hessian of Hermite features, and when a fit on many rows uses it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from comparisons import by_weights, exact_mmd
from fairpca.mmd import Coordinates, HermiteMMD
from fairpca.rows import ArrayRows

OWNER = np.array([0, 1, 1])
MULTIPLIERS = np.array([0.5, 3.0])


class Case:
    """Three groups that differ in mean and spread, two measures, a frame and its complement."""

    def __init__(self, rng, d, n=400, p=11, r=10):
        self.X = rng.normal(size=(n, p)) * np.geomspace(3, 0.3, p) + 20
        group = rng.permutation(np.arange(n) % 3)
        self.X[group == 1, 0] += 2
        self.X[group == 2] = 20 + 1.3 * (self.X[group == 2] - 20)
        weights = np.stack([(group == k) / np.sum(group == k) - 1 / n for k in range(3)], axis=1)
        self.codes, self.comparison = by_weights(weights, OWNER)
        self.coordinates = Coordinates(np.full(p, 20.0), np.eye(p, r))
        basis = np.linalg.qr(rng.normal(size=(r, r)))[0]
        self.V, self.Q = basis[:, :d], basis[:, d:]
        self.bandwidth = 2.0 * np.sqrt(d)

    def exact(self):
        return exact_mmd(self.coordinates.project(self.X), self.codes, self.comparison, self.bandwidth)

    def hermite(self, n_features, rows=ArrayRows, **options):
        data = rows(self.X, self.codes, **options)
        return HermiteMMD(data, self.coordinates, self.comparison, self.bandwidth, n_features)

    def hessian(self, mmd, **options):
        return hessian_at(mmd, self.V, self.Q, **options)


def hessian_at(mmd, V, Q, **options):
    gradient = np.tensordot(MULTIPLIERS, mmd.evaluate(V)[1], axes=1)
    return mmd.hessian(V, Q, gradient, MULTIPLIERS, **options)


@pytest.mark.parametrize(("d", "n_features"), [(1, 60), (2, 900), (3, 1500)])
def test_agrees_with_the_exact_hessian_when_the_features_suffice(rng, d, n_features):
    case = Case(rng, d)
    expected = case.hessian(case.exact())
    np.testing.assert_allclose(
        case.hessian(case.hermite(n_features)), expected, rtol=0, atol=1e-6 * np.abs(expected).max()
    )


def test_single_precision_is_enough_for_a_metric(rng):
    case = Case(rng, 5)
    mmd = case.hermite(100).anchored(case.V)
    hessian, single = case.hessian(mmd), case.hessian(mmd, single_precision=True)
    error = np.abs(single - hessian).max() / np.abs(hessian).max()
    assert 1e-12 < error < 1e-5
    assert single.dtype == np.float64


@pytest.mark.parametrize("single_precision", [False, True])
def test_a_row_that_no_feature_reaches_adds_nothing(rng, single_precision):
    case = Case(rng, 3)
    case.X[7] = 1e200
    mmd = case.hermite(40).anchored(case.V)
    found = case.hessian(mmd, single_precision=single_precision)
    case.codes[7] = -1
    expected = case.hessian(mmd, single_precision=single_precision)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, expected)


def test_a_row_too_far_along_the_chart_for_single_precision_is_not_lost(rng):
    case = Case(rng, 2)
    case.V, case.Q = np.eye(10)[:, :2], np.eye(10)[:, 2:]
    case.X[7, 4] = 1e20
    mmd = case.hermite(40).anchored(case.V)
    hessian, single = case.hessian(mmd), case.hessian(mmd, single_precision=True)
    assert np.abs(hessian).max() > 1e30
    np.testing.assert_allclose(single, hessian, rtol=0, atol=1e-5 * np.abs(hessian).max())
