"""What Hermite features leave out, and the error with which it is known."""

import numpy as np
import pytest

from comparisons import by_weights, exact_mmd, weights_of_groups
from fairpca.mmd import Coordinates, HermiteMMD
from fairpca.rows import ArrayRows

SIGMA = 1.5


class Case:
    """Rows with their exact h, and few features that leave much of it out."""

    def __init__(self, X, weights, owner=None, n_features=60):
        owner = np.zeros(weights.shape[1], dtype=np.int64) if owner is None else owner
        codes, comparison = by_weights(weights, owner)
        self.V = np.eye(X.shape[1])
        self.exact = exact_mmd(X, codes, comparison, SIGMA).value(self.V)
        coordinates = Coordinates(X.mean(axis=0), self.V)
        self.mmd = HermiteMMD(ArrayRows(X, codes), coordinates, comparison, SIGMA, n_features)

    def estimates(self, rng, part_rows, trials):
        """Return values and errors from independent samples."""
        samples = (self.mmd.residual_sample(rng, part_rows) for _ in range(trials))
        return map(np.array, zip(*(self.mmd.value_and_error(self.V, sample) for sample in samples), strict=True))


def body(rng, n, p=4):
    return rng.normal(size=(n, p)) * np.geomspace(1.5, 0.5, p)


def clumped(rng, n, kind):
    """Return rows and groups; some rows stand together where the features do not reach."""
    X, group = body(rng, n), np.arange(n) % 2
    first = np.flatnonzero(group == 0)
    if kind == "one group":
        X[first[: len(first) // 100]] = 10 + 0.1 * rng.normal(size=(len(first) // 100, 4))
    elif kind == "both groups":
        X[: n // 100] = 10 + 0.1 * rng.normal(size=(n // 100, 4))
    elif kind == "more than are heavy":
        X[first[: len(first) // 2]] = 10 + rng.normal(size=(len(first) // 2, 4))
    elif kind == "many places":
        X[: n // 20] = np.repeat(15 * rng.normal(size=(n // 200, 4)), 10, axis=0)
    elif kind == "heavy tails":
        X = rng.standard_t(2, size=(n, 4))
    return X, group


KINDS = ["none", "one group", "both groups", "more than are heavy", "many places", "heavy tails"]


def test_all_pairs_of_few_rows_are_known_exactly(rng):
    X, group = body(rng, 500), np.arange(500) % 3 == 0
    case = Case(X, weights_of_groups(group), n_features=10)
    values, errors = case.estimates(rng, 8, 3)
    np.testing.assert_allclose(values, np.tile(case.exact, (3, 1)), rtol=1e-12)
    assert not errors.any()
    assert abs(case.mmd.value_and_bound(case.V)[0] - case.exact) > 1e-4


def test_groups_of_few_rows_are_known_exactly_without_heavy_rows(rng, monkeypatch):
    monkeypatch.setattr("fairpca.mmd.hermite._passes.MOST_HEAVY", 0)
    case = Case(body(rng, 110), weights_of_groups(np.arange(110) % 2), n_features=10)
    values, _ = case.estimates(rng, 110, 2)
    np.testing.assert_allclose(values, np.tile(case.exact, (2, 1)), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_stated_error_holds_with_rows_far_from_the_others(rng, kind):
    X, group = clumped(rng, 3000, kind)
    case = Case(X, weights_of_groups(group))
    for part_rows in (64, 200):
        values, errors = case.estimates(rng, part_rows, 6)
        assert np.all(np.abs(values - case.exact) <= errors)


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [64, 512])
@pytest.mark.parametrize("kind", KINDS)
def test_the_stated_error_is_exceeded_once_in_a_thousand(rng, kind, part_rows):
    within = total = 0
    for _ in range(20):
        X, group = clumped(rng, 20_000, kind)
        case = Case(X, weights_of_groups(group))
        values, errors = case.estimates(rng, part_rows, 20)
        within += int(np.sum(np.abs(values - case.exact) <= errors))
        total += len(values)
    assert within >= total - 2


@pytest.mark.parametrize("size", [2, 12, 31, 70])
def test_small_groups_among_many_rows(rng, size):
    n = 3000
    case = Case(body(rng, n), weights_of_groups(np.arange(n) < size))
    values, errors = case.estimates(rng, 64, 4)
    assert np.all(np.abs(values - case.exact) <= errors)
    assert np.all(errors < 1e-2)
