"""Several groups, each against all others: seconds against those of two groups, on the same rows.

python benchmarks/measures.py
"""

import numpy as np
from _common import best_time, save

from fairpca import FairPCA

ROWS, COLUMNS = 4000, 30


def table(n_groups):
    """Return rows whose groups differ in mean and spread."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, n_groups, size=ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS)) * np.geomspace(3, 0.5, COLUMNS)
    X += 2.0 * rng.normal(size=(n_groups, COLUMNS))[groups]
    return X * (1 + 0.2 * rng.random((n_groups, COLUMNS)))[groups], groups


def main():
    rows = []
    for d in (2, 10):
        for n_groups in (2, 3, 5, 8):
            X, groups = table(n_groups)
            model = FairPCA(d, tolerance=1e-3, random_state=0)
            seconds = best_time(lambda model=model, X=X, groups=groups: model.fit(X, sensitive_features=groups))
            result = model.result_
            rows.append(
                {
                    "d": d,
                    "groups": n_groups,
                    "seconds": seconds,
                    "ratio": seconds / next((row["seconds"] for row in rows if row["d"] == d), seconds),
                    "kept": 100 * result.variance_kept,
                    "converged": model.converged_,
                    "largest_mmd2": model.mmd2_,
                    "kkt_residual": result.certificate.kkt_residual,
                    "gradients": result.n_gradients,
                    "hessians": result.n_hessians,
                }
            )
            print(", ".join(f"{key} {value:.4g}" for key, value in rows[-1].items()))
    print(save("measures", rows))


if __name__ == "__main__":
    main()
