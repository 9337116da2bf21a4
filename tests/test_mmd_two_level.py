"""Discrepancies of all rows for frames in a span, from the coordinates of the rows along it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from comparisons import by_group, exact_mmd
from fairpca.mmd import Coordinates, FeatureHessianMMD, Ledger, TwoLevelMMD, features_mmd
from fairpca.rows import ArrayRows

N_ROWS, N_COLUMNS, N_AXES = 500, 40, 20
KINDS = {"one bandwidth": ((1.0,), 3), "several": ((1.0, 0.5), 2)}


class CountedRows(ArrayRows):
    """Rows that count the passes over them."""

    n_passes = 0

    def total(self, function, *arguments):
        self.n_passes += 1
        return super().total(function, *arguments)


@pytest.fixture(params=KINDS)
def case(request, rng):
    """Two levels of some rows, one of them far away, axes of a span, and a frame in it."""
    factors, d = KINDS[request.param]
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * np.geomspace(3, 0.3, N_COLUMNS) + 5.0
    X[7] += 30.0
    group = np.arange(N_ROWS) % 2
    X[group == 1] *= 1.2
    codes, comparison = by_group(group)
    coordinates = Coordinates(X.mean(axis=0), np.linalg.qr(rng.normal(size=(N_COLUMNS, N_AXES)))[0])
    axes = np.linalg.qr(rng.normal(size=(N_AXES, 9)))[0]
    V = np.linalg.qr(rng.normal(size=(9, d)))[0]
    rows = CountedRows(X, codes)
    mmd = features_mmd(rows, coordinates, comparison, 3.0, factors)
    fine = mmd.around(axes @ V, np.array([0.01]))
    curvature = mmd.around(axes @ V, np.array([0.01]))
    sample = np.arange(0, N_ROWS, 2)[:100] + np.arange(100) % 2
    coarse = exact_mmd(coordinates.project(X[sample]), codes[sample], comparison.sampled(codes[sample]), 3.0)
    ledger = Ledger()
    return TwoLevelMMD(fine, curvature, coarse, ledger), axes, V, rows, ledger


def test_in_a_span_it_is_what_it_is_in_all_axes(case, rng):
    whole, axes, V, rows, _ = case
    inside = whole.along(axes)
    n_passes, near = rows.n_passes, np.linalg.qr(V + 0.05 * rng.normal(size=V.shape))[0]
    values, gradients = inside.evaluate(near)
    assert rows.n_passes == n_passes  # the table is not looked at again
    np.testing.assert_allclose(inside.value(near), values, rtol=1e-9)
    expected_values, expected = whole.evaluate(axes @ near)
    np.testing.assert_allclose(values, expected_values, rtol=1e-9)
    np.testing.assert_allclose(gradients, axes.T @ expected, rtol=1e-7, atol=1e-12)


def test_a_span_of_too_many_numbers_is_not_made(case, monkeypatch):
    whole, axes, V, rows, _ = case
    monkeypatch.setattr("fairpca.mmd._coordinates.MEMORY_NUMBERS", N_ROWS * 8)
    n_passes = rows.n_passes
    inside = whole.along(axes)
    assert rows.n_passes == n_passes
    np.testing.assert_array_equal(inside.value(V), whole.value(axes @ V))
    assert rows.n_passes > n_passes


@pytest.mark.parametrize(("d", "accuracy"), [(2, 1e-9), (20, 0.02)])
def test_hessians_of_features_take_the_place_of_exact_ones(rng, d, accuracy):
    """Values and gradients stay exact, also in a span."""
    n, p = 1500, 30
    X = rng.normal(size=(n, p)) * np.geomspace(3, 0.3, p)
    group = np.arange(n) % 2
    X[group == 1] += 0.3
    codes, comparison = by_group(group)
    coordinates, bandwidth = Coordinates(np.zeros(p), np.eye(p)), 12.0
    exact = exact_mmd(X, codes, comparison, bandwidth)
    features = features_mmd(ArrayRows(X, codes), coordinates, comparison, bandwidth, n_features=256)
    mmd = FeatureHessianMMD(exact, features, Ledger())
    basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
    V, Q = basis[:, :d], basis[:, d : d + 3]
    values, gradients = mmd.evaluate(V)
    np.testing.assert_array_equal(values, exact.evaluate(V)[0])
    expected, first, found = (each.hessian(V, Q, gradients[0]) for each in (exact, mmd, mmd))
    np.testing.assert_array_equal(first, expected)  # the first is made both ways
    assert 0 < np.abs(found - expected).max() <= accuracy * np.abs(expected).max()
    inside = mmd.along(basis[:, : d + 3])
    W, R = np.eye(d + 3, d), np.eye(d + 3)[:, d:]
    np.testing.assert_allclose(inside.evaluate(W)[0], values, rtol=1e-10)
    gradient = basis[:, : d + 3].T @ gradients[0]
    np.testing.assert_allclose(inside.hessian(W, R, gradient), found, rtol=0, atol=0.01 * np.abs(found).max())


def test_where_rows_have_heavy_tails_hessians_stay_exact(rng):
    X, group = rng.standard_cauchy((2000, 6)), np.arange(2000) % 2
    codes, comparison = by_group(group)
    exact = exact_mmd(X, codes, comparison, 2.0)
    features = features_mmd(ArrayRows(X, codes), Coordinates(np.zeros(6), np.eye(6)), comparison, 2.0, n_features=256)
    mmd, V, Q = FeatureHessianMMD(exact, features, Ledger()), np.eye(6, 3), np.eye(6)[:, 3:]
    gradient = exact.evaluate(V)[1][0]
    for _ in range(2):
        np.testing.assert_array_equal(mmd.hessian(V, Q, gradient), exact.hessian(V, Q, gradient))
