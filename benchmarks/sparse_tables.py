"""Sparse tables against the same in arrays: answers, seconds, extra memory; MMD^2 of many rows in linear time.

python benchmarks/sparse_tables.py             # Census-Income, a million rows of 500 columns, a million projections
python benchmarks/sparse_tables.py census-2    # one case
python benchmarks/sparse_tables.py --save      # keep the results
"""

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from _common import save
from scale import TOLERANCE, ExtraMemory, block, loadings
from scipy import sparse

MOST_EXTRA_MB = 256
MOST_SECONDS = 120
FURTHEST_APART = 1e-10
WIDTH, STORED = 500, 25


def census(d: int) -> dict[str, Any]:
    """Fit Census-Income, one-hot, as sparse rows and as an array."""
    from fairpca.datasets import load_census

    data = load_census()
    X, groups = data.data, data.sensitive_features
    rows = sparse.csr_array(X)
    of_sparse, used = fitted(rows, groups, d)
    of_array, array_used = fitted(X, groups, d)
    apart = float(np.abs(of_sparse.components_ - of_array.components_).max())
    return {
        "n": rows.shape[0],
        "p": rows.shape[1],
        "d": d,
        "method": of_sparse.mmd_method_,
        "stored_percent": 100 * rows.nnz / np.prod(rows.shape),
        **used,
        "array_seconds": array_used["seconds"],
        "array_cpu_seconds": array_used["cpu_seconds"],
        "apart": apart,
        "mmd2": of_sparse.mmd2_,
        "met": apart <= FURTHEST_APART and used["extra_mb"] <= MOST_EXTRA_MB,
    }


def million() -> dict[str, Any]:
    """Fit a million rows of 500 columns, of which 5 % are stored."""
    X, groups = sparse_table(1_000_000)
    model, used = fitted(X, groups, 2)
    return {
        "n": X.shape[0],
        "p": X.shape[1],
        "d": 2,
        "method": model.mmd_method_,
        "stored_percent": 100 * X.nnz / np.prod(X.shape),
        "table_mb": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20,
        **used,
        "mmd2": model.mmd2_,
        "converged": model.converged_,
        "met": used["seconds"] <= MOST_SECONDS and model.converged_,
    }


def measured(d: int) -> dict[str, Any]:
    """Measure MMD^2 of a million projections; of the first 100,000 beside all pairs of them."""
    from fairpca.metrics import mmd2_by_measure

    rng = np.random.default_rng(1)
    parts = [block(rng, 100_000, loadings()) for _ in range(10)]
    X, groups = (np.concatenate(each) for each in zip(*parts, strict=True))
    axes = np.linalg.eigh(np.cov(X[:100_000].T))[1][:, ::-1][:, :d]
    Z = X @ axes
    few, few_groups = Z[:100_000], groups[:100_000]
    bandwidth = float(np.sqrt(2.0) * few.std(axis=0).mean())

    def timed(rows: Any, of: Any, method: str) -> tuple[float, float, float]:
        began = time.perf_counter()
        found = mmd2_by_measure(rows, sensitive_features=of, bandwidth=bandwidth, method=method, return_errors=True)
        ((value, error),) = zip(*(each.values() for each in found), strict=True)
        return value, error, time.perf_counter() - began

    exact, _, exact_seconds = timed(few, few_groups, "exact")
    value, error, seconds = timed(few, few_groups, "hermite")
    _, all_error, all_seconds = timed(Z, groups, "auto")
    return {
        "d": d,
        "method": "hermite",
        "exact_seconds_of_1e5": exact_seconds,
        "seconds_of_1e5": seconds,
        "off": abs(value - exact),
        "stated_error": error,
        "seconds_of_1e6": all_seconds,
        "stated_error_of_1e6": all_error,
        "mmd2": exact,
        "met": abs(value - exact) <= error + 1e-12,
    }


def sparse_table(n: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Rows with 25 of 500 columns stored, in ten kinds of rows that store some columns more often than others."""
    rng = np.random.default_rng(2)
    groups = rng.random(n) < 0.4
    columns = np.empty((n, STORED), dtype=np.int32)
    data = np.empty((n, STORED))
    strength = np.linspace(3.0, 0.3, WIDTH)
    for start in range(0, n, 50_000):
        part = slice(start, start + 50_000)
        kind = rng.integers(10, size=len(groups[part]))
        offsets = rng.integers(WIDTH // STORED, size=(len(kind), STORED)) // (1 + (kind % 3))[:, None]
        columns[part] = np.arange(STORED) * (WIDTH // STORED) + offsets
        shift = 1.0 + 0.3 * groups[part, None] * (np.arange(STORED) < 8)
        data[part] = strength[columns[part]] * (
            shift + 0.5 * rng.normal(size=columns[part].shape) + 0.2 * kind[:, None]
        )
    indptr = np.arange(0, n * STORED + 1, STORED)
    return sparse.csr_array((data.ravel(), columns.ravel(), indptr), shape=(n, WIDTH)), groups


def fitted(X: Any, groups: np.ndarray, d: int) -> tuple[Any, dict[str, float]]:
    """Return a fitted model and what the fit took; on a busy machine seconds of the processor tell more."""
    from fairpca import FairPCA

    # Loads libraries and starts threads.
    FairPCA(2, tolerance=TOLERANCE).fit(X[:500], sensitive_features=np.arange(500) % 2)
    # What is free goes back to the system, so that it counts when it is taken again.
    ctypes.CDLL(None).malloc_trim(0)
    began, began_cpu = time.perf_counter(), time.process_time()
    with ExtraMemory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = FairPCA(d, tolerance=TOLERANCE, random_state=0).fit(X, sensitive_features=groups)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - began_cpu
    return model, {"seconds": seconds, "cpu_seconds": cpu_seconds, "extra_mb": memory.peak}


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "census-2": lambda: census(2),
    "census-10": lambda: census(10),
    "million": million,
    "mmd2-2": lambda: measured(2),
    "mmd2-10": lambda: measured(10),
}


def in_a_process_of_its_own(name: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "row.json"
        subprocess.run([sys.executable, __file__, name, "--into", str(path)], check=True)
        row: dict[str, Any] = json.loads(path.read_text())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", help=f"some of {', '.join(CASES)}; all by default")
    parser.add_argument("--save", action="store_true", help="keep the results")
    parser.add_argument("--into", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.into:
        Path(arguments.into).write_text(json.dumps(CASES[arguments.cases[0]](), default=float))
        return
    print(f"bars: answers {FURTHEST_APART:g} apart at most, {MOST_EXTRA_MB} MB extra on Census, {MOST_SECONDS} s")
    rows = []
    for name in arguments.cases or CASES:
        rows.append({"case": name} | in_a_process_of_its_own(name))
        cells = (
            f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in rows[-1].items()
        )
        print(", ".join(cells), flush=True)
    if arguments.save:
        print(save("sparse_tables", rows))


if __name__ == "__main__":
    main()
