import numpy as np
import pytest

from fairpca.geometry import Grassmann, principal_angles, projection_distance, taylor_slope

MANIFOLDS = [Grassmann("polar"), Grassmann("qr")]
IDS = [m.retraction for m in MANIFOLDS]
P, D = 8, 3


@pytest.fixture(params=MANIFOLDS, ids=IDS)
def manifold(request):
    return request.param


@pytest.fixture
def point(rng):
    return Grassmann().random_point(P, D, rng)


def random_tangent(point, rng):
    tangent = Grassmann().project(point, rng.normal(size=point.shape))
    return tangent / np.linalg.norm(tangent)


def retracted(manifold, point, tangent):
    return manifold.curve(point, tangent)(1.0)[0]


def test_projection_is_idempotent_and_tangent(manifold, point, rng):
    tangent = manifold.project(point, rng.normal(size=(P, D)))
    np.testing.assert_allclose(manifold.project(point, tangent), tangent, atol=1e-14)
    np.testing.assert_allclose(point.T @ tangent, 0, atol=1e-14)


@pytest.mark.parametrize("length", [0.0, 1e-8, 0.3, 50.0])
def test_retraction_stays_on_the_manifold(manifold, point, rng, length):
    moved = retracted(manifold, point, length * random_tangent(point, rng))
    np.testing.assert_allclose(moved.T @ moved, np.eye(D), atol=1e-12)


def test_retraction_agrees_with_addition_to_first_order(manifold, point, rng):
    tangent = random_tangent(point, rng)

    def remainder(t):
        return np.linalg.norm(retracted(manifold, point, t * tangent) - point - t * tangent)

    assert taylor_slope(remainder) == pytest.approx(2, abs=0.1)


def test_velocity_is_the_derivative_of_the_curve(manifold, point, rng):
    curve = manifold.curve(point, random_tangent(point, rng))
    frame, velocity = curve(0.7)
    assert taylor_slope(lambda t: np.linalg.norm(curve(0.7 + t)[0] - frame - t * velocity)) == pytest.approx(2, abs=0.1)


def test_transport_gives_tangents_of_the_new_point(manifold, point, rng):
    there = retracted(manifold, point, random_tangent(point, rng))
    stack = np.array([random_tangent(point, rng) for _ in range(4)])
    moved = manifold.transport(there, stack)
    np.testing.assert_allclose(manifold.project(there, moved), moved, atol=1e-14)


def test_angles_do_not_depend_on_the_frame(point, rng):
    rotation = np.linalg.qr(rng.normal(size=(D, D)))[0]
    assert principal_angles(point, point @ rotation).max() < 1e-5
    assert projection_distance(point, point @ rotation) < 1e-7


def test_projection_distance_is_the_distance_of_projectors(point, rng):
    other = Grassmann().random_point(P, D, rng)
    expected = np.linalg.norm(point @ point.T - other @ other.T) / np.sqrt(2)
    assert projection_distance(point, other) == pytest.approx(expected)
