"""What the benchmarks share: the published splits, versions of everything, saved results."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fairpca.comparison import Comparison, People, Terms, compare
from fairpca.mmd import ExactMMD
from fairpca.versions import environment

REFERENCE = Path(os.environ.get("FAIRPCA_REFERENCE", Path(__file__).parents[2] / "shared" / "reference"))
RESULTS = Path(__file__).parent / "results"


def save(name: str, rows: list[dict[str, Any]]) -> Path:
    """Write results with the environment as JSON."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1, default=float) + "\n")
    return path


def splits(name: str) -> list[tuple[str, Any]]:
    """Return the published splits of one data set."""
    paths = sorted(REFERENCE.glob(f"{name}_split*.npz"))
    if not paths:
        raise SystemExit(f"no published splits of {name} in {REFERENCE}; set FAIRPCA_REFERENCE")
    return [(path.stem, np.load(path)) for path in paths]


def compared(groups: Any) -> tuple[Any, Comparison]:
    """Return the stratum of each row, and the comparison of two groups."""
    compared = compare(People(groups), len(groups), Terms(min_group_size=2), 1e-3)
    return compared.attached, compared.comparison


def exact_mmd(X: Any, groups: Any, bandwidth: float) -> ExactMMD:
    """Return the exact discrepancy between groups."""
    codes, comparison = compared(groups)
    return ExactMMD(X, comparison.weights.of(codes), comparison, bandwidth)


def best_time(function: Callable[[], Any], repeats: int = 5) -> float:
    """Return the least wall time of several calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)
