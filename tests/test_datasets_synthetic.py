"""The samples: that the groups differ, and agree, where they should."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest

from fairpca.datasets import make_ellipses, make_synthetic1, make_synthetic2

SAMPLERS = {
    "synthetic1": make_synthetic1,
    "synthetic2": lambda *args, **kwargs: make_synthetic2(20, *args, **kwargs),
    "published": lambda *args, **kwargs: make_synthetic2(20, *args, variant="published", **kwargs),
    "ellipses": make_ellipses,
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_groups_come_in_order_and_the_seed_decides(name):
    X, group = SAMPLERS[name](7, random_state=5)
    np.testing.assert_array_equal(group, np.repeat([0, 1], 7))
    assert X.shape[0] == 14
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, SAMPLERS[name](7, random_state=5)[0])
    assert not np.array_equal(X, SAMPLERS[name](7, random_state=6)[0])
    assert not np.array_equal(SAMPLERS[name](7)[0], SAMPLERS[name](7)[0])


def test_synthetic1_groups_share_two_moments_but_not_the_fourth():
    X, group = make_synthetic1(20_000, random_state=0)
    first, second = X[group == 0], X[group == 1]
    np.testing.assert_allclose(first.mean(axis=0), second.mean(axis=0), atol=0.03)
    for rows in (first, second):
        np.testing.assert_allclose(np.cov(rows.T), 0.1 * np.eye(3) + 1, atol=0.05)
    # Kurtosis of the mean coordinate: 3 for the Gaussian, near 1 for the two clusters.
    kurtosis = [np.mean(rows.mean(axis=1) ** 4) / np.mean(rows.mean(axis=1) ** 2) ** 2 for rows in (first, second)]
    np.testing.assert_allclose(kurtosis, [3.0, 1.13], atol=0.2)


def test_synthetic1_samples_have_exact_moments_if_asked():
    X, group = make_synthetic1(50, exact_moments=True, random_state=0)
    for rows in (X[group == 0], X[group == 1]):
        np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(np.cov(rows.T, ddof=0), 0.1 * np.eye(3) + 1, atol=1e-12)


def test_synthetic2_projects_both_groups_alike_unless_as_published():
    """With one projection the covariances of the groups go together; with one each they are unrelated."""

    def agreement(variant):
        X, group = make_synthetic2(20, 2000, variant=variant, random_state=0)
        above_diagonal = np.triu_indices(20, k=1)
        return np.corrcoef([np.cov(X[group == value].T)[above_diagonal] for value in (0, 1)])[0, 1]

    assert agreement("text") > 0.5
    assert abs(agreement("published")) < 0.25


def test_ellipses_mirror_each_other():
    X, group = make_ellipses(50_000, random_state=0)
    zero, one = X[group == 0], X[group == 1]
    np.testing.assert_allclose(zero.mean(axis=0), [-1.5, 0], atol=0.02)
    np.testing.assert_allclose(one.mean(axis=0), [1.5, 0], atol=0.02)
    np.testing.assert_allclose(np.cov(zero.T), np.cov(one.T) * [[1, -1], [-1, 1]], atol=0.02)
    assert abs(np.cov(zero.T)[0, 1]) > 0.3
    quantiles = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(np.quantile(zero[:, 1], quantiles), np.quantile(one[:, 1], quantiles), atol=0.02)


def test_ellipses_are_best_reconstructed_where_the_groups_are_apart():
    X, group = make_ellipses(5000, random_state=0)
    lost = {axis: [X[group == value, 1 - axis].var() for value in (0, 1)] for axis in (0, 1)}
    for errors in lost.values():
        assert errors[0] == pytest.approx(errors[1], rel=0.1)
    assert max(lost[0]) < min(lost[1])
    assert X[:, 0].var() > X[:, 1].var()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: make_synthetic1(0), ValueError, "n_per_group=0 must be at least 1"),
        (lambda: make_synthetic1(3, exact_moments=True), ValueError, "take at least 4"),
        (lambda: make_ellipses(2.5), TypeError, "n_per_group must be an integer at least 1; got 2.5"),
        (lambda: make_synthetic2(-3), ValueError, "p=-3 must be at least 1"),
        (lambda: make_synthetic2(20, variant="code"), ValueError, "variant='code' is unknown; choose one of"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
