"""Sums of features that are never made, beside features that are."""

import numpy as np
import pytest

from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, using_engine
from fairpca.mmd._mixture import GAUSSIAN
from fairpca.mmd.fourier._grid import FourierGrid
from fairpca.mmd.fourier._outliers import crossing
from fairpca.mmd.hermite._basis import HermiteBasis

pytestmark = pytest.mark.usefixtures("each_engine")


def recipes(rng, d):
    """Return the recipes of Fourier features (up to three coordinates) and of Hermite features for some rows."""
    Z = rng.normal(size=(400, d)) * np.linspace(1.2, 0.3, d)
    found = [HermiteBasis.fit(Z, 1 + 60 * d).recipe]
    return [*found, FourierGrid.fit(Z, 400, 1e-5).recipe] if d <= 3 else found


def features_of(recipe, Y):
    """Return all products of a left and a right line, of shape (n_left, n_right, n)."""
    left, right = recipe._sides(recipe._lines(Y))
    return left[:, None] * right * recipe.is_feature[:, :, None]


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("n", [1, 3, 257])
def test_sums_are_those_of_the_features(rng, d, n):
    for recipe in recipes(rng, d):
        Y, weights, squares = rng.uniform(-1, 1, size=(d, n)), rng.normal(size=(3, n)), np.empty(n)
        features = features_of(recipe, Y)
        moments = recipe.moments(Y, weights, squares)
        np.testing.assert_allclose(moments, np.einsum("lri,ci->clr", features, weights), atol=1e-12 * n)
        np.testing.assert_allclose(squares, (features**2).sum(axis=(0, 1)), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
def test_slopes_are_the_derivatives_of_sums_of_features(rng, d):
    for recipe in recipes(rng, d):
        Y, direction = rng.uniform(-1, 1, size=(2, d, 7))
        coefficients = rng.normal(size=(2, *recipe.shape)) * recipe.is_feature
        slopes = recipe.slopes(Y, coefficients)
        along = np.einsum("aki,ai->k", slopes, direction)

        def values(step, recipe=recipe, Y=Y, direction=direction, coefficients=coefficients):
            return np.einsum("lri,klr->k", features_of(recipe, Y + step * direction), coefficients)

        def remainder(step, values=values, along=along):
            return np.abs(values(step) - values(0.0) - step * along).sum()

        assert taylor_slope(remainder) > 1.9


def test_rows_that_no_feature_reaches_feel_nothing(rng):
    recipe = HermiteBasis.fit(rng.normal(size=(400, 4)), 100).recipe
    Y, squares = np.full((4, 5), 1e200), np.empty(5)
    assert not recipe.moments(Y, np.ones((1, 5)), squares).any()
    assert not squares.any()
    assert not recipe.slopes(Y, np.ones((1, *recipe.shape))).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", ">f4", "int64"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("n", "p", "d"), [(1, 1, 1), (19, 7, 3), (40, 50, 10)])
def test_rows_are_projected_and_forces_pulled_back_whatever_the_table_is(rng, dtype, order, n, p, d):
    X = np.asarray(1000 + 10 * rng.normal(size=(n, p))).astype(dtype, order=order)
    frame, forces = Coordinates(X.mean(axis=0, dtype=float), rng.normal(size=(p, d))), rng.normal(size=(n, 2 * d))
    centred = X.astype(np.longdouble) - frame.mean
    np.testing.assert_allclose(frame.project(X), (centred @ frame.matrix).astype(float), atol=1e-11)
    np.testing.assert_allclose(frame.pulled_back(X, forces), (centred.T @ forces).astype(float), atol=1e-10)


@pytest.mark.usefixtures("native")
def test_the_projection_of_a_row_does_not_depend_on_the_rows_beside_it(rng):
    X = rng.normal(size=(100, 33)).astype(np.float32)
    frame = Coordinates(X.mean(axis=0, dtype=float), rng.normal(size=(33, 3)))
    with using_engine("compiled"):
        np.testing.assert_array_equal(frame.project(X)[13:58], frame.project(X[13:58]))


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 3])
def test_rows_and_outliers_feel_each_other(rng, d, k):
    Y, weights, Y_out, weights_out = rng.normal(size=(d, 23)), rng.normal(size=(k, 23)), *_outliers(rng, d, k)
    found = crossing(Y, weights, Y_out, weights_out, GAUSSIAN)
    away = Y[:, :, None] - Y_out[:, None]
    kernel = np.exp(-0.5 * (away**2).sum(axis=0))
    np.testing.assert_allclose(found.potential, np.einsum("ob,io->bi", weights_out, kernel), atol=1e-13)
    np.testing.assert_allclose(found.slopes, -np.einsum("ob,io,aio->abi", weights_out, kernel, away), atol=1e-13)
    np.testing.assert_allclose(found.pulls, np.einsum("bi,io,aio->abo", weights, kernel, away), atol=1e-13)


def _outliers(rng, d, k):
    return rng.normal(size=(d, 70)) + 2, rng.normal(size=(70, k))
