"""Rows in Dask: with two worker processes of a real cluster, and in threads."""

import os
import signal
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest

from comparisons import by_group
from fairpca.rows import DaskRows, map_rows_lazily, number_blocks

# Dask calls pandas 3 with an argument that pandas 4 drops, when it reads and writes Parquet.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")

N, P, BLOCKS = 1100, 6, 11
FIRST = -1.5


@pytest.fixture(name="X")
def rows_in_memory(rng):
    return rng.normal(size=(N, P)) * np.geomspace(2, 0.5, P) + 5


@pytest.fixture
def groups():
    """Return labels of which the first has no row in most blocks."""
    return np.where(np.arange(N) < 250, "a", "b")


@pytest.fixture
def codes(groups):
    return by_group(groups)[0]


def blocks_of(array, n_blocks=BLOCKS):
    return da.from_array(array, chunks=(len(array) // n_blocks, *array.shape[1:]))


def dask_rows(X, codes):
    return DaskRows(blocks_of(X), blocks_of(codes))


def product(X, codes, matrix):
    return matrix @ (X.T @ codes)


def test_total_has_the_same_bits_wherever_it_runs(idle_client, X, codes):
    in_threads = dask_rows(X, codes).total(product, np.eye(P))
    with idle_client.as_current():
        np.testing.assert_array_equal(dask_rows(X, codes).total(product, np.eye(P)), in_threads)


def test_blocks_are_loaded_once_on_a_cluster_and_at_every_pass_elsewhere(where, X, codes, tmp_path):
    def load(block, block_info=None):
        place = block_info[0]["chunk-location"][0]
        path = tmp_path / f"{place}"
        path.write_text(path.read_text() + "x" if path.exists() else "x")
        return block

    lazy = blocks_of(X).map_blocks(load, dtype=X.dtype, meta=np.empty((0, 0)))
    rows = DaskRows(lazy, blocks_of(codes))
    for _ in range(2):
        rows.total(product, np.eye(P))
    assert [len((tmp_path / f"{k}").read_text()) for k in range(BLOCKS)] == [1 if where == "cluster" else 2] * BLOCKS


def test_a_sample_reads_only_its_blocks(X, codes):
    def load(block, block_info=None):
        seen.append(block_info[0]["chunk-location"][0])
        return block

    seen = []
    rows = DaskRows(blocks_of(X).map_blocks(load, dtype=X.dtype, meta=np.empty((0, 0))), blocks_of(codes))
    rows.sample(np.array([5, 310, 311]))
    assert sorted(seen) == [0, 3]


# Workers and schedulers that go away


def forget(client_name, dask_scheduler):
    """Let the scheduler lose all that a client asked it to keep, as a restart does."""
    keys = [task.key for task in dask_scheduler.clients[client_name].wants_what]
    dask_scheduler.client_releases_keys(keys=keys, client=client_name, stimulus_id="forget")


def test_blocks_that_the_scheduler_lost_are_loaded_again(client, X, codes):
    rows = dask_rows(X, codes)
    before = rows.total(product, np.eye(P))
    client.run_on_scheduler(forget, client.id)
    np.testing.assert_array_equal(rows.total(product, np.eye(P)), before)


def give_up(X, codes, folder):
    """Fail as a task does that the scheduler has given up, and leave a file for each failure."""
    if X.flat[0] == FIRST:
        tempfile.mkstemp(dir=folder)
        raise distributed.scheduler.KilledWorker("block", SimpleNamespace(address="here"), 1)
    return X.T @ codes


@pytest.mark.thorough
def test_a_pass_that_keeps_killing_workers_ends(client, X, codes, tmp_path):
    X[0, 0] = FIRST
    with pytest.raises(distributed.scheduler.KilledWorker):
        dask_rows(X, codes).total(give_up, str(tmp_path))
    assert 2 <= len(list(tmp_path.iterdir())) <= 10


def kill_once(X, codes, marker):
    """Return a sum, but let the first process that comes here die."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return X.T @ codes


def test_a_worker_killed_between_passes_costs_time_only(client, cluster, X, codes):
    rows = dask_rows(X, codes)
    before = rows.total(product, np.eye(P))
    os.kill(cluster.workers[0].process.pid, signal.SIGKILL)
    np.testing.assert_array_equal(rows.total(product, np.eye(P)), before)


@pytest.mark.thorough
def test_a_worker_killed_during_a_pass_costs_time_only(client, X, codes, tmp_path):
    rows = dask_rows(X, codes)
    total = rows.total(kill_once, str(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(total, rows.total(product, np.eye(P)))


@pytest.mark.thorough
def test_a_pass_is_tried_again_when_the_scheduler_gives_up(client, cluster, X, codes, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    rows = dask_rows(X, codes)
    total = rows.total(kill_once, str(tmp_path / "killed"))
    np.testing.assert_array_equal(total, rows.total(product, np.eye(P)))


def test_a_scheduler_that_is_gone_is_said_in_one_sentence(X, codes, groups):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster),
    ):
        rows = dask_rows(X, codes)
        rows.total(product, np.eye(P))
        cluster.close()
        with pytest.raises(ConnectionError, match=r"scheduler cannot be reached .* connect with"):
            rows.total(product, np.eye(P))


# Tables


def frame_of(X, groups=None):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame if groups is None else frame.assign(group=groups)


def test_unknown_chunks(where, X, groups):
    keep = X[:, 0] > 5
    keep[100:200] = False  # a block without rows
    mask = blocks_of(keep)
    lazy = blocks_of(X)[mask]
    rows = number_blocks(lazy)
    codes, _ = by_group(blocks_of((groups == "b").astype(int))[mask], rows=rows.chunks[0])
    assert np.isnan(lazy.shape[0])
    assert rows.chunks[0][1] == 0
    loaded, loaded_codes = DaskRows(rows, codes).sample(np.arange(keep.sum()))
    np.testing.assert_array_equal(loaded, X[keep])
    np.testing.assert_array_equal(loaded_codes, by_group(groups[keep])[0])


def test_types_of_columns(X):
    frame = frame_of(X.astype(np.float32))
    assert number_blocks(dd.from_pandas(frame, npartitions=2)).dtype == np.float32
    frame["whole"] = np.arange(N)
    frame["flag"] = np.arange(N) % 2 == 0
    rows = number_blocks(dd.from_pandas(frame, npartitions=2))
    assert rows.dtype == np.float64
    np.testing.assert_array_equal(rows[:, P:].compute(), frame[["whole", "flag"]].to_numpy(dtype=float))
    assert number_blocks(blocks_of(X.astype(int))).dtype == np.float64


def test_columns_that_hold_no_numbers_are_named(X):
    frame = frame_of(X).assign(town="here", kind=pd.Categorical(["k"] * N))
    with pytest.raises(ValueError, match=r"'town' \(.*\), 'kind' \(category\); encode"):
        number_blocks(dd.from_pandas(frame, npartitions=2))
    with pytest.raises(ValueError, match="dtype object"):
        number_blocks(blocks_of(X.astype(object)))


def test_the_first_number_that_is_not_finite_is_named(where, X, codes):
    dask_rows(X, codes).check_finite()
    X[320, 4], X[330, 0], X[800, 1] = np.inf, np.nan, np.nan
    rows = dask_rows(X, codes)
    with pytest.raises(ValueError, match=r"X has inf in block 3 \(rows 300 to 399\), column 4, first in row 320"):
        rows.check_finite()
    with pytest.raises(ValueError, match="column 'x4'"):
        rows.check_finite(np.array([f"x{j}" for j in range(P)]))


# Rows that are turned into others lazily


def first_two(X):
    return X[:, :2]


def never(block):
    raise AssertionError("computed")


def test_arrays_become_arrays(where, X):
    Z = map_rows_lazily(da.from_array(X, chunks=(100, 4)), first_two, ["u", "v"])
    assert Z.chunks == ((100,) * BLOCKS, (2,))
    np.testing.assert_array_equal(Z.compute(), X[:, :2])
    lazy = blocks_of(X).map_blocks(never, dtype=np.float64, meta=np.empty((0, 0)))
    assert map_rows_lazily(lazy, first_two, ["u", "v"]).shape == (N, 2)


def test_rows_keep_float32(X):
    narrow = X.astype(np.float32)
    Z = map_rows_lazily(blocks_of(narrow), first_two, ["u", "v"])
    assert Z.dtype == Z.compute().dtype == np.float32
    Z = map_rows_lazily(dd.from_pandas(frame_of(narrow), npartitions=2), first_two, ["u", "v"])
    assert set(Z.dtypes) == set(Z.compute().dtypes) == {np.dtype(np.float32)}


def test_dask_is_imported_only_when_it_is_used():
    code = (
        "import sys, numpy, fairpca, fairpca.rows as rows\n"
        "assert not rows.is_dask_frame(numpy.ones(2)) and 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
