"""Sums of features that are never made, beside features that are."""

import numpy as np
import pytest

from fairpca.geometry import taylor_slope
from fairpca.mmd import Coordinates, using_engine
from fairpca.mmd.hermite._basis import HermiteBasis

pytestmark = pytest.mark.usefixtures("each_engine")


def basis_of(rng, d):
    """Return the features that suit some rows."""
    return HermiteBasis.fit(rng.normal(size=(400, d)) * np.linspace(1.2, 0.3, d), 1 + 60 * d)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("n", [1, 3, 257])
def test_sums_are_those_of_the_features(rng, d, n):
    basis = basis_of(rng, d)
    Y, weights, squares = rng.uniform(-1, 1, size=(d, n)), rng.normal(size=(3, n)), np.empty(n)
    features = basis.values(Y)
    moments = basis.moments(Y, weights, squares)
    np.testing.assert_allclose(moments, weights @ features.T, atol=1e-12 * n)
    np.testing.assert_allclose(squares, (features**2).sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 10])
def test_slopes_are_the_derivatives_of_sums_of_features(rng, d):
    basis = basis_of(rng, d)
    Y, direction = rng.uniform(-1, 1, size=(2, d, 7))
    coefficients = rng.normal(size=(2, basis.n_features))
    along = np.einsum("aki,ai->k", basis.gradients(Y, coefficients), direction)

    def values(step):
        features = basis.values(Y + step * direction)
        return np.append((coefficients @ features).sum(axis=1), (features**2).sum())

    def remainder(step):
        return np.abs(values(step) - values(0.0) - step * along).sum()

    assert taylor_slope(remainder) > 1.9


def test_features_of_small_eigenvalues_are_not_made(rng):
    Z = rng.normal(size=(400, 1))
    few, many = (HermiteBasis.fit(Z, size) for size in (60, 1000))
    assert 20 < many.n_features < 100
    np.testing.assert_allclose((many.values(Z.T) ** 2).sum(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_array_equal(few.orders, many.orders[:60])


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
