"""Several groups, each against all others: seconds against those of two groups, on the same rows.

python benchmarks/measures.py
"""

import numpy as np
from _common import best_time, save

from fairpca import FairPCA

ROWS, COLUMNS, MOST_GROUPS = 4000, 30, 8


def table():
    """Return rows of eight groups that differ in mean and spread."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, MOST_GROUPS, size=ROWS)
    X = rng.normal(size=(ROWS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS)) * np.geomspace(3, 0.5, COLUMNS)
    X += 2.0 * rng.normal(size=(MOST_GROUPS, COLUMNS))[groups]
    return X * (1 + 0.2 * rng.random((MOST_GROUPS, COLUMNS)))[groups], groups


def main():
    rows = []
    X, all_groups = table()
    for d in (2, 10):
        for n_groups in (2, 3, 5, 8):
            groups = all_groups % n_groups  # fewer by merging some: the rows are the same
            model = FairPCA(d, tolerance=1e-3, random_state=0)
            seconds = best_time(lambda model=model, groups=groups: model.fit(X, sensitive_features=groups))
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
