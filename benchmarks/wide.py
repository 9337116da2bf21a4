"""Seconds and extra memory of fits of tables with many columns, beside plain PCA in the same process.

python benchmarks/wide.py                    # all cases, each in a process of its own; some minutes
python benchmarks/wide.py --only 300x20000   # one table
python benchmarks/wide.py --save             # keep the results, in docs/scale.md too
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from itertools import dropwhile
from pathlib import Path
from typing import Any

import numpy as np
from _common import best_time, save
from scale import ExtraMemory

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
HEAD = """| rows x columns | d | tolerance | seconds | PCA's seconds | ratio | extra / X | kept % | MMD² | cycles |
|---:|---:|---|---:|---:|---:|---:|---:|---|---:|
"""
CASES: list[dict[str, Any]] = [
    {"n": 300, "p": 20_000, "d": 2, "tolerance": 1e-3, "ratio": 3.0, "memory": 4.0},
    {"n": 300, "p": 20_000, "d": 2, "tolerance": "auto"},
    {"n": 1_000, "p": 5_000, "d": 5, "tolerance": 1e-3, "seconds": 5.0},
    {"n": 1_000, "p": 5_000, "d": 5, "tolerance": "auto"},
    {"n": 20_000, "p": 2_000, "d": 2, "tolerance": 1e-3, "ratio": 5.0},
    {"n": 20_000, "p": 2_000, "d": 10, "tolerance": 1e-3, "ratio": 15.0},
    {"n": 20_000, "p": 2_000, "d": 2, "tolerance": "auto"},
]
GROWTH = [{"n": 3_000, "p": p, "d": 2, "tolerance": 1e-3} for p in (100, 2_000)]
LARGEST_EXPONENT = 1.2
REPEATS = 3


def table(n: int, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows with twenty common factors; the groups differ in means, spread and shape of some of the leading ones."""
    rng = np.random.default_rng(1)
    group = rng.random(n) < 0.4
    factors = rng.normal(size=(n, 20))
    factors[:, [0, 4, 9]] += 0.8 * group[:, None]
    factors[:, [1, 6]] *= np.where(group[:, None], 1.5, 1.0)
    factors[:, [2, 3, 5]] *= rng.gamma(2.0, 0.5, size=(n, 3))
    factors[group, 7] = np.sign(factors[group, 7])
    X = factors @ (rng.normal(size=(20, p)) * np.linspace(2, 0.3, 20)[:, None])
    X += 1.5 * rng.normal(size=(n, p))
    return X, group.astype(int)


def measure(case: dict[str, Any]) -> dict[str, Any]:
    from sklearn.decomposition import PCA

    from fairpca import FairPCA

    X, groups = table(case["n"], case["p"])
    # Loads libraries and starts threads.
    FairPCA(2, tolerance=1e-3).fit(X[:200, :50], sensitive_features=groups[:200])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = np.inf
        for _ in range(REPEATS):
            began = time.perf_counter()
            with ExtraMemory() as memory:
                model = FairPCA(case["d"], tolerance=case["tolerance"], random_state=0)
                model.fit(X, sensitive_features=groups)
            seconds = min(seconds, time.perf_counter() - began)
    pca = best_time(lambda: PCA(case["d"], random_state=0).fit(X), REPEATS)
    result = model.result_
    return {
        **{key: case[key] for key in ("n", "p", "d", "tolerance")},
        "seconds": round(seconds, 3),
        "pca_seconds": round(pca, 3),
        "ratio": round(seconds / pca, 2),
        "extra_memory": round(memory.peak * 2**20 / X.nbytes, 2),
        "kept_percent": round(100 * result.variance_kept, 3),
        "mmd2": model.mmd2_,
        "converged": model.converged_,
        "cycles": len(result.steps),
        "seconds_per_cycle": result.seconds / max(1, len(result.steps)),
        "warnings": sorted({str(warning.message) for warning in caught}),
    }


def in_a_process_of_its_own(case: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(finished.stderr)
    row: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return row


def judged(row: dict[str, Any], case: dict[str, Any]) -> str:
    """Say which bars of a case are met."""
    words = []
    for bar, measured in (("ratio", "ratio"), ("memory", "extra_memory"), ("seconds", "seconds")):
        if bar in case:
            verdict = "met" if row[measured] <= case[bar] else "NOT MET"
            words.append(f"{measured} {row[measured]:g} (at most {case[bar]:g}: {verdict})")
    return "; ".join(words) or "no bar"


def line(row: dict[str, Any]) -> str:
    numbers = (
        f"{row['seconds']:.2f} | {row['pca_seconds']:.2f} | {row['ratio']:.1f} | {row['extra_memory']:.1f} | "
        f"{row['kept_percent']:.2f} | {row['mmd2']:.3e} | {row['cycles']}"
    )
    return f"| {row['n']:,} x {row['p']:,} | {row['d']} | {row['tolerance']} | {numbers} |"


def tabulate(rows: list[dict[str, Any]]) -> None:
    """Put the results in place of the table of the page."""
    before, after = PAGE.read_text().split(HEAD)
    others = dropwhile(lambda words: words.startswith("|"), after.splitlines(keepends=True))
    PAGE.write_text(before + HEAD + "".join(line(row) + "\n" for row in rows) + "".join(others))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one table only, such as 300x20000")
    parser.add_argument("--save", action="store_true", help="keep the results, and the table of the page")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(json.loads(arguments.case)), default=float))
        return
    rows = []
    for case in [*CASES, *GROWTH]:
        if arguments.only in (None, f"{case['n']}x{case['p']}"):
            rows.append(in_a_process_of_its_own(case))
            print(" ".join(f"{key}={value}" for key, value in rows[-1].items()))
            print("   ", judged(rows[-1], case), flush=True)
    if arguments.only is None:
        few, many = rows[-2:]
        growth = np.log(many["seconds_per_cycle"] / few["seconds_per_cycle"]) / np.log(many["p"] / few["p"])
        verdict = "met" if growth <= LARGEST_EXPONENT else "NOT MET"
        print(f"seconds of a cycle grow like p^{growth:.2f} (at most {LARGEST_EXPONENT}: {verdict})")
    if arguments.save:
        if arguments.only is not None:
            parser.error("--save keeps all cases or none; leave out --only")
        print("saved", save("wide", rows))
        tabulate(rows)


if __name__ == "__main__":
    main()
