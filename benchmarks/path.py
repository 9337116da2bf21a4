"""The path of 20 tolerances against a single fit at the strictest of them, in one run.

python benchmarks/path.py --save path
"""

import argparse
import time
import warnings

import numpy as np
from _common import save, splits

from fairpca import FairPCA
from fairpca.path import fair_pca_path

STRICTEST = 1e-5


def seconds(function, repeats):
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        answer = function()
        times.append(time.perf_counter() - began)
    return min(times), answer


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3, help="the fastest counts")
    parser.add_argument("--save", default=None, help="name of the result file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, d in (("german", 2), ("german", 10), ("adult", 2), ("compas", 2)):
        for split, data in splits(name):
            X, groups = data["X_train"], data["a_train"]

            def single(X=X, groups=groups, d=d):
                model = FairPCA(d, tolerance=STRICTEST, standardize=False, random_state=0)
                return model.fit(X, sensitive_features=groups)

            def whole(X=X, groups=groups, d=d):
                return fair_pca_path(X, groups, d, standardize=False, random_state=0)

            repeats = arguments.repeats if name != "compas" else 1
            (alone, model), (all_of_it, path) = seconds(single, repeats), seconds(whole, repeats)
            rows.append(
                {
                    "split": split,
                    "d": d,
                    "single_seconds": alone,
                    "path_seconds": all_of_it,
                    "ratio": all_of_it / alone,
                    "single_kept_percent": 100 * model.result_.variance_kept,
                    "path_end_kept_percent": 100 * float(path.variances_[-1]),
                    "monotone": bool(np.all(np.diff(path.variances_) <= 0)),
                    "converged": int(path.converged_.sum()),
                }
            )
            print(" ".join(f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
                           for key, value in rows[-1].items()), flush=True)  # fmt: skip
    if arguments.save:
        print("saved", save(arguments.save, rows))


if __name__ == "__main__":
    main()
