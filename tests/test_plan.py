"""A plan says beforehand what the bound of an audit will be."""
# SPDX-License-Identifier: MIT

import dataclasses

import numpy as np
import pytest
from matplotlib import pyplot

import fairpca
from fairpca import FairPCA
from fairpca.comparison import People, Terms, compare
from fairpca.inference import ComparedRows, FeatureRows, measure, sampling_levels, upper_bound
from fairpca.mmd import median_bandwidth


def simulated_bounds(m, n, d, n_draws, seed=0):
    """Return the U of audits of normal groups that do not differ."""
    rng, groups = np.random.default_rng(seed), np.repeat([0, 1], [m, n])
    found = []
    for _ in range(n_draws):
        Z = rng.normal(size=(m + n, d))
        rows, sigma = ComparedRows.of(Z, compare(People(groups), m + n, Terms(), 2.0)), median_bandwidth(Z)
        excess = measure(rows, sigma, np.full(1, 1e-5)).values[0] - sampling_levels(rows, sigma)[0]
        found.append(upper_bound(excess, FeatureRows.draw(rows, sigma, rng).by_sides(0), 0.95))
    return np.array(found)


def planned_relative_to_simulated(m, n, d, n_draws, power=0.8):
    found = fairpca.plan(n_components=d, groups=(m, n), power=power).supported
    return found / np.quantile(simulated_bounds(m, n, d, n_draws), power)


@pytest.mark.parametrize(("m", "n", "d"), [(150, 150, 2), (100, 400, 10)])
def test_what_is_planned_is_what_audits_show(m, n, d):
    # The median of a few draws is known better than their upper fifth.
    assert planned_relative_to_simulated(m, n, d, n_draws=30, power=0.5) == pytest.approx(1.0, abs=0.2)


def test_rows_needed_are_the_least_that_will_do():
    found = fairpca.plan(0.01, groups=(0.2, 0.8), rows=1000)
    assert found.today == (200, 800)
    m, n = found.needed
    assert n == pytest.approx(4 * m, abs=4)
    assert fairpca.plan(groups=found.needed).supported <= 0.01 < fairpca.plan(groups=(m - 2, n - 8)).supported
    assert found.supported == fairpca.plan(groups=(200, 800)).supported


def test_more_rows_show_less_and_more_power_asks_for_more():
    found = fairpca.plan(1e-3)
    assert np.all(np.diff(found.n_rows) > 0)
    assert np.all(np.diff(found.epsilon) < 0)
    assert found.n_rows[0] == 20
    assert sum(found.needed) < found.n_rows[-1]
    assert fairpca.plan(1e-3, power=0.95).needed > found.needed
    assert fairpca.plan(1e-3, confidence=0.99).needed > found.needed
    assert fairpca.plan(1e-3, n_components=10).needed < found.needed
    assert fairpca.plan(1e-3, groups=(0.5, 0.5)).needed == found.needed


@pytest.mark.thorough
def test_projections_take_the_place_of_the_normal_distribution(two_groups, rng):
    X, group = two_groups
    normal = fairpca.plan(groups=(500, 500), n_components=3)
    of_rows = fairpca.plan(groups=(500, 500), Z=7.0 * rng.normal(size=(1500, 3)) + 100.0)
    assert of_rows.supported == pytest.approx(normal.supported, rel=0.05)
    assert of_rows.n_components == 3
    model = FairPCA(2, tolerance=1e-2).fit(X, sensitive_features=group)
    of_model = fairpca.plan(groups=(500, 500), reduction=model, X=X)
    assert of_model.bandwidth == model.bandwidth_
    given = fairpca.plan(groups=(500, 500), Z=model.transform(X), bandwidth=model.bandwidth_)
    assert of_model.supported == given.supported
    # One direction of little variance counts for little.
    flat = fairpca.plan(groups=(500, 500), Z=rng.normal(size=(1500, 2)) * [1.0, 0.01])
    line = fairpca.plan(groups=(500, 500), n_components=1)
    assert flat.supported == pytest.approx(line.supported, rel=0.05)
    assert "300 projected rows" in str(of_model)


def test_it_is_drawn_and_stays_as_it_is():
    found = fairpca.plan(0.01, groups=(200, 800))
    display = found.plot()
    np.testing.assert_array_equal(display.line_.get_xdata(), found.n_rows)
    assert [text.get_text().partition(":")[0] for text in display.ax_.get_legend().get_texts()] == ["needed", "today"]
    assert fairpca.plan().plot(ax=display.ax_).ax_ is display.ax_
    pyplot.close("all")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.target = 1.0


REFUSED = {
    "epsilon": {ValueError: [1e-12, 0.0, -0.1], TypeError: ["small"]},
    "groups": {ValueError: [(9, 100), (0.2, 0.3)], TypeError: [100]},
    "power": {ValueError: [1.0]},
    "projected rows": {ValueError: [{"Z": np.eye(9)}, {"Z": np.ones((200, 2))}]},
    "rows": {ValueError: [{"groups": (0.01, 0.99), "rows": 500}, {"groups": (20, 30), "rows": 50}]},
    "not both|go together": {ValueError: [{"Z": np.eye(200), "X": np.eye(200)}, {"X": np.eye(200)}]},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_planned_is_refused_by_name(name):
    for error, values in REFUSED[name].items():
        for value in values:
            with pytest.raises(error, match=name):
                fairpca.plan(**(value if isinstance(value, dict) else {name: value}))
