import numpy as np
import pytest
from scipy.stats import ks_2samp

from fairpca.metrics import (
    communality,
    delta_a,
    demographic_parity_difference,
    downstream,
    equal_opportunity_difference,
    equalized_odds_difference,
    explained_variance,
    mmd2,
    mmd_bound,
)


@pytest.fixture
def two_samples(rng):
    Z = np.vstack([rng.normal(size=(60, 2)), rng.normal((1.0, 0.0), 1.0, size=(40, 2))])
    return Z, np.repeat(["x", "y"], [60, 40])


def test_delta_a_is_the_kolmogorov_distance_in_one_dimension(two_samples):
    Z, group = two_samples
    column = np.round(Z[:, :1], 1)
    expected = ks_2samp(column[group == "x", 0], column[group == "y", 0]).statistic
    assert delta_a(column, sensitive_features=group) == pytest.approx(expected)


def test_delta_a_finds_the_best_direction(rng):
    angles = np.linspace(0, np.pi, 721)
    Z = rng.normal(size=(150, 2)) * [1, 3]
    group = (Z @ [0.8, -0.1] + 0.3 * rng.normal(size=150)) > 0
    scan = max(ks_2samp(*(Z[group == g] @ [np.cos(a), np.sin(a)] for g in (False, True))).statistic for a in angles)
    assert delta_a(Z, sensitive_features=group, random_state=0) >= scan - 0.01


def test_parity_gaps_of_a_worked_example():
    group = ["a"] * 4 + ["b"] * 4
    y_true = [1, 1, 0, 0, 1, 1, 1, 0]
    y_pred = [1, 0, 1, 0, 1, 1, 1, 0]
    assert demographic_parity_difference(y_true, y_pred, sensitive_features=group) == pytest.approx(0.25)
    assert equal_opportunity_difference(y_true, y_pred, sensitive_features=group) == pytest.approx(0.5)
    assert equalized_odds_difference(y_true, y_pred, sensitive_features=group) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("y_true", "y_pred", "message"),
    [
        ([0, 1, 2, 1], [0, 1, 1, 1], r"y_true must hold 0 and 1 only .* got also \[2\]"),
        ([0, 1, 1, 1], ["no", "yes", "no", "no"], r"y_pred must hold 0 and 1 only .* \['no', 'yes'\]"),
        ([0, 1, 1], [0, 1, 1, 1], "y_true has 3 entries but y_pred has 4"),
    ],
)
def test_bad_labels_are_refused(y_true, y_pred, message):
    with pytest.raises(ValueError, match=message):
        demographic_parity_difference(y_true, y_pred, sensitive_features=["a", "a", "b", "b"])


def test_explained_variance_of_all_axes_is_one(rng):
    X = rng.normal(size=(50, 4)) + 10
    frame = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert explained_variance(X, frame) == pytest.approx(1)
    assert explained_variance(X, frame[:2]) + explained_variance(X, frame[2:]) == pytest.approx(1)


def test_communality_sums_to_the_number_of_components(rng):
    frame = np.linalg.qr(rng.normal(size=(6, 6)))[0][:3]
    assert communality(frame).sum() == pytest.approx(3)
    assert communality(frame, [3.0, 2.0, 1.0]).sum() == pytest.approx(6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: communality(np.ones((2, 3))), "components must be orthonormal rows"),
        (lambda: communality(np.eye(3), [1.0]), r"explained_variance has shape \(1,\)"),
        (lambda: explained_variance(np.eye(3), np.eye(2)), "components have 2 features but X has 3"),
        (lambda: mmd_bound(10, 10, confidence=1.0), "confidence=1.0 must be between 0 and 1"),
    ],
)
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mmd_bound_covers_the_sampling_error(rng):
    # One distribution: the true discrepancy is 0, so the plug-in value itself is the error.
    group = np.repeat([0, 1], 100)
    errors = [np.sqrt(mmd2(rng.normal(size=(200, 2)), sensitive_features=group)) for _ in range(50)]
    assert max(errors) < mmd_bound(100, 100)


def test_holdout_scores_rows_that_were_not_trained_on(rng):
    Z, y = rng.normal(size=(200, 6)), rng.integers(0, 2, 200)
    group = rng.integers(0, 2, 100)
    honest = downstream(Z[:100], y[:100], Z[100:], y[100:], sensitive_features=group)
    paper = downstream(Z[:100], y[:100], Z[100:], y[100:], sensitive_features=group, protocol="paper")
    assert honest.accuracy < 0.65 < paper.accuracy
    assert paper.equalized_odds == max(paper.equal_opportunity, paper.demographic_parity)
