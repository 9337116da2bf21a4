"""Rows in Dask: with two worker processes of a real cluster, and in threads."""

import os
import signal
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import dask
import dask.array as da
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd
import pytest
from fairpca.comparison._dask_labels import LABELS_KEPT, parity_weights
from fairpca.comparison._measures import demographic_parity
from fairpca.rows.dask._projection import project_lazily
from threadpoolctl import threadpool_info

from fairpca.mmd import Coordinates, FourierMMD, HermiteMMD
from fairpca.rows import ArrayRows
from fairpca.rows.dask._blocks import ATTEMPTS
from fairpca.rows.dask._finite import check_finite
from fairpca.rows.dask._kind import is_dask
from fairpca.rows.dask._rows import DaskRows
from fairpca.rows.dask._table import dask_table

# Dask calls pandas 3 with an argument that pandas 4 drops, when it reads and writes Parquet.
pytestmark = pytest.mark.filterwarnings("ignore:The inplace keyword in DataFrame:DeprecationWarning")

N, P, BLOCKS = 1100, 6, 11
FIRST = -1.5


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def module_client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(module_client):
    """Return a client that is the current one, with two workers."""
    module_client.wait_for_workers(2, timeout=30)
    with module_client.as_current():
        yield module_client


@pytest.fixture(params=["threads", "cluster"])
def where(request):
    """Run a test without a client, then with one."""
    if request.param == "cluster":
        request.getfixturevalue("client")
    return request.param


@pytest.fixture(name="X")
def rows_in_memory(rng):
    return rng.normal(size=(N, P)) * np.geomspace(2, 0.5, P) + 5


@pytest.fixture
def groups():
    """Return labels of which the first has no row in most blocks."""
    return np.where(np.arange(N) < 250, "a", "b")


@pytest.fixture
def weights(groups):
    return demographic_parity(groups).weights


def blocks_of(array, n_blocks=BLOCKS):
    return da.from_array(array, chunks=(len(array) // n_blocks, *array.shape[1:]))


def dask_rows(X, weights):
    return DaskRows(blocks_of(X), blocks_of(weights))


def product(X, weights, matrix):
    return matrix @ (X.T @ weights)


def test_total_is_that_of_an_array(where, X, weights, rng):
    matrix = rng.normal(size=(P, P))
    total = dask_rows(X, weights).total(product, matrix)
    np.testing.assert_allclose(total, ArrayRows(X, weights).total(product, matrix), rtol=1e-12, atol=1e-13)


def test_total_has_the_same_bits_wherever_it_runs(module_client, X, weights):
    in_threads = dask_rows(X, weights).total(product, np.eye(P))
    with module_client.as_current():
        np.testing.assert_array_equal(dask_rows(X, weights).total(product, np.eye(P)), in_threads)


def numbers_of_rows(X, weights):
    return [int(X[0, 0])]


def test_terms_are_added_in_the_order_of_the_blocks(where):
    numbers = np.repeat(np.arange(70.0), 2)[:, None]
    assert DaskRows(blocks_of(numbers, 70), blocks_of(numbers, 70)).total(numbers_of_rows) == list(range(70))


@pytest.mark.parametrize(
    ("discrepancy", "options", "d"), [(FourierMMD, {}, 2), (HermiteMMD, {"n_features": 200}, 4)], ids=["2", "4"]
)
def test_discrepancies_are_those_of_an_array(where, X, weights, rng, discrepancy, options, d):
    X[3] += 40  # a row outside of the box of the Fourier grid
    V, E = (np.linalg.qr(rng.normal(size=(P, d)))[0] for _ in range(2))
    arguments = (Coordinates(X.mean(axis=0), np.eye(P)), np.zeros(1, dtype=int), 1, 1.5)
    here = discrepancy(ArrayRows(X, weights), *arguments, **options)
    there = discrepancy(dask_rows(X, weights), *arguments, **options)
    for ours, theirs in zip(there.evaluate(V), here.evaluate(V), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert here.value(V)[0] > 1e-4
    np.testing.assert_allclose(there.hessian_product(V, E), here.hessian_product(V, E), rtol=0, atol=1e-12)


def test_samples_are_those_of_an_array(where, X, weights):
    here, there = ArrayRows(X, weights), dask_rows(X, weights)
    indices = np.array([0, 99, 100, 640, N - 1])
    for ours, theirs in zip(there.sample(indices), here.sample(indices), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    drawn = [rows.stratified_draw(60, np.random.default_rng(3)) for rows in (here, there)]
    np.testing.assert_array_equal(drawn[0].indices, drawn[1].indices)
    np.testing.assert_array_equal(drawn[0].factors, drawn[1].factors)


def test_blocks_are_loaded_once_on_a_cluster_and_at_every_pass_elsewhere(where, X, weights, tmp_path):
    def load(block, block_info=None):
        place = block_info[0]["chunk-location"][0]
        path = tmp_path / f"{place}"
        path.write_text(path.read_text() + "x" if path.exists() else "x")
        return block

    lazy = blocks_of(X).map_blocks(load, dtype=X.dtype, meta=np.empty((0, 0)))
    rows = DaskRows(lazy, blocks_of(weights))
    for _ in range(2):
        rows.total(product, np.eye(P))
    assert [len((tmp_path / f"{k}").read_text()) for k in range(BLOCKS)] == [1 if where == "cluster" else 2] * BLOCKS


def test_a_sample_reads_only_its_blocks(X, weights):
    def load(block, block_info=None):
        seen.append(block_info[0]["chunk-location"][0])
        return block

    seen = []
    rows = DaskRows(blocks_of(X).map_blocks(load, dtype=X.dtype, meta=np.empty((0, 0))), blocks_of(weights))
    rows.sample(np.array([5, 310, 311]))
    assert sorted(seen) == [0, 3]


def blas_threads(X, weights):
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_blas_keeps_to_one_thread_inside_a_task_only(where, X, weights):
    before = blas_threads(X, weights)
    inside = dask_rows(X, weights).total(blas_threads)
    assert inside
    assert set(inside) == {1}
    assert blas_threads(X, weights) == before


def test_tasks_have_names_that_people_can_read(client, X, weights, cluster):
    dask_rows(X, weights).total(product, np.eye(P))
    names = set(cluster.scheduler.task_prefixes)
    assert {"fairpca_block", "fairpca_product", "fairpca_sum_of_product", "fairpca_arguments"} <= names


def test_weights_of_other_chunks_are_refused(X, weights):
    with pytest.raises(ValueError, match="row chunks"):
        DaskRows(blocks_of(X), blocks_of(weights, 5))


# Workers and schedulers that go away


def forget(client_name, dask_scheduler):
    """Let the scheduler lose all that a client asked it to keep, as a restart does."""
    keys = [task.key for task in dask_scheduler.clients[client_name].wants_what]
    dask_scheduler.client_releases_keys(keys=keys, client=client_name, stimulus_id="forget")


def test_blocks_that_the_scheduler_lost_are_loaded_again(client, X, weights):
    rows = dask_rows(X, weights)
    before = rows.total(product, np.eye(P))
    client.run_on_scheduler(forget, client.id)
    np.testing.assert_array_equal(rows.total(product, np.eye(P)), before)


def give_up(X, weights, folder):
    """Fail as a task does that the scheduler has given up, and leave a file for each failure."""
    if X.flat[0] == FIRST:
        tempfile.mkstemp(dir=folder)
        raise distributed.scheduler.KilledWorker("block", SimpleNamespace(address="here"), 1)
    return X.T @ weights


def test_a_pass_that_keeps_killing_workers_ends(client, X, weights, tmp_path):
    X[0, 0] = FIRST
    with pytest.raises(distributed.scheduler.KilledWorker):
        dask_rows(X, weights).total(give_up, str(tmp_path))
    assert len(list(tmp_path.iterdir())) == ATTEMPTS


def kill_once(X, weights, marker):
    """Return a sum, but let the first process that comes here die."""
    if not os.path.exists(marker):
        open(marker, "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return X.T @ weights


def test_a_worker_killed_between_passes_costs_time_only(client, cluster, X, weights):
    rows = dask_rows(X, weights)
    before = rows.total(product, np.eye(P))
    os.kill(cluster.workers[0].process.pid, signal.SIGKILL)
    np.testing.assert_array_equal(rows.total(product, np.eye(P)), before)


def test_a_worker_killed_during_a_pass_costs_time_only(client, X, weights, tmp_path):
    rows = dask_rows(X, weights)
    total = rows.total(kill_once, str(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(total, rows.total(product, np.eye(P)))


def test_a_pass_is_tried_again_when_the_scheduler_gives_up(client, cluster, X, weights, tmp_path, monkeypatch):
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    rows = dask_rows(X, weights)
    total = rows.total(kill_once, str(tmp_path / "killed"))
    np.testing.assert_array_equal(total, rows.total(product, np.eye(P)))


def test_a_scheduler_that_is_gone_is_said_in_one_sentence(X, weights, groups):
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster),
    ):
        rows = dask_rows(X, weights)
        rows.total(product, np.eye(P))
        cluster.close()
        with pytest.raises(ConnectionError, match=r"scheduler cannot be reached .* connect with"):
            rows.total(product, np.eye(P))


# Tables


def frame_of(X, groups=None):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    return frame if groups is None else frame.assign(group=groups)


def features(frame):
    return frame[[name for name in frame.columns if name != "group"]]


def rows_of_table(table):
    return DaskRows(table.X, parity_weights(table.codes, table.counts))


def assert_same_rows(table, X, weights):
    loaded, loaded_weights = rows_of_table(table).sample(np.arange(len(X)))
    np.testing.assert_array_equal(loaded, X)
    np.testing.assert_array_equal(loaded_weights, weights)


def test_parquet(where, X, groups, weights, tmp_path):
    dd.from_pandas(frame_of(X, groups), npartitions=5).to_parquet(tmp_path)
    frame = dd.read_parquet(tmp_path)
    table = dask_table(features(frame), frame["group"])
    assert table.labels.tolist() == ["a", "b"]
    assert table.counts.tolist() == [250, N - 250]
    assert table.X.numblocks[0] > 1
    assert table.X.numblocks[1] == 1
    assert_same_rows(table, X, weights)


def objects_of(series):
    return series.compute().to_numpy(dtype=object)


LABELS = {
    "series": (lambda frame: frame["group"], ["a", "b"]),
    "column": (lambda frame: frame[["group"]], ["a", "b"]),
    "category": (lambda frame: frame["group"].astype("category"), ["a", "b"]),
    "numbers": (lambda frame: frame["group"].map({"a": 0.5, "b": 2.0}, meta=("group", float)), [0.5, 2.0]),
    "nullable": (lambda frame: (frame["group"] == "b").astype("boolean"), [False, True]),
    "array": (lambda frame: da.from_array(objects_of(frame["group"]), chunks=275), ["a", "b"]),
    "other chunks": (lambda frame: da.from_array(objects_of(frame["group"]), chunks=123)[:, None], ["a", "b"]),
    "pandas": (lambda frame: frame["group"].compute(), ["a", "b"]),
    "list": (lambda frame: frame["group"].compute().tolist(), ["a", "b"]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind, X, groups, weights):
    frame = dd.from_pandas(frame_of(X, groups), npartitions=4)
    labels_of, expected = LABELS[kind]
    table = dask_table(features(frame), labels_of(frame))
    assert table.codes.chunks == table.X.chunks[:1]
    assert table.labels.tolist() == expected
    assert_same_rows(table, X, weights)


def test_labels_of_mixed_kinds_are_compared_as_strings(X):
    mixed = np.array([1, "1", 2, "2"] * (N // 4), dtype=object)
    table = dask_table(blocks_of(X), blocks_of(mixed))
    assert table.labels.tolist() == ["1", "2"]
    assert table.counts.tolist() == [N // 2, N // 2]
    np.testing.assert_array_equal(table.codes.compute(), np.arange(N) % 4 // 2)


def test_unknown_chunks(where, X, groups):
    keep = X[:, 0] > 5
    keep[100:200] = False  # a block without rows
    mask = blocks_of(keep)
    lazy = blocks_of(X)[mask]
    table = dask_table(lazy, blocks_of((groups == "b").astype(int))[mask])
    assert np.isnan(lazy.shape[0])
    assert table.X.chunks[0][1] == 0
    assert_same_rows(table, X[keep], demographic_parity(groups[keep]).weights)


@pytest.mark.parametrize("as_labels", [lambda labels: labels, lambda labels: blocks_of(labels, 1)])
def test_other_lengths_are_named(X, groups, as_labels):
    with pytest.raises(ValueError, match="has 1093 entries but X has 1100 rows"):
        dask_table(blocks_of(X), as_labels(groups[:-7]))


def test_unknown_lengths_are_named(X, groups):
    lazy = blocks_of(X)
    with pytest.raises(ValueError, match="has 1100 entries but X has 1099 rows"):
        dask_table(lazy[lazy[:, 0] > X[:, 0].min()], blocks_of(groups))


def test_types_of_columns(X, groups):
    frame = frame_of(X.astype(np.float32))
    assert dask_table(dd.from_pandas(frame, npartitions=2), groups).X.dtype == np.float32
    frame["whole"] = np.arange(N)
    frame["flag"] = np.arange(N) % 2 == 0
    table = dask_table(dd.from_pandas(frame, npartitions=2), groups)
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X[:, P:].compute(), frame[["whole", "flag"]].to_numpy(dtype=float))
    assert dask_table(blocks_of(X.astype(int)), groups).X.dtype == np.float64


def test_columns_are_brought_into_one_chunk(X, groups):
    table = dask_table(da.from_array(X, chunks=(100, 2)), groups)
    assert table.X.chunks[1] == (P,)


def test_columns_that_hold_no_numbers_are_named(X, groups):
    frame = frame_of(X).assign(town="here", kind=pd.Categorical(["k"] * N))
    with pytest.raises(ValueError, match=r"'town' \(.*\), 'kind' \(category\); encode"):
        dask_table(dd.from_pandas(frame, npartitions=2), groups)
    with pytest.raises(ValueError, match="dtype object"):
        dask_table(blocks_of(X.astype(object)), groups)


def test_tables_without_rows_or_columns_are_refused(X, groups):
    with pytest.raises(ValueError, match="1 dimension; it must be a table"):
        dask_table(blocks_of(X[:, 0]), groups)
    with pytest.raises(ValueError, match="no rows"):
        dask_table(da.empty((0, 3)), groups)


@pytest.mark.parametrize("missing", [lambda: None, lambda: float("nan"), lambda: pd.NA], ids=["None", "nan", "NA"])
def test_missing_labels_are_counted(where, X, groups, missing):
    labels = groups.astype(object)
    for row in range(600, 750):
        labels[row] = missing()
    with pytest.raises(ValueError, match="has 150 missing values; drop"):
        dask_table(blocks_of(X), blocks_of(labels))


def test_missing_numbers_are_counted(X, groups):
    codes = (groups == "a") * 1.0
    codes[[3, 4, 701]] = np.nan
    with pytest.raises(ValueError, match="3 missing values; drop"):
        dask_table(blocks_of(X), blocks_of(codes))


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.full(N, "a"), "one group only, 'a'"),
        (np.arange(N) // 400, r"3 groups, 0 \(400 rows\), 1 \(400 rows\), 2 \(300 rows\); two can be compared. Merge"),
        (np.arange(N) / 3, f"{LABELS_KEPT} or more groups, .*, ...; two"),
        (np.where(np.arange(N) == 1000, "rare", "often"), "1 row in group 'rare'; each group needs"),
    ],
    ids=["one", "three", "many", "rare"],
)
def test_other_than_two_groups_are_refused(X, labels, message):
    with pytest.raises(ValueError, match=message):
        dask_table(blocks_of(X), blocks_of(labels))


def test_several_columns_of_labels_are_refused(X, groups):
    two = dd.from_pandas(pd.DataFrame({"a": groups, "b": groups}), npartitions=2)
    for labels in (two, da.zeros((N, 2))):
        with pytest.raises(ValueError, match="one column"):
            dask_table(blocks_of(X), labels)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_number_that_is_not_finite_is_named(where, X, groups, value):
    X[320, 4], X[330, 0], X[800, 1] = value, np.nan, np.nan
    table = dask_table(blocks_of(X), groups)
    message = rf"X has {value} in block 3 \(rows 300 to 399\), column 4, first in row 320"
    with pytest.raises(ValueError, match=message):
        check_finite(rows_of_table(table))
    with pytest.raises(ValueError, match="column 'x4'"):
        check_finite(rows_of_table(table), np.array([f"x{j}" for j in range(P)]))


def test_finite_tables_pass(where, X, groups):
    check_finite(rows_of_table(dask_table(blocks_of(X), groups)))


# The lazy projection


@pytest.fixture
def projection(X, rng):
    return X.mean(axis=0), X.std(axis=0), np.linalg.qr(rng.normal(size=(P, 2)))[0].T


def never(block):
    raise AssertionError("computed")


def test_arrays_are_projected_to_arrays(where, X, projection):
    mean, scale, components = projection
    Z = project_lazily(da.from_array(X, chunks=(100, 4)), *projection, ["u", "v"])
    assert Z.chunks == ((100,) * BLOCKS, (2,))
    np.testing.assert_allclose(Z.compute(), (X - mean) / scale @ components.T, atol=1e-13)
    assert project_lazily(blocks_of(X).map_blocks(never, dtype=np.float64), *projection, []).shape == (N, 2)


def test_frames_are_projected_to_frames(where, X, projection):
    mean, scale, components = projection
    frame = frame_of(X).set_index(pd.Index(np.arange(N) + 7, name="key"))
    Z = project_lazily(dd.from_pandas(frame, npartitions=3), *projection, ["u", "v"])
    assert Z.npartitions == 3
    computed = Z.compute()
    pd.testing.assert_index_equal(computed.index, frame.index)
    assert computed.columns.tolist() == Z.columns.tolist() == ["u", "v"]
    np.testing.assert_allclose(computed, (X - mean) / scale @ components.T, atol=1e-13)


def test_projections_keep_float32(X, projection):
    narrow = X.astype(np.float32)
    Z = project_lazily(blocks_of(narrow), *projection, ["u", "v"])
    assert Z.dtype == Z.compute().dtype == np.float32
    Z = project_lazily(dd.from_pandas(frame_of(narrow), npartitions=2), *projection, ["u", "v"])
    assert set(Z.dtypes) == set(Z.compute().dtypes) == {np.dtype(np.float32)}


def test_is_dask(X):
    frame = dd.from_pandas(frame_of(X), npartitions=2)
    assert all(map(is_dask, (blocks_of(X), frame, frame["x0"])))
    assert not any(map(is_dask, (X, frame_of(X), dask.delayed(X), None)))


def test_dask_is_imported_only_when_it_is_used():
    code = (
        "import sys, numpy, fairpca.rows.dask._rows, fairpca.rows.dask._table, fairpca.rows.dask._projection as projection\n"
        "assert not projection.is_dask_frame(numpy.ones(2)) and 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
