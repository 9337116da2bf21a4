import numpy as np
import pytest
from scipy.spatial.distance import pdist

from fairpca.mmd import bandwidth_rows, median_bandwidth


def test_it_survives_many_equal_rows(rng):
    Z = np.zeros((50, 2))
    Z[:5] = rng.normal(size=(5, 2))
    assert 0 < median_bandwidth(Z) < np.inf
    assert median_bandwidth(np.zeros((5, 2))) == 1.0


def test_it_scales_with_the_rows_whatever_their_size(rng):
    Z = rng.normal(size=(99, 2))
    Z[3] = 1e12
    expected = median_bandwidth(Z)
    for scale in (1e-300, 1e-160, 1e160, 1e290):
        assert median_bandwidth(Z * scale) == pytest.approx(expected * scale, rel=1e-12)


def tables(rng, n):
    """Return tables whose pairs differ much: light and heavy tails, clumps, few values, sorted ones."""
    clumps = rng.normal(size=(n, 2)) + 8 * rng.integers(0, 3, size=(n, 1))
    return {
        "normal": rng.normal(size=(n, 2)),
        "sorted": np.sort(rng.normal(size=(n, 1)), axis=0),
        "heavy": rng.standard_t(1.5, size=(n, 3)),
        "clumps": clumps[np.argsort(clumps[:, 0])],
        "few values": np.rint(rng.normal(size=(n, 2))),
        "periodic": np.tile(rng.normal(size=(64, 2)), (n // 64 + 1, 1))[:n],
    }


@pytest.mark.parametrize("name", ["normal", "sorted", "heavy", "clumps", "few values", "periodic"])
@pytest.mark.parametrize("n", [363, 1000])
def test_of_all_pairs_it_is_the_median_whatever_their_order(rng, name, n):
    Z = tables(rng, n)[name]
    assert median_bandwidth(Z) == pytest.approx(np.sqrt(np.median(pdist(Z, "sqeuclidean")) / 2), rel=1e-14)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    [*(pytest.param(name, marks=pytest.mark.slow) for name in ("normal", "sorted", "periodic")), "heavy", "clumps"],
)
def test_pairs_of_many_rows_know_the_median_of_all_pairs(rng, name):
    Z = tables(rng, 9000)[name]
    exact = np.sqrt(np.median(pdist(Z, "sqeuclidean")) / 2)
    assert median_bandwidth(Z) == pytest.approx(exact, rel=2e-3)
    assert median_bandwidth(rng.permutation(Z)) == pytest.approx(exact, rel=2e-3)


def test_rows_of_a_longer_table_know_it_too(rng):
    Z = np.sort(rng.normal(size=(400_000, 1)), axis=0)
    chosen = bandwidth_rows(len(Z))
    assert np.all(np.diff(chosen) > 0)
    # Squared distances of standard normal numbers are 2 chi^2_1.
    expected = np.sqrt(0.454936423)
    assert median_bandwidth(Z) == median_bandwidth(Z[chosen]) == pytest.approx(expected, rel=5e-3)
