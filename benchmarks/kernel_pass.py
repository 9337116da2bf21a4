"""The exact value-and-gradient pass against the same formula with full n x n numpy arrays, timed in one run.

python benchmarks/kernel_pass.py
"""

import numpy as np
from _common import best_time, compared, exact_mmd, save

from fairpca.mmd import engine


def full_arrays(X, V, weights, sigma):
    """Return h and its gradient, formula (2) with K as one array."""
    Z = X @ V
    squares = (Z**2).sum(axis=1)
    distances = squares[:, None] + squares[None, :] - 2 * Z @ Z.T
    K = np.exp(-distances / (2 * sigma**2))
    smoothed, moments = K @ weights, K @ (weights[:, None] * Z)
    forces = (smoothed * weights)[:, None] * Z - weights[:, None] * moments
    return weights @ smoothed, -2 / sigma**2 * X.T @ forces


def main():
    rng = np.random.default_rng(0)
    rows = []
    print(f"engine: {engine()}")
    for n, p, d in [(700, 57, 2), (1582, 97, 2), (5000, 50, 2), (5000, 50, 10)]:
        X = rng.normal(size=(n, p))
        V = np.linalg.qr(rng.normal(size=(p, d)))[0]
        groups = rng.integers(0, 2, n)
        mmd = exact_mmd(X, groups, 1.3)
        codes, comparison = compared(groups)
        weights = comparison.columns.of(codes)[:, 0]
        expected, expected_gradient = full_arrays(X, V, weights, 1.3)
        (value,), (gradient,) = mmd.evaluate(V)
        error = max(abs(value - expected), np.abs(gradient - expected_gradient).max())
        slow = best_time(lambda: full_arrays(X, V, weights, 1.3))  # noqa: B023
        fast = best_time(lambda: mmd.evaluate(V), 20)  # noqa: B023
        rows.append({"n": n, "d": d, "full_ms": 1e3 * slow, "tiled_ms": 1e3 * fast, "ratio": slow / fast})
        print(
            f"n={n:5d} d={d:2d}  full arrays {1e3 * slow:7.1f} ms  tiles {1e3 * fast:6.2f} ms  "
            f"{slow / fast:5.1f} times faster  largest difference {error:.1e}"
        )
    print(f"saved {save('kernel_pass', rows)}")


if __name__ == "__main__":
    main()
