"""Microseconds a row and gradient beside a matrix product of the same size, and fits beside those of another checkout.

    python benchmarks/passes.py [--save]
    git worktree add /tmp/before HEAD~1 && (cd /tmp/before && pip install --no-deps --target /tmp/built .)
    python benchmarks/passes.py --against /tmp/built [--rows 1e6] [--save]

A row takes p d multiply-adds for its projection and D for the moments, then p d for its projection once more, 2 D for
the derivatives of the potential by both sides of the products, and p d on the way back to the table. The plain product
is one of BLAS with as many, in float64, in the same process and in turns; the ratio is how much longer a gradient is.

The other checkout is a folder that Python can import `fairpca` from, with its compiled loops; fits run in turns.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SETTINGS = [(p, d) for p in (40, 50) for d in (2, 6, 10)]
ROWS = 100_000
TURNS = 7
BARS = {2: 1.5, 10: 2.0}
"""How many times as fast as the other checkout a fit must be."""


def problem(p: int, d: int) -> tuple[Any, np.ndarray, int]:
    """Return a discrepancy of many rows that is anchored at a frame, the frame, and the number of features."""
    from _common import compared

    from fairpca.mmd import Coordinates, HermiteMMD, median_bandwidth
    from fairpca.rows import ArrayRows

    rng = np.random.default_rng(0)
    groups = rng.integers(0, 2, size=ROWS)
    X = (rng.normal(size=(ROWS, p)) + 0.3 * groups[:, None]).astype(np.float32)
    codes, comparison = compared(groups)
    coordinates = Coordinates(X.mean(axis=0, dtype=np.float64), np.eye(p))
    V = np.linalg.qr(rng.normal(size=(p, d)))[0]
    bandwidth = median_bandwidth(coordinates.project(X[:2000]) @ V)
    rows = ArrayRows(X, codes.reshape(ROWS, -1))
    hermite = HermiteMMD(rows, coordinates, comparison, bandwidth).anchored(V)
    return hermite, V, hermite._basis_at(V).n_features


def gradients() -> list[dict[str, Any]]:
    rows = []
    for p, d in SETTINGS:
        mmd, V, n_features = problem(p, d)
        work = 3 * p * d + 3 * n_features
        # Of a shape at which BLAS is at its best.
        left, right = np.ones((ROWS // 8, 256)), np.ones((256, work * 8 // 256))
        best = {"gradient": np.inf, "product": np.inf}
        for _ in range(TURNS):
            for name, function, arguments in (("gradient", mmd.evaluate, (V,)), ("product", np.matmul, (left, right))):
                began = time.perf_counter()
                function(*arguments)
                best[name] = min(best[name], time.perf_counter() - began)
        row = {"method": type(mmd).__name__, "p": p, "d": d, "features": n_features, "multiply_adds": work}
        row |= {f"{name}_microseconds": 1e6 * seconds / ROWS for name, seconds in best.items()}
        row["ratio"] = best["gradient"] / best["product"]
        rows.append(row)
        show(row)
    return rows


def work_on_fits() -> None:
    """Fit what is asked for on standard input, one JSON line each, until it ends."""
    from scale import TOLERANCE, table

    from fairpca import FairPCA

    warnings.simplefilter("ignore")
    tables: dict[int, Any] = {}
    for line in sys.stdin:
        n, d = json.loads(line)
        if n not in tables:
            tables[n] = table(n, None)
            FairPCA(d, tolerance=TOLERANCE).fit(tables[n][0][:500], sensitive_features=np.arange(500) % 2)
        began, used = time.perf_counter(), time.process_time()
        model = FairPCA(d, tolerance=TOLERANCE, random_state=0).fit(tables[n][0], sensitive_features=tables[n][1])
        answer = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}
        answer |= {"kept": 100 * model.result_.variance_kept, "mmd2": model.mmd2_, "mmd2_error": model.mmd2_error_}
        answer["gradients"] = sum(level.n_gradients for level in model.result_.levels if level.n_rows == n)
        print(json.dumps(answer, default=float), flush=True)


def fits(other: str, n: int, turns: int) -> list[dict[str, Any]]:
    here = os.environ.get("PYTHONPATH", "")
    workers = {who: worker(path) for who, path in (("before", str(Path(other).resolve())), ("now", here))}
    rows = []
    for d, bar in BARS.items():
        found: dict[str, list[dict[str, float]]] = {who: [] for who in workers}
        for _ in range(turns):
            for who, process in workers.items():
                process.stdin.write(json.dumps([n, d]) + "\n")
                process.stdin.flush()
                found[who].append(json.loads(process.stdout.readline()))
        row: dict[str, Any] = {"n": n, "d": d}
        for who, answers in found.items():
            least = {key: min(answer[key] for answer in answers) for key in ("seconds", "cpu")}
            row |= {f"{who}_{key}": value for key, value in (answers[-1] | least).items()}
        for key in ("seconds", "cpu"):
            row[f"times_as_fast_in_{key}"] = row[f"before_{key}"] / row[f"now_{key}"]
        row |= {"bar": bar, "met": bool(row["times_as_fast_in_seconds"] >= bar)}
        rows.append(row)
        show(row)
    return rows


def worker(path: str) -> Any:
    command = [sys.executable, __file__, "--work"]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)


def show(row: dict[str, Any]) -> None:
    cells = (f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items())
    print(", ".join(cells), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", help="fits beside those of this folder, instead of gradients")
    parser.add_argument("--rows", type=float, default=1e6, help="rows of these fits")
    parser.add_argument("--turns", type=int, default=2, help="fits of each; the least counts")
    parser.add_argument("--save", action="store_true", help="keep the results")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work_on_fits()
        return
    against = arguments.against
    rows = fits(against, int(arguments.rows), arguments.turns) if against else gradients()
    if arguments.save:
        # Here, not above: a worker may have another version of the package, which does not know all that this one uses.
        from _common import save

        print(save("passes_fits" if against else "passes", rows))


if __name__ == "__main__":
    main()
