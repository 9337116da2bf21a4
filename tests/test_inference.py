"""Permutations, chance levels, spectra and bounds agree with their definitions, and tests are calibrated."""
# SPDX-License-Identifier: MIT

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import kstest
from sklearn.decomposition import PCA

from comparisons import kernel
from fairpca.comparison import People, Terms, compare
from fairpca.inference import (
    ComparedRows,
    FeatureRows,
    PermutationTest,
    Spectrum,
    chance_deviations,
    chance_levels,
    finite_sample_bound,
    measure,
    sampling_levels,
    upper_bound,
)
from fairpca.metrics import mmd2
from people_tables import KINDS, people


def compared(Z, *known, **terms):
    return ComparedRows.of(Z, compare(People(*known), len(Z), Terms.named(**({"min_group_size": 2} | terms)), 2.0))


def test_chance_level_is_the_mean_over_all_ways_to_draw_the_groups(rng):
    Z = rng.normal(size=(8, 2))
    K = kernel(Z, 1.3)
    values = []
    for chosen in combinations(range(8), 3):
        w = np.full(8, -1 / 5)
        w[list(chosen)] = 1 / 3
        values.append(w @ K @ w)
    groups = np.array([1, 1, 1, 0, 0, 0, 0, 0])
    assert chance_levels(compared(Z, groups), 1.3)[0] == pytest.approx(np.mean(values), rel=1e-12)


def test_deviations_are_those_of_groups_drawn_by_lot(rng):
    Z, groups = rng.normal(size=(150, 2)), np.repeat([0, 1], [50, 100])
    draws = PermutationTest.of(compared(Z, groups), 1.5, 800, rng).values[1, 0, 1:]
    mean, deviation = (each(compared(Z, groups), 1.5)[0] for each in (chance_levels, chance_deviations))
    assert mean == pytest.approx(draws.mean(), abs=4 * draws.std() / np.sqrt(800))
    assert deviation == pytest.approx(draws.std(), rel=0.15)
    assert 0.92 < np.mean(draws <= mean + 2 * deviation) < 0.98


def test_deviations_with_masses_are_those_of_the_spectrum(rng):
    Z, groups, mass = rng.normal(size=(300, 2)), np.arange(300) % 3, rng.uniform(0.5, 3.0, size=300)
    rows = compared(Z, groups, None, None, mass)
    features = FeatureRows.draw(rows, 1.5, rng)
    expected = [features.by_chance(j).deviation for j in range(3)]
    np.testing.assert_allclose(chance_deviations(rows, 1.5), expected, rtol=0.03)


def test_less_the_sampling_level_is_the_unbiased_estimate(rng):
    Z, groups = rng.normal(size=(50, 3)), np.arange(50) % 3 == 0
    Z[groups] *= 2
    rows = compared(Z, groups)
    value = measure(rows, 1.3, np.ones(1)).values[0] - sampling_levels(rows, 1.3)[0]
    assert value == pytest.approx(mmd2(Z, sensitive_features=groups, bandwidth=1.3, unbiased=True), abs=1e-14)


def test_the_sampling_level_of_a_dependence_is_its_bias(rng):
    def draw(n):
        u = rng.uniform(size=n)
        return np.column_stack([u + rng.normal(size=n), rng.normal(size=n)]), u

    def estimate(n):
        rows = compared(*draw(n), sensitive_kind="continuous")
        return measure(rows, 1.3, np.ones(1)).values[0] - sampling_levels(rows, 1.3)[0]

    few = [estimate(40) for _ in range(150)]
    many = estimate(4000)
    assert np.mean(few) == pytest.approx(many, abs=4 * np.std(few) / np.sqrt(150))


def test_the_spectrum_is_that_of_the_centred_kernel_matrix(rng):
    n, Z, groups = 400, rng.normal(size=(400, 2)), np.arange(400) % 4 == 0
    H = np.eye(n) - 1 / n
    exact = np.linalg.eigvalsh(H @ kernel(Z, 1.5) @ H)[::-1] / (n - 1) * (1 / 100 + 1 / 300)
    rows = compared(Z, groups)
    found = FeatureRows.draw(rows, 1.5, rng).by_chance(0)
    assert found.first == pytest.approx(exact.sum(), rel=0.01)
    assert found.second == pytest.approx((exact**2).sum(), rel=0.03)
    assert found.third == pytest.approx((exact**3).sum(), rel=0.05)
    assert found.largest == pytest.approx(exact[0], rel=0.03)


@pytest.mark.thorough
def test_a_sample_stands_for_all_rows(rng):
    Z = rng.normal(size=(12_000, 2))
    groups = rng.choice(["a", "b", "c"], p=[0.02, 0.28, 0.7], size=len(Z))
    rows = compared(Z, groups)
    sample = rows.sample(4000, rng)
    np.testing.assert_allclose(chance_levels(sample, 1.5), chance_levels(rows, 1.5), rtol=0.02)
    np.testing.assert_allclose(sampling_levels(sample, 1.5), sampling_levels(rows, 1.5), rtol=0.02)
    whole, part = (FeatureRows.draw(each, 1.5, np.random.default_rng(0)) for each in (rows, sample))
    for j in range(3):
        assert part.by_chance(j).second == pytest.approx(whole.by_chance(j).second, rel=0.06)
        assert part.by_sides(j).largest == pytest.approx(whole.by_sides(j).largest, rel=0.06)


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_lots_are_those_of_the_kernel(rng, kind):
    names, terms = KINDS[kind]
    X, table = people(n=200)
    rows = compared(X[:, :2], table[names], **terms)
    test = PermutationTest.of(rows, 1.4, 19, rng)
    exact = measure(rows, 1.4, np.ones(1)).values
    # Columns that tell a thousandth of a dependence are left out.
    np.testing.assert_allclose(test.values[1, :, 0], exact, rtol=2e-3, atol=1e-6)
    np.testing.assert_allclose(test.values[2, :, 0], measure(rows, 0.7, np.ones(1)).values, rtol=2e-3, atol=1e-6)
    assert not np.allclose(test.values[1, :, 0], test.values[1, :, 1])


def test_features_of_many_rows_give_the_p_values_of_all_pairs(rng, monkeypatch):
    Z, groups = rng.normal(size=(2000, 2)), np.arange(2000) % 3 == 0
    Z[groups] += 0.07
    rows = compared(Z, groups)
    exact = PermutationTest.of(rows, 1.4, 499, rng)
    monkeypatch.setattr("fairpca.inference._permutation.EXACT_ROWS", 100)
    monkeypatch.setattr("fairpca.inference._permutation.BLOCK_ROWS", 700)
    quick = PermutationTest.of(rows, 1.4, 499, rng)
    assert quick.values[1, 0].std() == pytest.approx(exact.values[1, 0].std(), rel=0.2)
    assert quick.at_bandwidth()[0] == pytest.approx(exact.at_bandwidth()[0], abs=0.06)


def test_lots_stay_within_labels_and_controls(rng):
    X, table = people(n=300)
    rows = compared(X, table["sex"], table["y"], table["department"], fairness="equalized_odds")
    cells = table["y"].astype(str) + table["department"]
    assert len(np.unique(rows.classes)) == 4
    assert len({(number, cell) for number, cell in zip(rows.classes, cells, strict=True)}) == 4
    test = PermutationTest.of(rows, 2.0, 19, rng)
    assert test.values.shape == (4, 4, 20)


def test_a_missing_attribute_stays_missing(rng):
    X, table = people(n=200)
    sex, age = table["sex"].astype(object).copy(), table["age"].copy()
    sex[:40] = None
    age[30:60] = np.nan
    rows = compared(X, {"sex": sex, "age": age}, missing="leave")
    classes = {tuple(row) for row in np.column_stack([rows.classes, sex.isna(), age.isna()])}
    assert len(classes) == len(np.unique(rows.classes)) == 4


@pytest.mark.parametrize("container", ["few", "many"])
def test_with_weights_attributes_move_and_masses_stay(rng, monkeypatch, container):
    # Heavy rows lie elsewhere, but groups do not differ: a mass that moved with its attribute would be seen.
    if container == "many":
        monkeypatch.setattr("fairpca.inference._permutation.EXACT_ROWS", 100)
    p_values = []
    for _ in range(60):
        mass = rng.choice([1.0, 10.0], size=200)
        Z, groups = rng.normal(size=(200, 2)) + mass[:, None], rng.integers(0, 2, size=200)
        rows = compared(Z, groups, None, None, mass)
        p_values.append(PermutationTest.of(rows, 4.0, 99, rng).family_wise() - rng.uniform() / 100)
    assert kstest(p_values, "uniform").pvalue > 0.01


@pytest.mark.parametrize("x", [0.05, 0.5, 1.5, 4.0, 9.0])
@pytest.mark.parametrize("n_leading", [2, 4, 6])
def test_the_tail_of_a_sum_of_squares(x, n_leading):
    # Three pairs of equal variances: a sum of exponential variables, whose tail is known.
    sizes = np.array([0.7, 0.2, 0.1])
    others = [np.prod([a / (a - b) for b in sizes if b != a]) for a in sizes]
    exact = sum(w * np.exp(-x / (2 * a)) for w, a in zip(others, sizes, strict=True))
    values = np.repeat(sizes, 2)
    moments = [float(np.sum(values**k)) for k in (1, 2, 3)]
    spectrum = Spectrum(*moments, 0.7, tuple(values[:n_leading].tolist()))
    assert spectrum.p_value(x) == pytest.approx(exact, abs=2e-3 if n_leading == 2 else 2e-4)


def test_the_bound_solves_its_equation():
    spectrum = Spectrum(3e-3, 4e-6, 1e-8, 1e-3)
    bound = upper_bound(2e-3, spectrum, 0.95)
    assert bound - 1.6448536 * np.sqrt(2 * 4e-6 + 4 * 1e-3 * bound) == pytest.approx(2e-3, rel=1e-6)
    assert upper_bound(2e-3, spectrum, 0.99) > bound
    assert upper_bound(2e-3, spectrum, 0.95, error=1e-4) > bound
    assert finite_sample_bound(0.0, 0.02, 0.95) == pytest.approx(0.02 * np.log(20))


# Calibration: groups are drawn by lot, so every p-value is uniform.


def randomised(p_value, n_draws, rng):
    """Return a p-value of few permutations without its steps."""
    return p_value - rng.uniform() / (1 + n_draws)


def null_p_values(reference, name, d, n_tables, rng, n_draws=99):
    found = {"bandwidth": [], "scales": [], "strata": [], "moments": []}
    projections = PCA(d).fit_transform(reference(name, 0)["X_train"])
    for _ in range(n_tables):
        Z = projections[rng.choice(len(projections), 240, replace=False)]
        groups = rng.permutation(np.arange(240) % 5 == 0)
        sigma = np.sqrt(np.median(cdist(Z, Z, "sqeuclidean")) / 2)
        rows = compared(Z, groups)
        test = PermutationTest.of(rows, sigma, n_draws, rng)
        label = Z[:, 0] > np.median(Z[:, 0])
        within = PermutationTest.of(compared(Z, groups, label, fairness="equalized_odds"), sigma, n_draws, rng)
        found["bandwidth"].append(randomised(test.at_bandwidth()[0], n_draws, rng))
        found["scales"].append(randomised(test.family_wise(), n_draws, rng))
        found["strata"].append(randomised(within.family_wise(), n_draws, rng))
        spectrum = FeatureRows.draw(rows, sigma, rng).by_chance(0)
        found["moments"].append(spectrum.p_value(measure(rows, sigma, np.ones(1)).values[0]))
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "d"), [("german", 2), ("adult", 10)])
def test_p_values_are_uniform_where_groups_are_drawn_by_lot(reference, rng, name, d):
    for which, p_values in null_p_values(reference, name, d, 100, rng).items():
        assert kstest(p_values, "uniform").pvalue > 0.01, which


def gaussian_mmd2(shift, scale, d, sigma):
    """Return MMD^2 of N(0, I) and N(shift e_1, scale^2 I)."""

    def mean(delta, variance):
        spread = 1 + variance / sigma**2
        return spread ** (-d / 2) * np.exp(-(delta**2) / (2 * sigma**2 * spread))

    return mean(0, 2) + mean(0, 2 * scale**2) - 2 * mean(shift, 1 + scale**2)


def coverage(d, shift, scale, m, n, n_draws, rng):
    """Return the share of draws in which the bound holds, and that of the bound for any number of rows."""
    sigma = np.sqrt(d)
    truth = gaussian_mmd2(shift, scale, d, sigma)
    groups = np.repeat([0, 1], [m, n])
    holds = []
    for _ in range(n_draws):
        other = scale * rng.normal(size=(n, d))
        other[:, 0] += shift
        rows = compared(np.vstack([rng.normal(size=(m, d)), other]), groups)
        value = measure(rows, sigma, np.ones(1)).values[0]
        spectrum = FeatureRows.draw(rows, sigma, rng).by_sides(0)
        bound = upper_bound(value - sampling_levels(rows, sigma)[0], spectrum, 0.95)
        holds.append((bound >= truth, finite_sample_bound(value, 1 / m + 1 / n, 0.95) >= truth))
    return np.mean(holds, axis=0)


POPULATIONS = {"equal": (0.0, 1.0), "nearly fair": (0.15, 1.1), "apart": (1.0, 1.0), "other spread": (0.0, 2.0)}


@pytest.mark.thorough
@pytest.mark.parametrize("population", ["nearly fair", "apart"])
def test_bounds_hold(rng, population):
    quick, always = coverage(2, *POPULATIONS[population], 60, 240, 60, rng)
    assert quick >= 0.9
    assert always == 1.0
