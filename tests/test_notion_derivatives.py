"""Every notion has the right derivatives, and all ways to compute it agree."""
# SPDX-License-Identifier: MIT

import dask.array as da
import numpy as np
import pytest

from comparisons import hessian_product
from fairpca.comparison import People, Terms, compare
from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, ExactMMD, HermiteMMD
from fairpca.rows import ArrayRows, DaskRows
from people_tables import KINDS, NOTIONS, P, people

# With weights and without in turns, so that each meets every notion and every kind.
CASES = [(notion, kind, (a + b) % 2 == 0) for a, notion in enumerate(NOTIONS) for b, kind in enumerate(KINDS)]
SIGMA = 3.0


def compared(notion, kind, weight, X, table):
    names, terms = KINDS[kind]
    known = People(table[names], table["y"], None, table["weight"] / 3 if weight else None)
    found = compare(known, len(X), Terms(fairness=notion, **terms), 1e-3)
    return found.attached, found.comparison


def frames(d):
    rng = np.random.default_rng(1)
    V = np.linalg.qr(rng.normal(size=(P, d)))[0]
    Q = np.linalg.qr(np.hstack([V, rng.normal(size=(P, P - d))]))[0][:, d:]
    B = rng.normal(size=(P - d, d))
    return V, Q, B / np.linalg.norm(B)


@pytest.mark.parametrize(("notion", "kind", "weight"), CASES)
def test_derivatives_have_the_right_taylor_slopes(notion, kind, weight):
    X, table = people(n=200)
    attached, comparison = compared(notion, kind, weight, X, table)
    mmd = ExactMMD(X - X.mean(axis=0), comparison.weights.of(attached), comparison, SIGMA)
    V, Q, B = frames(2)
    E = Q @ B
    values, gradients = mmd.evaluate(V)
    multipliers = np.random.default_rng(2).uniform(0.5, 2.0, size=comparison.n_measures)
    for j in range(comparison.n_measures):
        slope = float(np.vdot(gradients[j], E))
        remainder = taylor_slope(lambda t, j=j, slope=slope: mmd.value(V + t * E)[j] - values[j] - t * slope)
        assert remainder == pytest.approx(2, abs=0.1)
    total = np.tensordot(multipliers, gradients, axes=1)
    slope, curvature = float(np.vdot(total, E)), float(np.vdot(hessian_product(mmd, V, E, multipliers), E))
    steps = np.logspace(-3, -1.5, 8)
    third = taylor_slope(
        lambda t: multipliers @ (mmd.value(V + t * E) - values) - t * slope - t * t * curvature / 2, steps
    )
    assert third >= 2.8
    hessian = mmd.hessian(V, Q, total, multipliers)
    inside = V.T @ total
    chart_term = float(np.vdot(B @ (inside + inside.T) / 2, B))
    b = B.T.ravel()
    assert b @ hessian @ b == pytest.approx(curvature - chart_term, rel=1e-6)


@pytest.mark.parametrize(("notion", "kind", "weight"), CASES)
def test_all_ways_agree(notion, kind, weight):
    X, table = people(n=300)
    attached, comparison = compared(notion, kind, weight, X, table)
    mean = X.mean(axis=0)
    exact = ExactMMD(X - mean, comparison.weights.of(attached), comparison, SIGMA)
    V, Q, _ = frames(2)
    values, gradients = exact.evaluate(V)
    blocks = DaskRows(da.from_array(X, chunks=(110, P)), da.from_array(attached, chunks=(110, -1)))
    for rows in (ArrayRows(X, attached), blocks):
        mmd = HermiteMMD(rows, Coordinates(mean, np.eye(P)), comparison, SIGMA, n_features=1500)
        found_values, found_gradients = mmd.evaluate(V)
        np.testing.assert_allclose(found_values, values, atol=1e-7)
        np.testing.assert_allclose(found_gradients, gradients, atol=1e-6)
    multipliers = np.linspace(1, 2, comparison.n_measures)
    total = np.tensordot(multipliers, gradients, axes=1)
    np.testing.assert_allclose(
        mmd.hessian(V, Q, total, multipliers), exact.hessian(V, Q, total, multipliers), atol=1e-5
    )
    estimate, error = mmd.value_and_error(V, mmd.residual_sample(np.random.default_rng(0), 100))
    assert np.all(np.abs(estimate - values) <= error + 1e-9)


def test_a_sample_of_a_continuous_attribute_measures_the_same_on_average():
    X, table = people(n=600)
    attached, comparison = compared("demographic_parity", "mixed", True, X, table)
    Z = X[:, :2] / 3
    whole = ExactMMD(Z, comparison.weights.of(attached), comparison, 1.0).value(np.eye(2))
    found = []
    for seed in range(200):
        rows = ArrayRows(X, attached).stratified_draw(300, np.random.default_rng(seed)).indices
        sampled = comparison.sampled(attached[rows])
        weights = sampled.columns.of(attached[rows])
        np.testing.assert_allclose(weights.sum(axis=0), 0, atol=1e-12)
        found.append(ExactMMD(Z[rows], sampled.weights.of(attached[rows]), sampled, 1.0).value(np.eye(2)))
    # A sample of half of the rows: what chance adds is about one n-th of the kernel's spread, and no more.
    excess = np.mean(found, axis=0) - whole
    assert np.all(excess > 0)
    assert np.all(excess < 1 / 150)
    assert excess[-1] < 1 / 600
