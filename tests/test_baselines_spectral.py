import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from fairpca.baselines._fantope import Pair, SquaredSpectralNorm, clip_level


def random_pair(rng, size=3):
    return Pair(rng.normal(size=(2, size, size)), rng.normal(size=2))


def inner(first, second, n_null):
    return np.vdot(first.matrices, second.matrices) + n_null * first.scalars @ second.scalars


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("n_null", [0, 2])
def test_value_is_that_of_the_whole_matrices(rng, pooled, n_null):
    pair = random_pair(rng)
    squares = []
    for matrix, scalar in zip(pair.matrices, pair.scalars, strict=True):
        whole = np.zeros((3 + n_null, 3 + n_null))
        whole[:3, :3] = matrix
        whole[range(3, 3 + n_null), range(3, 3 + n_null)] = 10 * scalar
        squares.append(np.linalg.norm(whole, 2) ** 2)
    expected = 0.7 * (max(squares) if pooled else sum(squares))
    assert SquaredSpectralNorm(0.7, n_null, pooled).value(Pair(pair.matrices, 10 * pair.scalars)) == pytest.approx(
        expected
    )


@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("n_null", [0, 4])
@pytest.mark.parametrize("step", [0.01, 1.0, 100.0])
def test_split_satisfies_fenchels_equality(rng, pooled, n_null, step):
    # Y = (W - Z) / step is a subgradient of g at Z, so Z is the prox, if and only if g(Z) + g*(Y) = <Y, Z>.
    norm = SquaredSpectralNorm(0.3, n_null, pooled)
    W = random_pair(rng)
    Z, rest, conjugate = norm.split(W, step)
    Y = rest * (1 / step)
    np.testing.assert_allclose((Z + rest).matrices, W.matrices)
    assert norm.value(Z) + conjugate == pytest.approx(inner(Y, Z, n_null), rel=1e-8)
    for _ in range(50):
        other = random_pair(rng) * rng.exponential(2)
        assert inner(Y, other, n_null) - norm.value(other) <= conjugate + 1e-10


@pytest.mark.parametrize("pooled", [False, True])
def test_split_agrees_with_numerical_minimisation(rng, pooled):
    norm, step, n_null = SquaredSpectralNorm(0.5, 2, pooled), 0.8, 2
    W = random_pair(rng, size=2)

    def value(flat):
        Z = Pair(flat[:8].reshape(2, 2, 2), flat[8:])
        return step * norm.value(Z) + (W - Z).squared_norm(n_null) / 2

    Z = norm.split(W, step)[0]
    ours = np.concatenate([Z.matrices.ravel(), Z.scalars])
    options = {"maxfev": 10_000, "adaptive": True, "xatol": 1e-8, "fatol": 1e-11}
    numeric = minimize(value, np.zeros(10), method="Nelder-Mead", options=options)
    numeric = minimize(value, numeric.x, method="Nelder-Mead", options=options)
    assert value(ours) <= numeric.fun + 1e-10
    assert value(ours) == pytest.approx(numeric.fun, rel=1e-3)


def test_without_weight_nothing_is_clipped(rng):
    W = random_pair(rng)
    Z, _, conjugate = SquaredSpectralNorm(0.0, 1, pooled=False).split(W, 1.0)
    np.testing.assert_allclose(Z.matrices, W.matrices, atol=1e-12)
    assert conjugate == 0.0


@pytest.mark.parametrize("weight", [0.0, 0.1, 5.0])
def test_clip_level_minimises_its_function(rng, weight):
    values, counts = rng.exponential(size=6), np.array([1, 1, 3, 1, 0, 2])

    def price(s):
        return weight * s**2 + counts @ np.maximum(values - s, 0) ** 2 / 2

    level = clip_level(values, counts, weight)
    numeric = minimize_scalar(price, bounds=(0, values.max()), method="bounded", options={"xatol": 1e-10})
    assert price(level) <= numeric.fun + 1e-12


def test_clip_level_of_nothing_is_zero():
    assert clip_level(np.zeros(3), np.ones(3), 1.0) == 0.0
