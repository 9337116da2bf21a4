import numpy as np
import pytest

from fairpca.mmd._kernel import Mixture
from fairpca.mmd.exact import _products
from fairpca.mmd.exact._moments import KernelMoments, hessian_of_few


def by_definition(Z, N, weights, mixture):
    """Return the blocks -2 N'(diag(C 1) - C) N from full n x n arrays."""
    halves = np.sum((Z[:, None] - Z) ** 2, axis=2) / 2
    B, A = (
        weights
        @ weights.T
        * sum(c * np.exp(-r * halves) for c, r in zip(mixture.coefficients(q), mixture.rates, strict=True))
        for q in (1, 2)
    )
    d, n_directions = Z.shape[1], N.shape[1]
    hessian = np.empty((d, n_directions, d, n_directions))
    for a, b in np.ndindex(d, d):
        C = (a == b) * B - A * np.subtract.outer(Z[:, a], Z[:, a]) * np.subtract.outer(Z[:, b], Z[:, b])
        hessian[a, :, b] = -2 * N.T @ (np.diag(C.sum(axis=1)) - C) @ N
    return hessian.reshape(d * n_directions, d * n_directions)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("factors", [(1.0,), (1.0, 2.0, 4.0)], ids=["one scale", "three scales"])
@pytest.mark.parametrize("n_weights", [1, 3])
@pytest.mark.parametrize(("n", "d", "n_directions"), [(40, 3, 30), (150, 1, 4), (150, 3, 1), (300, 3, 30), (60, 2, 0)])
def test_second_derivatives_agree_with_their_definition(rng, monkeypatch, n, d, n_directions, n_weights, factors):
    """With few and with many columns for the rows, with whole strips of the kernel and with pieces of them."""
    Z, N, weights = (rng.normal(size=(n, width)) for width in (d, n_directions, n_weights))
    mixture = Mixture.of(factors)
    expected = by_definition(Z, N, weights, mixture)
    largest = np.abs(expected).max(initial=1e-300)
    for numbers in (_products.BLOCK_NUMBERS, 4096):
        monkeypatch.setattr(_products, "BLOCK_NUMBERS", numbers)
        for dtype, error in ((np.float64, 1e-11), (np.float32, 1e-3)):
            arrays = [array.astype(dtype) for array in (Z, Z, N, weights)]
            found = KernelMoments.of(*arrays, mixture).hessian(*arrays[1:3])
            np.testing.assert_allclose(found, expected, rtol=0, atol=error * largest)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize(("n", "d", "n_directions"), [(40, 3, 6), (150, 1, 4), (700, 2, 7), (60, 2, 0), (2, 1, 1)])
def test_second_derivatives_of_few_moments_agree_with_their_definition(rng, n, d, n_directions):
    Z, N, weights = (rng.normal(size=(n, width)) for width in (d, n_directions, 1))
    expected = by_definition(Z, N, weights, Mixture.of((1.0,)))
    found = hessian_of_few(Z, Z, N, weights[:, 0])
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max(initial=1e-300))
