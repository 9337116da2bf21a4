import numpy as np
import pytest

from comparisons import by_weights, exact_mmd
from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, FourierMMD
from fairpca.mmd._coordinates import spaced_indices
from fairpca.mmd.fourier._grid import FourierGrid
from fairpca.rows import ArrayRows
from pickled_blocks import PickledBlocks

SIGMA = 3.0
OWNER = np.array([0, 1, 1])


class Case:
    """Raw rows, their coordinates, two measures of one and two columns, a frame and a direction."""

    def __init__(self, rng, d, n=700, p=7, r=5):
        self.X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + 100
        group = rng.permutation(np.arange(n) % 3)
        self.X[group == 1, 0] += 2
        weights = np.stack([(group == k) / np.sum(group == k) - 1 / n for k in range(3)], axis=1)
        self.codes, self.comparison = by_weights(weights, OWNER)
        self.coordinates = Coordinates(self.X.mean(axis=0), rng.normal(size=(p, r)) / 4)
        self.V = np.linalg.qr(rng.normal(size=(r, d)))[0]
        self.E = np.linalg.qr(rng.normal(size=(r, d)))[0]

    def exact(self):
        return exact_mmd(self.coordinates.project(self.X), self.codes, self.comparison, SIGMA)

    def fourier(self, accuracy, rows=ArrayRows, **options):
        return FourierMMD(rows(self.X, self.codes, **options), self.coordinates, self.comparison, SIGMA, accuracy)


def with_outliers(case, distance=50):
    """Move some rows many bandwidths away, two of them side by side, one nearer to the others."""
    case.X[3] += distance * SIGMA
    case.X[4] = case.X[3] + 0.1
    case.X[5] -= distance * SIGMA * np.linspace(0, 2, 7)
    case.X[6] += distance / 10 * SIGMA
    return case


@pytest.mark.parametrize("accuracy", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_agrees_with_the_exact_values_to_the_stated_bound(rng, d, accuracy):
    case = with_outliers(Case(rng, d))
    mmd = case.fourier(accuracy)
    values, bounds = mmd.value_and_bound(case.V)
    assert bounds.max() <= accuracy
    assert np.all(np.abs(values - case.exact().value(case.V)) <= bounds + 1e-13)
    np.testing.assert_allclose(mmd.value(case.V), values, atol=0)


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_derivatives_agree_with_the_exact_ones(rng, d, far):
    case = with_outliers(Case(rng, d)) if far else Case(rng, d)
    exact, mmd = case.exact(), case.fourier(1e-11)
    for expected, found in zip(exact.evaluate(case.V), mmd.evaluate(case.V), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_far_rows_are_treated_one_by_one_and_not_by_a_large_grid(rng):
    case = Case(rng, 2)
    plain = case.fourier(1e-5)._first_pass(case.V)[1]
    moments, grid = with_outliers(case).fourier(1e-5)._first_pass(case.V)
    assert 3 <= moments.outliers.count < 30
    assert np.prod(grid.highest) < 2 * np.prod(plain.highest)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_anchored_values_and_derivatives_have_the_right_taylor_slopes(rng, d):
    case = with_outliers(Case(rng, d), distance=10)
    mmd = case.fourier(1e-9).anchored(case.V)
    V, E = case.V, case.E
    values, gradients = mmd.evaluate(V)
    slope = np.vdot(gradients.sum(axis=0), E)
    steps = np.logspace(-3.5, -2, 8)

    def change(t):
        return mmd.value(V + t * E).sum() - values.sum() - t * slope

    assert taylor_slope(change, steps) == pytest.approx(2, abs=0.1)


def test_anchored_stays_within_the_accuracy_away_from_its_frame(rng):
    case = with_outliers(Case(rng, 2))
    mmd, exact = case.fourier(1e-6).anchored(case.V), case.exact()
    for V in (case.E, 2 * case.V, -case.V[:, ::-1]):
        np.testing.assert_allclose(mmd.value(V), exact.value(V), rtol=0, atol=1e-6)


@pytest.mark.parametrize("height", [1, 37, 700])
def test_blocks_of_any_height_travel_and_give_the_same(rng, height):
    case = with_outliers(Case(rng, 2, n=300))
    reference, mmd = case.fourier(1e-6), case.fourier(1e-6, PickledBlocks, height=height)
    for expected, found in zip(reference.evaluate(case.V), mmd.evaluate(case.V), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mmd.value(case.V), reference.value(case.V), rtol=0, atol=1e-14)


def test_single_precision_rows_are_used_as_the_numbers_they_are(rng):
    case = with_outliers(Case(rng, 2))
    case.X = case.X.astype(np.float32)
    values, gradients = case.fourier(1e-10).evaluate(case.V)
    expected, expected_gradients = case.exact().evaluate(case.V)
    assert gradients.dtype == np.float64
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(gradients, expected_gradients, rtol=0, atol=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_invariant_to_rotations_of_the_frame(rng, d):
    case = with_outliers(Case(rng, d))
    mmd = case.fourier(1e-4)
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    values, gradient = mmd.evaluate(case.V)
    rotated_values, rotated_gradient = mmd.evaluate(case.V @ rotation)
    np.testing.assert_allclose(rotated_values, values, rtol=0, atol=1e-13)
    np.testing.assert_allclose(rotated_gradient, gradient @ rotation, rtol=0, atol=1e-12)


def test_null_directions_cost_nothing_and_feel_nothing(rng):
    case = Case(rng, 2)
    case.coordinates.matrix[:, -1] = 0
    V = np.zeros((5, 2))
    V[0, 0] = V[-1, 1] = 1
    values, gradients = case.fourier(1e-8).evaluate(V)
    np.testing.assert_allclose(values, case.exact().value(V), rtol=0, atol=1e-8)
    np.testing.assert_array_equal(gradients[:, -1], 0)


def test_heavy_tails_widen_the_box_until_few_rows_are_outside(rng):
    case = Case(rng, 1, n=9000)
    case.X = 100 + rng.standard_t(1.5, size=case.X.shape)
    # Rows that are far away hide from the sample.
    seen = spaced_indices(9000)
    case.X[seen] = 100 + np.clip(case.X[seen] - 100, -1, 1)
    mmd, exact = case.fourier(1e-4), case.exact()
    moments, grid = mmd._first_pass(case.V)
    assert moments.outliers.count <= grid.affordable
    assert np.all(grid.half_width > mmd._grid_for(case.V).half_width)
    np.testing.assert_allclose(mmd.value(case.V), exact.value(case.V), rtol=0, atol=1e-4)


@pytest.mark.parametrize("diameter", [0.0, 3.0, 40.0])
@pytest.mark.parametrize("target", [0.3, 1e-3, 1e-8])
def test_the_error_of_the_kernel_is_bounded_on_the_whole_box(diameter, target):
    Z = np.linspace(-diameter / 2, diameter / 2, 64)[:, None]
    grid = FourierGrid.fit(Z, len(Z), target)
    t = np.linspace(0, 2 * grid.half_width[0], 2001)
    sums = np.cos(np.outer(t, grid.spacing[0] * np.arange(grid.highest[0] + 1))) @ grid.coefficients(0)
    largest = np.abs(sums - np.exp(-(t**2) / 2)).max()
    assert largest <= grid.kernel_error + 1e-15
    assert grid.kernel_error <= target


def test_refuses_what_it_cannot_do(rng):
    case = Case(rng, 4)
    with pytest.raises(ValueError, match=r"at most 3 columns, got 4.*HermiteMMD"):
        case.fourier(1e-5).value(case.V)
    with pytest.raises(ValueError, match="accuracy must be greater than 0"):
        case.fourier(0.0)
    wide = FourierMMD(ArrayRows(case.X, case.codes), case.coordinates, case.comparison, 1e-3, 1e-5)
    with pytest.raises(ValueError, match=r"Fourier features.*use HermiteMMD"):
        wide.value(case.V[:, :2])


def test_to_another_accuracy_it_is_as_if_made_for_that(rng):
    case = with_outliers(Case(rng, 2))
    rough = case.fourier(1e-2).anchored(case.V)
    fine = rough.to_accuracy(1e-9)
    np.testing.assert_array_equal(fine.value(case.V), case.fourier(1e-9).value(case.V))
    assert np.all(fine.value_and_bound(case.V)[1] <= 1e-9)
    assert rough.accuracy == 1e-2
    with pytest.raises(ValueError, match="accuracy must be greater than 0"):
        rough.to_accuracy(0.0)
