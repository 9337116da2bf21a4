"""What the benchmarks share: the published splits, versions of everything, saved results."""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable
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
    # At once, or not at all: some benchmarks begin where they were interrupted.
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps({"environment": environment(), "rows": rows}, indent=1, default=float) + "\n")
    return unfinished.replace(path)


def run_parts(parts: dict[str, Callable[[], Iterable[dict[str, Any]]]], name: str, description: str | None) -> None:
    """Run those parts of a benchmark that the command line names, print each row, and save all where that is asked.

    Saved rows of other parts stay where they were made in the same environment.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(parts)}; all by default")
    parser.add_argument("--save", action="store_true", help="keep the results")
    arguments = parser.parse_args()
    rows = []
    for part in arguments.parts or parts:
        for row in parts[part]():
            rows.append(row)
            cells = (
                f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items()
            )
            print(", ".join(cells), flush=True)
    if arguments.save:
        print(save(name, [*_of_other_parts(name, {row.get("part") for row in rows}), *rows]))


def _of_other_parts(name: str, parts: set[Any]) -> list[dict[str, Any]]:
    path = RESULTS / f"{name}.json"
    saved = json.loads(path.read_text()) if path.exists() else {"environment": None, "rows": []}
    if saved["environment"] != json.loads(json.dumps(environment(), default=float)):
        return []
    return [row for row in saved["rows"] if row.get("part") not in {*parts, None}]


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
