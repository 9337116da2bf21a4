import numpy as np
import pytest
from scipy.stats import ortho_group

from comparisons import exact_mmd, three_groups
from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, HermiteMMD, features_mmd
from fairpca.rows import ArrayRows

MULTIPLIERS = np.array([0.5, 3.0])


class Case:
    """Raw rows, their coordinates, two measures of one and two columns, a frame, its complement and a direction."""

    def __init__(self, rng, d, n=500, p=14, r=12):
        self.X = rng.normal(size=(n, p)) * np.geomspace(3, 0.3, p) + 100
        _, self.codes, self.comparison = three_groups(rng, self.X, shift=2)
        self.coordinates = Coordinates(self.X.mean(axis=0), np.eye(p, r))
        basis = np.linalg.qr(rng.normal(size=(r, r)))[0]
        self.V, self.Q = basis[:, :d], basis[:, d:]
        self.E = np.linalg.qr(rng.normal(size=(r, d)))[0]
        self.bandwidth = 2.0 * np.sqrt(d)

    def exact(self, *factors):
        return exact_mmd(self.coordinates.project(self.X), self.codes, self.comparison, self.bandwidth, *factors)

    def hermite(self, n_features):
        return HermiteMMD(ArrayRows(self.X, self.codes), self.coordinates, self.comparison, self.bandwidth, n_features)

    def features(self, factors):
        return features_mmd(ArrayRows(self.X, self.codes), self.coordinates, self.comparison, self.bandwidth, factors)


def with_far_rows(case):
    case.X[3] += 50 * case.bandwidth
    case.X[4] -= 20 * case.bandwidth
    return case


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(
    ("d", "n_features", "accuracy"), [(1, 30, 1e-9), (2, 200, 1e-9), (5, 600, 1e-6), (10, 600, 1e-5)]
)
def test_agrees_with_the_exact_values_to_the_stated_bound(rng, d, n_features, accuracy, far):
    case = with_far_rows(Case(rng, d)) if far else Case(rng, d)
    mmd, expected = case.hermite(n_features), case.exact().value(case.V)
    values, bounds = mmd.value_and_bound(case.V)
    assert np.all(np.abs(values - expected) <= bounds + 1e-13)
    # Exact on the diagonal, so that only pairs of rows are missing.
    np.testing.assert_allclose(mmd.features_value(case.V), values, rtol=0, atol=bounds.max() + 1e-13)
    if not far:
        np.testing.assert_allclose(values, expected, rtol=0, atol=accuracy)


@pytest.mark.parametrize("factors", [(2.0, 1.0, 0.5, 0.25), (3.0, 1.0), (0.5, 1.0, 0.7), (0.5,)], ids=str)
@pytest.mark.parametrize("d", [1, 2, 4])
def test_of_several_bandwidths_features_are_exact_within_their_errors(rng, d, factors):
    case = with_far_rows(Case(rng, d))
    exact, mmd = case.exact(factors), case.features(factors)
    found = mmd.measured_at(case.V, np.zeros(2))
    assert np.all(np.abs(found.values - exact.value(case.V)) <= found.errors + 1e-12)
    if d == 1:
        for expected, each in zip(exact.evaluate(case.V), mmd.evaluate(case.V), strict=True):
            np.testing.assert_allclose(each, expected, rtol=0, atol=1e-7)
        # The row that no feature reaches has a part in the exact one.
        np.testing.assert_allclose(hessian_at(case, mmd), hessian_at(case, exact), rtol=0, atol=1e-3)


@pytest.mark.parametrize(("d", "n_features"), [(1, 8), (2, 25), (5, 60), (10, 150)])
def test_anchored_values_and_derivatives_have_the_right_taylor_slopes(rng, d, n_features):
    case = Case(rng, d)
    mmd = case.hermite(n_features).anchored(case.V)
    V, E = case.V, case.E
    values, gradients = mmd.evaluate(V)
    slope = np.vdot(gradients.sum(axis=0), E)
    steps = np.logspace(-3.5, -2, 8)

    def change(t):
        return mmd.value(V + t * E).sum() - values.sum() - t * slope

    assert taylor_slope(change, steps) == pytest.approx(2, abs=0.1)


def test_values_are_exact_at_the_anchor_and_gradients_in_proportion(rng):
    case = Case(rng, 10)
    mmd, expected = case.hermite(100), case.exact().value(case.V)
    anchored = mmd.anchored(case.V, known=expected)
    values, gradients = anchored.evaluate(case.V)
    np.testing.assert_allclose(anchored.value(case.V), expected, rtol=1e-13)
    np.testing.assert_allclose(values, expected, rtol=1e-13)
    plain_values, plain_gradients = mmd.evaluate(case.V)
    ratios = (expected / plain_values)[:, None, None]
    np.testing.assert_allclose(gradients, ratios * plain_gradients, rtol=1e-12, atol=1e-15)


def test_invariant_to_rotations_of_the_frame_until_anchored(rng):
    case = Case(rng, 5)
    mmd = case.hermite(100)
    rotation = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    values, gradient = mmd.evaluate(case.V)
    rotated_values, rotated_gradient = mmd.evaluate(case.V @ rotation)
    np.testing.assert_allclose(rotated_values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rotated_gradient, gradient @ rotation, rtol=0, atol=1e-12)
    anchored, bound = mmd.anchored(case.V), mmd.value_and_bound(case.V)[1].max()
    np.testing.assert_allclose(anchored.value(case.V @ rotation), values, rtol=0, atol=10 * bound)


def test_around_a_frame_it_is_one_of_subspaces(rng):
    """There the features turn with the frame, and the gradient goes through that."""
    case = Case(rng, 4)
    rough, mmd = case.hermite(12).anchored(case.V), case.hermite(12).around(case.V, case.exact().value(case.V))
    V, E = np.linalg.qr(case.V + 0.1 * rng.normal(size=case.V.shape))[0], case.E
    turned = V @ ortho_group.rvs(4, random_state=0)
    np.testing.assert_allclose(mmd.value(turned), mmd.value(V), rtol=1e-12)
    assert np.abs(rough.value(turned) / rough.value(V) - 1).max() > 1e-3
    values, gradients = mmd.evaluate(V)

    def remainder(t):
        return float(mmd.value(V + t * E).sum() - values.sum() - t * np.vdot(gradients.sum(axis=0), E))

    assert taylor_slope(remainder, np.logspace(-4, -2, 8)) == pytest.approx(2, abs=0.1)


# Hessians


def hessian_at(case, mmd, **options):
    gradient = np.tensordot(MULTIPLIERS, mmd.evaluate(case.V)[1], axes=1)
    return mmd.hessian(case.V, case.Q, gradient, MULTIPLIERS, **options)


def test_alignment_follows_frames_to_where_the_first_one_would_make_it_jump(rng):
    case = Case(rng, 2)
    mmd = case.hermite(12).around(case.V, case.exact().value(case.V))
    turned = np.linalg.qr(np.stack([case.V[:, 0], case.Q[:, 0]], axis=1))[0]  # V'A is singular here
    between = np.linalg.qr(case.V + turned)[0]
    before = mmd.value(between)
    mmd.realign(between)
    np.testing.assert_allclose(mmd.value(between), before, rtol=1e-12)
    step = rng.normal(size=turned.shape)
    slopes = [np.vdot(gradient, step) for gradient in mmd.evaluate(turned)[1]]
    h = 1e-5
    differences = (mmd.value(turned + h * step) - mmd.value(turned - h * step)) / (2 * h)
    np.testing.assert_allclose(differences, slopes, rtol=1e-4, atol=1e-9)


def test_single_precision_is_enough_for_a_metric(rng):
    case = Case(rng, 5)
    mmd = case.hermite(100).anchored(case.V)
    hessian, single = hessian_at(case, mmd), hessian_at(case, mmd, single_precision=True)
    error = np.abs(single - hessian).max() / np.abs(hessian).max()
    assert 1e-12 < error < 1e-5
    assert single.dtype == np.float64


@pytest.mark.parametrize("single_precision", [False, True])
def test_a_row_that_no_feature_reaches_adds_nothing(rng, single_precision):
    case = Case(rng, 3)
    case.X[7] = 1e200
    mmd = case.hermite(40).anchored(case.V)
    found = hessian_at(case, mmd, single_precision=single_precision)
    case.codes[7] = -1
    expected = hessian_at(case, mmd, single_precision=single_precision)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found, expected)


def test_a_row_too_far_along_the_chart_for_single_precision_is_not_lost(rng):
    case = Case(rng, 2)
    case.V, case.Q = np.eye(12)[:, :2], np.eye(12)[:, 2:]
    case.X[7, 4] = 1e20
    mmd = case.hermite(40).anchored(case.V)
    hessian, single = hessian_at(case, mmd), hessian_at(case, mmd, single_precision=True)
    assert np.abs(hessian).max() > 1e30
    np.testing.assert_allclose(single, hessian, rtol=0, atol=1e-5 * np.abs(hessian).max())
