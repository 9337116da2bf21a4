"""Two samples of anyone: p-values that are right, samples wherever they are, and what is refused."""
# SPDX-License-Identifier: MIT

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from fairpca import two_sample
from fairpca.metrics import mmd2


def samples(m, n, d=3, shift=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    Y[:, 0] += shift
    return X, Y


def test_the_statistic_is_mmd2_by_its_definition():
    X, Y = samples(80, 50, shift=0.3)
    found = two_sample(X, Y, bandwidth=1.3, random_state=0)
    codes = np.repeat([0, 1], [80, 50])
    both = {"sensitive_features": codes, "bandwidth": 1.3}
    assert found.mmd2 == pytest.approx(mmd2(np.vstack([X, Y]), **both), rel=1e-9)
    assert found.unbiased == pytest.approx(mmd2(np.vstack([X, Y]), **both, unbiased=True), rel=1e-9)
    by_factor = {each["factor"]: each for each in found.scales}
    assert by_factor[1.0]["mmd2"] == pytest.approx(found.mmd2, rel=1e-5)
    assert by_factor[1.0]["chance_level"] == pytest.approx(found.chance_level, rel=0.05)
    narrow = mmd2(np.vstack([X, Y]), sensitive_features=codes, bandwidth=0.65)
    assert by_factor[0.5]["mmd2"] == pytest.approx(narrow, rel=1e-5)
    assert (found.mmd2_error, found.n_rows, found.method) == (0.0, (80, 50), "permutations")
    assert found.unbiased < found.upper_bound


@pytest.mark.parametrize(("m", "n", "draws"), [(40, 25, 100), (2600, 2500, 30)])
def test_p_values_are_uniform_where_nothing_differs(m, n, draws):
    rng, p = np.random.default_rng(0), []
    for seed in range(draws):
        X, Y = (np.exp(each) for each in samples(m, n, 2, seed=1000 + seed))
        p.append(two_sample(X, Y, n_permutations=19, random_state=seed).p_value - rng.random() / 20)
    assert kstest(p, "uniform").pvalue > 0.01
    assert min(p) < 0.15 < 0.85 < max(p)


def test_a_difference_too_fine_for_one_bandwidth_is_seen():
    X, Y = samples(400, 400, 1, seed=3)
    Y = np.rint(Y / 0.5) * 0.5 + 0.05 * np.random.default_rng(0).normal(size=Y.shape)
    assert two_sample(X, Y, random_state=0).p_value < 0.01 < two_sample(X, Y, scales=(1.0,), random_state=0).p_value


@pytest.fixture
def few_are_many(monkeypatch):
    """Let 4,000 rows count as many, whose law comes from a part of them."""
    monkeypatch.setattr("fairpca.inference._two_sample.BLOCK_ROWS", 4000)
    monkeypatch.setattr("fairpca.inference._two_sample.SAMPLE_ROWS", 3000)


def test_many_rows_say_what_all_their_pairs_say(few_are_many):
    for shift, least, most in ((0.15, 0.0, 0.02), (0.0, 0.05, 1.0)):
        X, Y = samples(4000, 1500, shift=shift)
        found = two_sample(X, Y, random_state=0)
        codes = np.repeat([0, 1], [4000, 1500])
        exact = mmd2(np.vstack([X, Y]), sensitive_features=codes, bandwidth=found.bandwidth)
        assert found.method == "limit law"
        assert found.mmd2 == pytest.approx(exact, abs=found.mmd2_error + 1e-9)
        assert least <= found.p_value <= most
        assert found.scales[1]["mmd2"] == pytest.approx(exact, rel=0.3)
        assert found.scales[1]["chance_level"] == pytest.approx(found.chance_level, rel=0.1)


@pytest.mark.thorough
def test_p_values_of_many_rows_are_uniform_where_nothing_differs(few_are_many):
    p = []
    for seed in range(60):
        X, Y = (np.exp(each) for each in samples(4500, 300, 2, seed=seed))
        p.append(two_sample(X, Y, n_permutations=99, random_state=seed).p_value)
    assert kstest(p, "uniform").pvalue > 0.01


@pytest.mark.parametrize("m", [300, 4000])
def test_samples_on_files_in_frames_and_on_dask_are_the_same_samples(m, few_are_many, tmp_path):
    X, Y = (each.astype(np.float32) for each in samples(m, 200, shift=0.2))
    plain = two_sample(X, Y, n_permutations=99, random_state=0)
    for name, table in (("X", X), ("Y", Y)):
        np.save(tmp_path / f"{name}.npy", table)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in "XY"]
    frames = [pd.DataFrame(table, columns=["a", "b", "c"]) for table in (X, Y)]
    for first, second in (mapped, frames, (da.from_array(X, chunks=1000), da.from_array(Y)), (da.from_array(X), Y)):
        found = two_sample(first, second, n_permutations=99, random_state=0)
        assert found.p_value == plain.p_value
        assert found.mmd2 == pytest.approx(plain.mmd2, rel=1e-6)
        assert found.upper_bound == pytest.approx(plain.upper_bound, rel=1e-5)


def test_an_offset_changes_nothing(few_are_many):
    X, Y = samples(3000, 2000)
    near, far = (two_sample(X + offset, Y + offset, random_state=0) for offset in (0.0, 1e6))
    assert far.p_value == near.p_value
    assert far.mmd2 == pytest.approx(near.mmd2, rel=1e-3)


def test_one_column_may_be_a_vector():
    X, Y = samples(60, 60, 1, shift=1.0)
    assert two_sample(X[:, 0], Y[:, 0].tolist(), random_state=0) == two_sample(X, Y, random_state=0)


def test_samples_that_are_all_alike_show_nothing():
    found = two_sample(np.zeros((20, 2)), np.zeros((30, 2)), random_state=0)
    assert (found.p_value, found.mmd2) == (1.0, pytest.approx(0.0, abs=1e-12))


def test_what_is_said_of_it():
    words = str(two_sample(*samples(200, 100, shift=1.0), random_state=0))
    assert "200 and 100 rows differ (p <= 0.001" in words
    assert "With 95 % confidence the MMD^2 of the distributions is at most" in words
    assert "show no difference beyond chance" in str(two_sample(*samples(200, 100), random_state=0))
    few = two_sample(*samples(5, 4), random_state=0)
    assert np.isnan(few.upper_bound)
    assert "confidence" not in str(few)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Y": np.zeros((30, 2))}, "X has 3 columns and Y has 2"),
        ({"Y": np.full((30, 3), np.nan)}, "Y contains NaN"),
        ({"Y": np.zeros((1, 3))}, "minimum of 2"),
        ({"Y": [["a", "b", "c"]] * 5}, "could not convert|numeric"),
        (
            {"X": pd.DataFrame(np.eye(3), columns=list("abc")), "Y": pd.DataFrame(np.eye(3), columns=list("acb"))},
            "order",
        ),
        ({"X": da.zeros((30, 3)), "Y": da.full((30, 3), np.nan)}, "first in row 30"),
        ({"X": da.zeros((30, 3)), "Y": da.zeros((30, 2))}, "X has 3 columns and Y has 2"),
        ({"n_permutations": 5}, "n_permutations=5 must be at least 19"),
        ({"confidence": 1.0}, "confidence"),
        ({"bandwidth": -1.0}, "bandwidth"),
        ({"scales": ()}, "factors is empty"),
    ],
)
def test_what_is_refused(change, words):
    arguments = {"X": samples(30, 30)[0], "Y": samples(30, 30)[1]} | change
    with pytest.raises(ValueError, match=words):
        two_sample(**arguments)
