import numpy as np
import pytest

from fairpca.baselines._fantope import Fantope, trace_shift


def symmetric(rng, size):
    A = rng.normal(size=(size, size))
    return A + A.T


def full(matrix, scalar, n_null):
    """Return the block matrix that a live block and a scalar stand for."""
    size = len(matrix) + n_null
    result = np.zeros((size, size))
    result[: len(matrix), : len(matrix)] = matrix
    result[range(len(matrix), size), range(len(matrix), size)] = scalar
    return result


def dykstra(A, d, f, bound, exact, n_iter=20_000):
    """Project by alternating projections on the three simple sets whose intersection it is."""

    def on_box(P):
        values, vectors = np.linalg.eigh(P)
        return (vectors * np.clip(values, 0, 1)) @ vectors.T

    def on_trace(P):
        excess = np.trace(P) - d
        return P - np.eye(len(P)) * (excess if exact else max(excess, 0)) / len(P)

    def on_mean(P):
        return P - np.outer(f, f) * max(f @ P @ f - bound, 0) / (f @ f) ** 2

    P, corrections = A, [np.zeros_like(A)] * 3
    for _ in range(n_iter):
        before = P
        for i, project in enumerate((on_trace, on_mean, on_box)):
            moved = project(P + corrections[i])
            corrections[i] = P + corrections[i] - moved
            P = moved
        if np.abs(P - before).max() < 1e-13:
            break
    return P


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n_null", [0, 3])
@pytest.mark.parametrize("bound", [np.inf, 0.5, 0.01])
def test_projection_agrees_with_alternating_projections(rng, exact, n_null, bound):
    d, size = 2, 4
    f = rng.normal(size=size)
    fantope = Fantope(d, n_null, f if np.isfinite(bound) else None, bound, exact)
    for scale in (0.3, 2.0):
        A, alpha = scale * symmetric(rng, size), scale * rng.normal()
        P = fantope.project(A, alpha)
        padded = np.concatenate([f, np.zeros(n_null)])
        expected = dykstra(full(A, alpha, n_null), d, padded, bound, exact)
        np.testing.assert_allclose(full(P.matrix, P.scalar, n_null), expected, atol=1e-6)


@pytest.mark.parametrize("guess", [0.0, 1e-3, 1.0, 1e6])
def test_projection_does_not_depend_on_the_guess_of_the_multiplier(rng, guess):
    f = rng.normal(size=6)
    A = symmetric(rng, 6)
    tight, loose = Fantope(3, 0, f, 1e-2), Fantope(3, 0, f, 1e3)
    first, second = tight.project(A, 0.0), tight.project(A, 0.0, guess)
    np.testing.assert_allclose(second.matrix, first.matrix, atol=1e-10)
    assert first.multiplier > 0
    assert f @ first.matrix @ f == pytest.approx(1e-2, rel=1e-10)
    assert loose.project(A, 0.0, guess).multiplier == 0


def test_points_of_the_set_stay_where_they_are(rng):
    frame = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    P = frame @ frame.T
    np.testing.assert_allclose(Fantope(2, 0).project(P, 0.0).matrix, P, atol=1e-12)


@pytest.mark.parametrize("exact", [True, False])
def test_upper_bound_is_attained_by_the_best_multiplier_and_holds_for_any(rng, exact):
    f, M, n_null = rng.normal(size=5), symmetric(rng, 5) - 2 * np.eye(5), 2
    fantope = Fantope(3, n_null, f, 0.05, exact)
    # The projection of M / epsilon maximises <M, P> in the limit.
    epsilon = 1e-9
    best = fantope.project(M / epsilon, -0.5 / epsilon)
    value = np.vdot(M, best.matrix) - 0.5 * n_null * best.scalar
    assert fantope.upper_bound(M, -0.5, epsilon * best.multiplier) == pytest.approx(value, abs=1e-6)
    for multiplier in (0.0, 0.1, 1.0, 10.0):
        assert fantope.upper_bound(M, -0.5, multiplier) >= value - 1e-6


@pytest.mark.parametrize("total", [1, 2.5, 6])
def test_shifted_and_clipped_values_have_the_trace(rng, total):
    values, counts = rng.normal(size=4), np.array([1.0, 1.0, 1.0, 3.0])
    theta = trace_shift(values, counts, total)
    assert counts @ np.clip(values - theta, 0, 1) == pytest.approx(total)


def test_a_trace_below_the_bound_needs_no_shift():
    assert trace_shift(np.array([0.3, 0.2, -1.0]), np.ones(3), 2, exact=False) == 0.0
