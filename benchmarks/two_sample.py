"""`two_sample`: p-values where nothing differs, power beside other packages, time and memory for many rows.

    python benchmarks/two_sample.py                        # about an hour
    python benchmarks/two_sample.py null power speed       # a part of it

Other packages are looked for in EXTRA_PACKAGES too, a folder for `pip install --target`.
"""

import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from unittest.mock import patch

import numpy as np
from _common import run_parts
from scipy.stats import cramervonmises_2samp, kstest

from fairpca import two_sample
from fairpca.inference import Evidence

if "EXTRA_PACKAGES" in os.environ:
    sys.path += os.environ["EXTRA_PACKAGES"].split(os.pathsep)
    # numba would take coverage.py of this folder for a package.
    sys.modules["coverage"] = None

# That 199 permutations are few is known.
warnings.filterwarnings("ignore", "The number of replications is low")

LEVELS = 0.01, 0.05, 0.1, 0.25, 0.5

NULLS = {
    "60 + 40, d = 3, log-normal": (60, 40, 3, np.exp),
    "400 + 30, d = 5, discrete": (400, 30, 5, np.rint),
    "2,800 + 2,300, d = 4, cubes": (2800, 2300, 4, lambda Z: Z**3),
    "10,000 + 2,000, d = 2, log-normal": (10_000, 2000, 2, np.exp),
}


def null(draws=1000, n_permutations=99):
    """Yield shares of small p-values; 12,000 rows are taken for many, whose law comes from 4,096 of them."""
    # The bound of many rows takes most of the time, and p-values do not depend on it.
    of_few = staticmethod(lambda rows, comparison, seen, *rest: Evidence.of(seen.chosen(np.arange(200)), *rest))
    module = "fairpca.inference._two_sample"
    with patch.object(Evidence, "of_many", of_few), patch(f"{module}.SAMPLE_ROWS", 4096):
        for name, (m, n, d, shape) in NULLS.items():
            rng, found = np.random.default_rng(0), []
            with patch(f"{module}.BLOCK_ROWS", 10_000):
                for seed in range(draws):
                    Z = shape(rng.normal(size=(m + n, d)))
                    found.append(two_sample(Z[:m], Z[m:], n_permutations=n_permutations, random_state=seed))
            p = np.array([each.p_value for each in found])
            # p has steps: spread over each of them it is uniform where the test is exact.
            spread = p - rng.random(draws) / (n_permutations + 1)
            row = {"part": "null", "samples": name, "method": found[0].method, "draws": draws}
            row |= {f"p <= {level:g}": float(np.mean(p <= level + 1e-9)) for level in LEVELS}
            yield row | {"kolmogorov_p": float(kstest(spread, "uniform").pvalue)}


def shifted(rng, m, n, d):
    Y = rng.normal(size=(n, d))
    Y[:, 0] += 0.35 if d == 2 else 0.5
    return rng.normal(size=(m, d)), Y


def scaled(rng, m, n, d):
    return rng.normal(size=(m, d)), 1.25 * rng.normal(size=(n, d)) if d == 2 else 1.12 * rng.normal(size=(n, d))


def turned(rng, m, n, d):
    Y = rng.normal(size=(n, d))
    Y[:, 1] = 0.5 * Y[:, 0] + np.sqrt(0.75) * Y[:, 1]
    return rng.normal(size=(m, d)), Y


def fine(rng, m, n, d):
    """Return a comb of the period 1.2 in one column, which a wide kernel does not see."""
    X, Y = rng.normal(size=(m, d)), rng.normal(size=(n, d))
    return X, np.column_stack([np.rint(Y[:, :1] / 1.2) * 1.2 + 0.08 * rng.normal(size=(n, 1)), Y[:, 1:]])


def heavy(rng, m, n, d):
    Y = rng.standard_t(3, size=(n, d))
    Y[:, 0] += 0.5 if d == 2 else 0.8
    return rng.standard_t(3, size=(m, d)), Y


ALTERNATIVES = {"mean": shifted, "spread": scaled, "correlation": turned, "comb": fine, "mean, heavy tails": heavy}


def tests():
    """Yield the name, version and p-value of each test that is installed."""
    import scipy

    yield "fairpca.two_sample", "", lambda X, Y, k: two_sample(X, Y, n_permutations=199, random_state=k).p_value
    for name, factor in (("the median", 1.0), ("that of hyppo", 2**0.5)):
        yield (
            f"fairpca.two_sample, one bandwidth, {name}",
            "",
            lambda X, Y, k, f=factor: two_sample(X, Y, scales=(f,), n_permutations=199, random_state=k).p_value,
        )
    yield (
        "scipy.stats.cramervonmises_2samp, each column, Bonferroni",
        scipy.__version__,
        lambda X, Y, k: min(
            1.0, X.shape[1] * min(cramervonmises_2samp(x, y).pvalue for x, y in zip(X.T, Y.T, strict=True))
        ),
    )
    try:
        import hyppo
        from hyppo.ksample import MMD
    except ImportError as error:
        print(f"hyppo is left out: {error}")
    else:
        yield (
            "hyppo.ksample.MMD",
            hyppo.__version__,
            lambda X, Y, k: MMD().test(X, Y, reps=199, auto=False, random_state=k)[1],
        )


def power(draws=200, m=100, n=100):
    for d in (2, 10):
        for name, alternative in ALTERNATIVES.items():
            for test, version, p_value in tests():
                rng, started = np.random.default_rng(1), time.process_time()
                p = np.array([p_value(*alternative(rng, m, n, d), seed) for seed in range(draws)])
                yield {
                    "part": "power",
                    "alternative": name,
                    "m": m,
                    "n": n,
                    "d": d,
                    "test": test,
                    "version": version,
                    "draws": draws,
                    "power": float(np.mean(p <= 0.05)),
                    "seconds": (time.process_time() - started) / draws,
                }


def speed():
    """Yield time and memory for mapped files of float32, each in a process of its own."""
    for d in (2, 10):
        for rows in (100_000, 1_000_000, 2_000_000):
            with tempfile.TemporaryDirectory() as folder:
                paths = [str(Path(folder) / name) for name in ("X.npy", "Y.npy")]
                for seed, path in enumerate(paths):
                    np.save(path, np.random.default_rng(seed).normal(size=(rows, d)).astype(np.float32))
                found = subprocess.run(
                    [sys.executable, __file__, "--measure", *paths], capture_output=True, text=True, check=True
                ).stdout.split()
            yield {
                "part": "speed",
                "m": rows,
                "n": rows,
                "d": d,
                "file_mb": 2 * rows * d * 4 / 1e6,
                "seconds": float(found[0]),
                "cpu_seconds": float(found[1]),
                "peak_mb": float(found[2]),
                "before_mb": float(found[3]),
            }


def measure(first, second):
    X, Y = (np.load(path, mmap_mode="r") for path in (first, second))
    before = peak_mb()
    wall, cpu = time.perf_counter(), time.process_time()
    two_sample(X, Y, random_state=0)
    print(time.perf_counter() - wall, time.process_time() - cpu, peak_mb(), before)


def peak_mb():
    """Return the peak of the resident memory; that of resource.getrusage is inherited from the parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1e3


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    else:
        run_parts({"null": null, "power": power, "speed": speed}, "two_sample", __doc__)
