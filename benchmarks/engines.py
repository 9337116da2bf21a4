"""The compiled kernel sums against those of numpy, in turns in one run, with and without numpy's AVX-512.

python benchmarks/engines.py
"""

import json
import os
import subprocess
import sys
import time

import numpy as np
from _common import exact_mmd, save

from fairpca.compiled import HAS_COMPILED
from fairpca.mmd import using_engine

SIZES = [(700, 57, 2), (1582, 97, 2), (5000, 50, 2), (700, 57, 10), (5000, 50, 10)]
REPEATS = 20
AVX512 = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"


def seconds(n: int, p: int, d: int) -> dict[str, float]:
    """Return the least time of a value with its gradient, for each engine."""
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(n, p)), np.linalg.qr(rng.normal(size=(p, d)))[0]
    mmd = exact_mmd(X, np.arange(n) % 2, 1.3)
    least = {"compiled": np.inf, "numpy": np.inf}
    for _ in range(REPEATS):
        for engine in least:
            with using_engine(engine):
                start = time.perf_counter()
                mmd.evaluate(V)
                least[engine] = min(least[engine], time.perf_counter() - start)
    return least


def measure() -> None:
    if not HAS_COMPILED:
        raise SystemExit("the kernel sums were not compiled at install time: there is nothing to compare.")
    rows = []
    for n, p, d in SIZES:
        least = seconds(n, p, d)
        rows.append({"n": n, "d": d, "compiled_ms": 1e3 * least["compiled"], "numpy_ms": 1e3 * least["numpy"]})
    print(json.dumps(rows))


def main() -> None:
    found = np.show_config(mode="dicts")["SIMD Extensions"]["found"]
    settings = {"all extensions": "", "without AVX-512": " ".join(set(AVX512.split()) & set(found))}
    results = []
    for name, disabled in settings.items():
        environment = os.environ | ({"NPY_DISABLE_CPU_FEATURES": disabled} if disabled else {})
        command = [sys.executable, __file__, "measure"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        for row in json.loads(run.stdout):
            row = {"numpy": name, **row, "ratio": row["numpy_ms"] / row["compiled_ms"]}
            results.append(row)
            print(
                f"{name:16s} n={row['n']:5d} d={row['d']:2d}  compiled {row['compiled_ms']:7.2f} ms  "
                f"numpy {row['numpy_ms']:7.2f} ms  ratio {row['ratio']:.2f}"
            )
    print(f"saved {save('engines', results)}")


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["measure"] else main()
