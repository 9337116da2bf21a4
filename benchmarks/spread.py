"""Seconds of a fit where the groups differ in spread in every direction.

No subspace is fair then: one group is wider than the other whatever the projection, and MMD^2 has a least value above
0. What is left to choose is small, so that the Hessian of a sample of the rows shows the noise of the sample. Each
table is fitted twice: with a tolerance that no subspace meets, to see how soon that is known, and with one half-way (on
a logarithmic scale) between the least MMD^2 found and that of plain PCA.

python benchmarks/spread.py                     # about ten minutes
python benchmarks/spread.py --rows 5e4 --save   # one number of rows only; keep the results
"""

import argparse
import json
import math
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np
from _common import RESULTS, save

COMPONENTS = 5
OUT_OF_REACH = 1e-3
CASES = [
    {"n": 50_000, "p": 20, "spread": 1.2, "rotated": True},
    {"n": 50_000, "p": 20, "spread": 1.5, "rotated": False},
    {"n": 50_000, "p": 20, "spread": 1.5, "rotated": True},
    {"n": 50_000, "p": 20, "spread": 2.0, "rotated": True},
    {"n": 50_000, "p": 40, "spread": 1.5, "rotated": True},
    {"n": 100_000, "p": 20, "spread": 1.5, "rotated": False},
    {"n": 100_000, "p": 20, "spread": 1.5, "rotated": True},
]


def table(n: int, p: int, spread: float, rotated: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return normal rows with columns of different scale, those of the second group `spread` times as wide.

    Standardised, the columns are all alike unless they have been rotated.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p)) * np.geomspace(2, 1, p)
    groups = np.arange(n) % 2
    X[groups == 1] *= spread
    return (X @ np.linalg.qr(rng.normal(size=(p, p)))[0] if rotated else X), groups


def fit(X: np.ndarray, groups: np.ndarray, tolerance: float) -> dict[str, Any]:
    from fairpca import FairPCA

    began, cpu_began = time.perf_counter(), time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FairPCA(COMPONENTS, tolerance=tolerance, random_state=0).fit(X, sensitive_features=groups)
    result = model.result_
    return {
        "tolerance": tolerance,
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_seconds": round(time.process_time() - cpu_began, 1),
        "converged": model.converged_,
        "kept_percent": round(100 * result.variance_kept, 3),
        "mmd2": model.mmd2_,
        "least_mmd2": float(np.max(result.fairest_mmd2s)),
        "levels": [[level.n_rows, level.n_gradients, level.n_hessians, level.seconds] for level in result.levels],
        "warnings": sorted({str(warning.message) for warning in caught}),
    }


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    X, groups = table(**case)
    # Loads libraries and starts threads.
    fit(X[:500], groups[:500], 1.0)
    pca = fit(X, groups, 1.0)["mmd2"]
    unmet = fit(X, groups, OUT_OF_REACH)
    met = fit(X, groups, float(f"{math.sqrt(unmet['least_mmd2'] * pca):.2g}"))
    return [{**case, "d": COMPONENTS, "pca_mmd2": pca, **row} for row in (unmet, met)]


def in_a_process_of_its_own(case: dict[str, Any]) -> list[dict[str, Any]]:
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(finished.stderr)
    rows: list[dict[str, Any]] = json.loads(finished.stdout.splitlines()[-1])
    return rows


def merged(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return saved results with new ones in place of those of the same table."""
    path = RESULTS / "spread.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    measured = {tuple(row[key] for key in CASES[0]) for row in rows}
    return [row for row in before if tuple(row[key] for key in CASES[0]) not in measured] + rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, help="one number of rows only")
    parser.add_argument("--save", action="store_true", help="merge into the saved results")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(json.loads(arguments.case)), default=float))
        return
    rows = []
    for case in CASES:
        if arguments.rows in (None, case["n"]):
            for row in in_a_process_of_its_own(case):
                rows.append(row)
                print(" ".join(f"{key}={value}" for key, value in row.items() if key != "warnings"), flush=True)
    if arguments.save:
        print("saved", save("spread", merged(rows)))


if __name__ == "__main__":
    main()
