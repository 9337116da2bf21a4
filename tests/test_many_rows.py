"""FairPCA on many rows: the answer of the direct fit, without a copy of the rows."""
# SPDX-License-Identifier: MIT

import math
import threading
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from fairpca import FairPCA
from fairpca.exceptions import AccuracyWarning, NullComponentsWarning
from fairpca.geometry import projection_distance
from fairpca.metrics import mmd2
from fairpca.mmd import HermiteMMD, features_mmd
from fairpca.solvers import REPMS, Budget


def table(n, rng, p=15):
    group = rng.random(n) < 0.3
    factors = rng.normal(size=(n, 8))
    factors[:, 0] += group
    factors[group, 2] *= 1.5
    factors[group, 4] = np.sign(factors[group, 4])
    loadings = np.random.default_rng(1).normal(size=(8, p)) * np.linspace(2, 0.5, 8)[:, None]
    return factors @ loadings + 0.5 * rng.normal(size=(n, p)), group


@pytest.fixture(scope="module")
def rows():
    return table(8000, np.random.default_rng(0))


@pytest.mark.thorough
@pytest.mark.parametrize("d", [pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow), 6])
def test_levels_end_where_the_direct_fit_ends(rows, d):
    X, group = rows
    solver = Budget(gain_tolerance=1e-10)
    quick = FairPCA(d, solver=solver, random_state=0, tolerance=1e-3).fit(X, sensitive_features=group)
    direct = FairPCA(d, solver=solver, mmd="exact", bandwidth=quick.bandwidth_, tolerance=1e-3).fit(
        X, sensitive_features=group
    )
    assert (quick.mmd_method_, direct.mmd_method_) == ("hermite", "exact")
    assert quick.converged_
    assert 0.99e-3 <= quick.mmd2_ <= 1e-3
    assert quick.mmd2_error_ == 0.0
    # On many rows half a percent of the tolerance may be left unused; the multiplier says what it is worth.
    unused = quick.result_.certificate.multipliers @ (quick.result_.tolerances - quick.result_.mmd2s)
    assert quick.result_.variance_kept + unused == pytest.approx(direct.result_.variance_kept, abs=2e-5)
    assert projection_distance(quick.components_.T, direct.components_.T) < 1e-2
    heights = [level.n_rows for level in quick.result_.levels]
    assert heights == sorted(heights)
    assert heights[0] < 5000
    assert set(heights[1:]) <= {heights[0], 8000}


@pytest.mark.thorough
def test_a_part_of_the_rows_lies_between_the_sample_and_all(monkeypatch):
    monkeypatch.setattr("fairpca.data._many_rows.PILOT_ROWS", 1024)
    X, group = table(34_000, np.random.default_rng(0))
    model = FairPCA(4, random_state=0, tolerance=1e-3).fit(X, sensitive_features=group)
    heights = [level.n_rows for level in model.result_.levels]
    assert heights == sorted(heights)
    sample, part, everything = sorted(set(heights))
    assert sample < part < 9_000
    assert everything == 34_000
    assert model.converged_
    assert 0.99e-3 <= mmd2(model.transform(X), sensitive_features=group, bandwidth=model.bandwidth_) <= 1e-3


@pytest.mark.parametrize("d", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_where_rows_are_too_many_for_all_pairs_the_error_is_stated_and_held_back(rows, d, monkeypatch):
    monkeypatch.setattr("fairpca.data._many_rows.EXACT_PAIRS", 0)
    X, group = rows
    model = FairPCA(d, random_state=0, tolerance=1e-3).fit(X, sensitive_features=group)
    assert 0 < model.mmd2_error_ <= 1e-5
    assert model.mmd2_ + model.mmd2_error_ <= 1e-3
    exact = mmd2(model.transform(X), sensitive_features=group, bandwidth=model.bandwidth_)
    assert abs(exact - model.mmd2_) <= model.mmd2_error_


@pytest.mark.thorough
def test_an_error_that_is_wide_for_the_tolerance_is_explained(rows, monkeypatch):
    monkeypatch.setattr("fairpca.data._many_rows.EXACT_PAIRS", 0)
    monkeypatch.setattr("fairpca.mmd.hermite._sample.PART_ROWS", (64,))
    monkeypatch.setattr("fairpca.data._many_rows.features_mmd", partial(features_mmd, n_features=30))
    X, group = rows
    with pytest.warns(AccuracyWarning, match="8000 rows are too many to compare all pairs"):
        model = FairPCA(6, tolerance=1e-2, random_state=0).fit(X, sensitive_features=group)
    assert model.mmd2_error_ > 1e-4
    assert model.mmd2_ + model.mmd2_error_ <= 1e-2


class PeakMemory:
    """Peak of the memory that is not backed by a file, above that at the start, in bytes."""

    def __enter__(self):
        self._start, self.peak, self._stop = self._now(), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()

    def _watch(self):
        while not self._stop.wait(0.005):
            self.peak = max(self.peak, self._now() - self._start)

    @staticmethod
    def _now():
        status = Path("/proc/self/status").read_text()
        return 1024 * int(status.split("RssAnon:")[1].split()[0])


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    n, p = 400_000, 100
    mapped = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(n, p))
    rng = np.random.default_rng(0)
    group = np.empty(n, dtype=np.int8)
    for start in range(0, n, 50_000):
        block = slice(start, start + 50_000)
        mapped[block], group[block] = table(50_000, rng, p)
    with PeakMemory() as memory:
        model = FairPCA(2, tolerance=1e-2, random_state=0).fit(mapped, sensitive_features=group)
    assert model.mmd2_ + model.mmd2_error_ <= 1e-2
    assert 0 < model.mmd2_error_ <= 1e-4
    # The rows are 160 MB in float32, 320 MB in float64.
    assert memory.peak < 150e6


def test_algorithm_1_runs_on_many_rows_too(rows):
    X, group = rows
    model = FairPCA(2, solver=REPMS(), random_state=0, tolerance=1e-3).fit(X, sensitive_features=group)
    assert model.mmd_method_ == "hermite"
    assert model.mmd2_ <= 1e-3


def test_equal_rows_count_once(rng):
    X = rng.integers(0, 3, size=(7000, 4)).astype(float)
    group = X[:, 0] + rng.random(7000) > 1.5
    assert FairPCA(1, tolerance=1e-2).fit(X, sensitive_features=group).mmd_method_ == "exact"


@pytest.mark.thorough
def test_null_directions_are_used_on_many_rows_too(rng):
    group = np.arange(6000) % 2
    X = np.column_stack([rng.normal(size=(6000, 2)) + 0.5 * group[:, None], np.ones(6000)])
    with pytest.warns(NullComponentsWarning, match="1 of 2 components"):
        model = FairPCA(2, random_state=0, tolerance=1e-3).fit(X, sensitive_features=group)
    assert model.converged_
    assert not model.transform(X)[:, 1].any()


def test_the_record_counts_all_levels_and_names_the_sample(rows, monkeypatch):
    # As with very many rows, where the Hessian of a sample is much cheaper than that of all.
    monkeypatch.setattr(HermiteMMD, "hessian_work", lambda *frames: math.inf)
    X, group = rows
    result = FairPCA(2, random_state=0, tolerance=1e-3).fit(X, sensitive_features=group).result_
    assert result.n_gradients == sum(level.n_gradients for level in result.levels) > result.levels[-1].n_gradients
    assert result.certificate.hessian_rows == result.levels[0].n_rows


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["lognormal", "cauchy"])
def test_heavy_tails_are_no_obstacle(kind):
    rng = np.random.default_rng(0)
    X = rng.lognormal(0, 2, (8000, 6)) if kind == "lognormal" else rng.standard_cauchy((8000, 6))
    group = rng.integers(0, 2, 8000)
    X[:, 0] += 2 * group
    model = FairPCA(3, random_state=0).fit(X, sensitive_features=group)
    exact = mmd2(model.transform(X), sensitive_features=group, bandwidth=model.bandwidth_)
    assert model.converged_
    assert exact == pytest.approx(model.mmd2_, abs=1e-12)
    assert exact <= model.tolerance_
