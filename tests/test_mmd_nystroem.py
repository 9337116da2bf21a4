"""Many components in time linear in the rows: landmarks, what they leave out, and fits with them."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular

from comparisons import by_weights, exact_mmd, weights_of_groups
from fairpca import FairPCA
from fairpca.data import _many_rows
from fairpca.geometry import taylor_slope
from fairpca.metrics import mmd2
from fairpca.mmd import Coordinates, NystroemMMD
from fairpca.mmd.nystroem._landmarks import Landmarks
from fairpca.mmd.residual import _remainder
from fairpca.rows import ArrayRows
from pickled_blocks import PickledBlocks

OWNER = np.array([0, 1, 1])
D = 18


class Case:
    """Raw rows, their coordinates, two measures of one and two columns, a frame and a direction."""

    def __init__(self, rng, n=600, p=24, r=22, d=D):
        self.X = rng.normal(size=(n, p)) * np.geomspace(3, 0.3, p) + 100
        group = rng.permutation(np.arange(n) % 3)
        self.X[group == 1, 0] += 2
        self.weights = np.stack([(group == k) / np.sum(group == k) - 1 / n for k in range(3)], axis=1)
        self.codes, self.comparison = by_weights(self.weights, OWNER)
        self.coordinates = Coordinates(self.X.mean(axis=0), np.eye(p, r))
        self.V = np.linalg.qr(rng.normal(size=(r, d)))[0]
        self.E = np.linalg.qr(rng.normal(size=(r, d)))[0]
        self.bandwidth = 1.2 * np.sqrt(d)

    def exact(self):
        return exact_mmd(self.coordinates.project(self.X), self.codes, self.comparison, self.bandwidth)

    def nystroem(self, n_landmarks, rows=ArrayRows, seed=0, **options):
        data = rows(self.X, self.codes, **options)
        return NystroemMMD(data, self.coordinates, self.comparison, self.bandwidth, n_landmarks, seed)


def with_far_rows(case):
    case.X[3] += 50 * case.bandwidth
    case.X[4] -= 1e9
    return case


def test_with_all_rows_as_landmarks_values_and_derivatives_are_exact(rng):
    case = Case(rng)
    exact, mmd = case.exact(), case.nystroem(2000)
    for expected, found in zip(exact.evaluate(case.V), mmd.evaluate(case.V), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("far", [False, True])
def test_few_landmarks_give_less_and_more_give_more(rng, far):
    case = with_far_rows(Case(rng)) if far else Case(rng)
    expected = case.exact().value(case.V)
    found = np.array([case.nystroem(m).features_value(case.V) for m in (20, 200)])
    assert np.all(found < expected)
    # Rows that stand alone add what no landmark sees, and what is measured knows.
    missing = expected - found
    assert np.all(missing[1] < (0.9 if far else 0.3) * missing[0])


@pytest.mark.parametrize("far", [False, True])
def test_derivatives_have_the_right_taylor_slopes(rng, far):
    case = with_far_rows(Case(rng)) if far else Case(rng)
    mmd, V, E = case.nystroem(60), case.V, case.E
    values, gradients = mmd.evaluate(V)
    slope = np.vdot(gradients.sum(axis=0), E)
    steps = np.logspace(-3, -1.5, 8)

    def change(t):
        return mmd.value(V + t * E).sum() - values.sum() - t * slope

    assert taylor_slope(change, steps) == pytest.approx(2, abs=0.1)


def test_a_turned_frame_has_the_same_values_and_turned_gradients(rng):
    case = Case(rng)
    mmd, turn = case.nystroem(100), np.linalg.qr(rng.normal(size=(D, D)))[0]
    values, gradients = mmd.evaluate(case.V)
    turned_values, turned_gradients = mmd.evaluate(case.V @ turn)
    np.testing.assert_allclose(turned_values, values, rtol=1e-8)
    np.testing.assert_allclose(turned_gradients, gradients @ turn, rtol=0, atol=1e-10)


def test_an_offset_makes_the_values_exact_where_they_are_known(rng):
    case = Case(rng)
    expected = case.exact().value(case.V)
    mmd = case.nystroem(100)
    shifted = mmd.around(case.V, expected)
    np.testing.assert_allclose(shifted.value(case.V), expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(shifted.evaluate(case.V)[1], mmd.evaluate(case.V)[1], rtol=0, atol=1e-15)


@pytest.mark.parametrize("height", [37, 700])
def test_blocks_of_any_height_travel_and_give_the_same(rng, height):
    case = with_far_rows(Case(rng))
    reference, mmd = case.nystroem(80), case.nystroem(80, Blocks, height=height)
    for expected, found in zip(reference.evaluate(case.V), mmd.evaluate(case.V), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
    for expected, found in zip(reference.value_and_bound(case.V), mmd.value_and_bound(case.V), strict=True):
        # Square roots of what rounding leaves of residuals, summed over the rows.
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-7)


class Blocks(PickledBlocks):
    """Blocks that are drawn from as an array is."""

    def sample(self, indices, transform=None):
        return ArrayRows(self.X, self.attached).sample(indices, transform)

    def stratified_draw(self, size, generator):
        return ArrayRows(self.X, self.attached).stratified_draw(size, generator)


@pytest.mark.parametrize("far", [False, True])
def test_the_stated_error_covers_the_exact_value(rng, far):
    n = 6000
    X, group = rng.normal(size=(n, D)), np.arange(n) % 2
    X[group == 1, 0] += 0.3
    if far:
        X[: n // 50] = 10 + 0.1 * rng.normal(size=(n // 50, D))
        X[5] = 1e12
    codes, comparison = by_weights(weights_of_groups(group), np.zeros(1, dtype=int))
    V, bandwidth = np.eye(D), np.sqrt(D)
    mmd = NystroemMMD(ArrayRows(X, codes), Coordinates(X.mean(axis=0), V), comparison, bandwidth, 60)
    expected = exact_mmd(X, codes, comparison, bandwidth).value(V)
    _, bounds = mmd.value_and_bound(V)
    for _ in range(5):
        values, errors = mmd.value_and_error(V, mmd.residual_sample(rng, 128))
        assert np.all(np.abs(values - expected) <= errors)
        assert np.all(errors < 0.1 * bounds)


@pytest.mark.parametrize("far", [False, True])
def test_an_estimate_that_looks_at_the_residuals_of_a_sample_covers_the_exact_value(rng, monkeypatch, far):
    monkeypatch.setattr(_remainder, "PART_ROWS", (128,))
    case = Case(rng, n=6000)
    if far:
        case.X[:60] = 150 + 0.1 * rng.normal(size=(60, 24))
    expected = case.exact().value(case.V)
    for seed in range(5):
        mmd = case.nystroem(60, seed=seed)
        estimate = mmd.measured_at(case.V, np.full(2, np.inf))
        _, bounds = mmd.value_and_bound(case.V)
        assert np.all(np.abs(estimate.values - expected) <= estimate.errors)
        assert np.all(estimate.errors < 0.2 * bounds)


@pytest.mark.parametrize(("d", "spread", "single"), [(D, 1.0, True), (D, 0.01, False), (1, 1.0, False)])
def test_residuals_are_made_in_float32_only_where_that_has_the_digits(rng, d, spread, single):
    landmarks = Landmarks(spread * rng.normal(size=(300, d)) / np.sqrt(d))
    points = spread * rng.normal(size=(d, 200)) / np.sqrt(d)
    made = solve_triangular(landmarks.factor, landmarks.kernel(points), lower=True)
    found = landmarks.at(points).squares
    error = np.abs(found - np.sum(made**2, axis=0)).max()
    assert error <= 1e-5
    assert (error > 1e-10) == single


def test_weights_equal_repeated_rows(rng):
    X, group = rng.normal(size=(400, D)), np.arange(400) % 2
    times = rng.integers(1, 4, size=400)
    rows = np.repeat(np.arange(400), times)
    V, bandwidth = np.linalg.qr(rng.normal(size=(D, D - 1)))[0], np.sqrt(D)
    found = []
    for chosen, sizes in ((np.arange(400), times), (rows, np.ones(len(rows)))):
        totals = np.array([sizes[group[chosen] == g].sum() for g in range(2)])
        masses = np.where(group[chosen] == 0, 1 / totals[0], -1 / totals[1]) * sizes
        codes, comparison = by_weights(masses[:, None], np.zeros(1, dtype=int))
        mmd = NystroemMMD(ArrayRows(X[chosen], codes), Coordinates(np.zeros(D), np.eye(D)), comparison, bandwidth, 4000)
        found.append(mmd.evaluate(V))
    for first, second in zip(*found, strict=True):
        np.testing.assert_allclose(first, second, rtol=0, atol=1e-8)


@pytest.fixture
def table(rng):
    n, p = 6000, 20
    group = rng.permutation(np.arange(n) % 2)
    X = rng.normal(size=(n, p)) * np.geomspace(2, 0.5, p)
    X[group == 1, :3] += 0.7
    return X, group


@pytest.mark.thorough
def test_beyond_exact_confirmation_the_error_covers_the_exact_value(table, monkeypatch):
    monkeypatch.setattr(_many_rows, "EXACT_PAIRS", {"nystroem": 0})
    X, group = table
    model = FairPCA(17, tolerance=5e-3, random_state=0).fit(X, sensitive_features=group)
    exact = mmd2(model.transform(X), sensitive_features=group, bandwidth=model.bandwidth_)
    assert model.mmd_method_ == "nystroem"
    assert model.mmd2_ + model.mmd2_error_ <= 5e-3
    assert 0 < abs(exact - model.mmd2_) <= model.mmd2_error_


@pytest.mark.thorough
@pytest.mark.parametrize("attribute", ["three groups", "continuous"])
def test_several_groups_and_a_continuous_attribute(table, rng, attribute):
    X, group = table
    if attribute == "continuous":
        people, tolerance = X[:, 0] + rng.normal(size=len(X)), 1e-3
    else:
        people, tolerance = np.array(["a", "b", "c"])[group + (X[:, 5] > 0.3)], 5e-3
    kind = {"sensitive_kind": "continuous"} if attribute == "continuous" else {}
    model = FairPCA(17, tolerance=tolerance, random_state=0, mmd="nystroem", **kind)
    model.fit(X, sensitive_features=people)
    assert model.mmd_method_ == "nystroem"
    assert model.mmd2_error_ == 0
    assert np.all(np.asarray(model.mmd2_) <= tolerance)
