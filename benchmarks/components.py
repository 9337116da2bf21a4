"""Fits with 20 to 200 components, by default and at 1e-3, beside PCA: seconds, extra memory, whether h <= tau holds.

python benchmarks/components.py                # every case in a process of its own; half an hour
python benchmarks/components.py twenty         # some of them
python benchmarks/components.py --save         # keep the results
"""

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import scale
from _common import best_time, run_parts
from first_answer import embedding

TOLERANCES = "auto", 1e-3
CASES: dict[str, dict[str, Any]] = {
    "twenty": {"n": 100_000, "p": 30, "d": 20, "bar": 60},
    "forty_columns": {"n": 60_000, "p": 40, "d": 20},
    "fifty": {"n": 100_000, "p": 60, "d": 50},
    "hundred": {"n": 100_000, "p": 120, "d": 100},
    "embedding": {"n": 20_000, "p": 384, "d": 200, "bar": 60},
    "million": {"n": 1_000_000, "p": 30, "d": 20, "bar": 600},
}


def table(n: int, p: int, n_factors: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows as those of `scale`, with as many common factors as it takes for d components to differ."""
    if n_factors <= 20:
        scale.COLUMNS = p
        return scale.table(n, None)
    rng = np.random.default_rng(1)
    loadings = np.random.default_rng(0).normal(size=(n_factors, p)) * np.linspace(2, 0.3, n_factors)[:, None]
    group = rng.random(n) < 0.4
    factors = rng.normal(size=(n, n_factors)).astype(np.float32)
    factors[:, [0, 4, 9]] += 0.8 * group[:, None]
    factors[:, [1, 6]] *= np.where(group[:, None], 1.5, 1.0)
    factors[:, [2, 3, 5]] *= rng.gamma(2.0, 0.5, size=(n, 3))
    factors[group, 7] = np.sign(factors[group, 7])
    return (factors @ loadings + 0.5 * rng.normal(size=(n, p))).astype(np.float32), group


def measure(case: dict[str, Any], tolerance: str | float) -> dict[str, Any]:
    from sklearn.decomposition import PCA

    from fairpca import FairPCA

    n, p, d = case["n"], case["p"], case["d"]
    X, groups = embedding(n, p) if p == 384 else table(n, p, 20 if d <= 20 else int(1.1 * d))
    # Loads libraries and starts threads.
    FairPCA(2, tolerance=1e-3).fit(X[:500].astype(np.float64), sensitive_features=np.arange(500) % 2)
    began = time.perf_counter()
    with scale.ExtraMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = FairPCA(d, tolerance=tolerance, random_state=0).fit(X, sensitive_features=groups)
    seconds = time.perf_counter() - began
    pca_seconds = best_time(lambda: PCA(d).fit(X), 2)
    bar = case.get("bar")
    confirmed = bool(model.mmd2_ + model.mmd2_error_ <= np.min(model.result_.tolerances))
    return {
        **case,
        "asked": tolerance,
        "method": model.mmd_method_,
        "seconds": round(seconds, 1),
        "pca_seconds": round(pca_seconds, 3),
        "to_pca": round(seconds / pca_seconds, 1),
        "extra_mb": round(memory.peak),
        "kept_percent": round(100 * model.result_.variance_kept, 3),
        "mmd2": model.mmd2_,
        "mmd2_error": model.mmd2_error_,
        "tau": float(np.min(model.result_.tolerances)),
        "confirmed": confirmed,
        "converged": model.converged_,
        "gradients_on_all_rows": sum(level.n_gradients for level in model.result_.levels if level.n_rows == n),
        "warnings": [str(warning.message) for warning in caught],
        "met": None if bar is None else confirmed and seconds <= bar,
    }


def in_processes_of_their_own(name: str) -> Iterator[dict[str, Any]]:
    for tolerance in TOLERANCES:
        command = [sys.executable, __file__, "--case", name, str(tolerance)]
        finished = subprocess.run(command, capture_output=True, text=True, check=False)
        if finished.returncode:
            raise SystemExit(finished.stderr)
        yield {"part": name, **json.loads(finished.stdout.splitlines()[-1])}


def main() -> None:
    if "--case" in sys.argv:
        name, tolerance = sys.argv[2:]
        asked = tolerance if tolerance == "auto" else float(tolerance)
        print(json.dumps(measure(CASES[name], asked), default=float))
        return
    parts = {name: partial(in_processes_of_their_own, name) for name in CASES}
    run_parts(parts, "components", __doc__)


if __name__ == "__main__":
    main()
