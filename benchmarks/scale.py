"""Seconds, extra memory and growth of a fit with the number of rows.

python benchmarks/scale.py                     # tables up to a million rows, Adult, Census-Income; a few minutes
python benchmarks/scale.py --rows 1e7          # one size, out of core (a float32 file that is mapped)
python benchmarks/scale.py --save              # keep the results, in docs/scale.md too
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import RESULTS, save

TOLERANCE = 1e-3
COLUMNS = 50
SIZES = {2: (1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6), 10: (1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6)}
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
PICTURE = PAGE.with_suffix(".svg")
HEAD = """| data | rows x columns | d | method | seconds | extra MB | kept % | MMD² | gradients on all rows |
|---|---:|---:|---|---:|---:|---:|---|---:|
"""


class ExtraMemory:
    """Peak of the memory that is not backed by a file, above what was there at the start, in MB."""

    def __enter__(self) -> "ExtraMemory":
        self._start, self.peak = anonymous_memory(), 0.0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            self.peak = max(self.peak, anonymous_memory() - self._start)


def anonymous_memory() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    return 0.0


def block(rng: np.random.Generator, n: int, factors_to_columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows with twenty common factors; the groups differ in the means of three, the spread and the shape of others."""
    group = rng.random(n) < 0.4
    factors = rng.normal(size=(n, 20))
    factors[:, [0, 4, 9]] += 0.8 * group[:, None]
    factors[:, [1, 6]] *= np.where(group[:, None], 1.5, 1.0)
    factors[:, [2, 3, 5]] *= rng.gamma(2.0, 0.5, size=(n, 3))
    factors[group, 7] = np.sign(factors[group, 7])
    return (factors @ factors_to_columns + 0.5 * rng.normal(size=(n, COLUMNS))).astype(np.float32), group


def loadings() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(20, COLUMNS)) * np.linspace(2, 0.3, 20)[:, None]


def table(n: int, folder: str | None) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    if folder is None:
        X: np.ndarray = np.empty((n, COLUMNS), dtype=np.float32)
    else:
        X = np.memmap(f"{folder}/rows.f32", dtype=np.float32, mode="w+", shape=(n, COLUMNS))
    groups = np.empty(n, dtype=np.int8)
    for start in range(0, n, 100_000):
        part = slice(start, min(n, start + 100_000))
        X[part], groups[part] = block(rng, part.stop - start, loadings())
    return X, groups


def real(name: str) -> tuple[np.ndarray, np.ndarray]:
    from fairpca.datasets import load_adult, load_census

    data = {"adult": load_adult, "census": load_census}[name]()
    return data.data, data.sensitive_features


def measure(case: dict[str, Any]) -> dict[str, Any]:
    from fairpca import FairPCA

    with tempfile.TemporaryDirectory(dir=case["folder"]) as folder:
        n = int(case.get("n") or 0)
        X, groups = real(case["data"]) if case["data"] != "synthetic" else table(n, folder if n > 2e6 else None)
        # Loads libraries and starts threads.
        FairPCA(2, tolerance=1e-3).fit(X[:500].astype(np.float64), sensitive_features=np.arange(500) % 2)
        began = time.perf_counter()
        with ExtraMemory() as memory, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = FairPCA(case["d"], tolerance=TOLERANCE, random_state=0).fit(X, sensitive_features=groups)
        seconds = time.perf_counter() - began
    return {
        **{key: case[key] for key in ("data", "d")},
        "n": len(X),
        "p": X.shape[1],
        "method": model.mmd_method_,
        "seconds": round(seconds, 2),
        "extra_mb": round(memory.peak),
        "kept_percent": round(100 * model.result_.variance_kept, 3),
        "mmd2": model.mmd2_,
        "mmd2_error": model.mmd2_error_,
        "converged": model.converged_,
        "gradients_on_all_rows": sum(level.n_gradients for level in model.result_.levels if level.n_rows == len(X)),
        "warnings": [str(warning.message) for warning in caught],
    }


def in_a_process_of_its_own(case: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, __file__, "--case", json.dumps(case)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode:
        raise SystemExit(finished.stderr)
    row: dict[str, Any] = json.loads(finished.stdout.splitlines()[-1])
    return row


def exponent(rows: list[dict[str, Any]], d: int, low: float, high: float) -> float | None:
    times = {row["n"]: row["seconds"] for row in rows if row["data"] == "synthetic" and row["d"] == d}
    if low not in times or high not in times:
        return None
    return float(np.log(times[high] / times[low]) / np.log(high / low))


def draw(rows: list[dict[str, Any]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    ax = figure.add_subplot()
    for d, color, marker in ((2, "#0072B2", "o"), (10, "#D55E00", "s")):
        chosen = sorted((row["n"], row["seconds"]) for row in rows if row["data"] == "synthetic" and row["d"] == d)
        ax.loglog(*zip(*chosen, strict=True), color=color, marker=marker, label=f"synthetic, p = {COLUMNS}, d = {d}")
        for row in rows:
            if row["data"] != "synthetic" and row["d"] == d:
                ax.loglog(row["n"], row["seconds"], color=color, marker=marker, mfc="none", ls="none")
                # Free of the lines: above the one, left of the other.
                place = {"xytext": (0, 7), "ha": "center"} if d == 2 else {"xytext": (-7, 3), "ha": "right"}
                label, point = f"{row['data']}, d = {d}", (row["n"], row["seconds"])
                ax.annotate(label, point, fontsize=9, textcoords="offset points", **place)
    ax.set(xlabel="rows", ylabel="seconds of a fit", title="FairPCA, tolerance 1e-3, two cores")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def line(row: dict[str, Any]) -> str:
    error = f" ± {row['mmd2_error']:.0e}" if row["mmd2_error"] else ", exact"
    mmd2 = f"{row['mmd2']:.3e}{error}".replace("e-0", "e-")
    numbers = f"{row['seconds']:.1f} | {row['extra_mb']} | {row['kept_percent']:.2f} | {mmd2}"
    what = f"{row['data']} | {row['n']:,} x {row['p']} | {row['d']} | {row['method']}"
    return f"| {what} | {numbers} | {row['gradients_on_all_rows'] or '-'} |"


def tabulate(rows: list[dict[str, Any]]) -> None:
    """Put the results in place of the table of the page."""
    before, after = PAGE.read_text().split(HEAD)
    _, after = after.split("\n\n", 1)
    PAGE.write_text(before + HEAD + "\n".join(map(line, rows)) + "\n\n" + after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, help="one number of rows only")
    parser.add_argument("--components", type=int, choices=(2, 10), help="one number of components only")
    parser.add_argument("--data", choices=("synthetic", "adult", "census"), help="one kind of data only")
    parser.add_argument("--folder", help="where files that are mapped go")
    parser.add_argument("--save", action="store_true", help="merge into the saved results, the picture and the table")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(measure(json.loads(arguments.case)), default=float))
        return
    cases = [
        {"data": "synthetic", "n": n, "d": d, "folder": arguments.folder}
        for d in (2, 10)
        for n in ([arguments.rows] if arguments.rows else SIZES[d])
    ]
    if not arguments.rows:
        cases += [{"data": name, "d": d, "folder": arguments.folder} for name in ("adult", "census") for d in (2, 10)]
    rows = []
    for case in cases:
        if arguments.components not in (None, case["d"]) or arguments.data not in (None, case["data"]):
            continue
        rows.append(in_a_process_of_its_own(case))
        print(" ".join(f"{key}={value}" for key, value in rows[-1].items()), flush=True)
    if arguments.save:
        path = RESULTS / "scale.json"
        before = json.loads(path.read_text())["rows"] if path.exists() else []
        measured = {(row["data"], row["n"], row["d"]) for row in rows}
        rows = [row for row in before if (row["data"], row["n"], row["d"]) not in measured] + rows
        rows.sort(key=lambda row: (row["data"], row["d"], row["n"]))
        print("saved", save("scale", rows))
        draw(rows)
        tabulate(rows)
    for d, low, high in ((2, 1e5, 1e6), (10, 1e4, 1e5)):
        if (growth := exponent(rows, d, low, high)) is not None:
            print(f"d = {d}: seconds grow like n^{growth:.2f} between {low:g} and {high:g} rows")


if __name__ == "__main__":
    main()
