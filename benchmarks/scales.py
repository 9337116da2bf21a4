"""What `bandwidth="scales"` costs and what it buys: one bandwidth against the mean of four kernels.

    python benchmarks/scales.py              # about five minutes
    python benchmarks/scales.py cost         # one of its parts

Cost: one pass and one fit with four scales relative to the same with one, in turns. Gain: on published splits, variance
kept on the training rows, and how well adversaries read the group from projections of held-out rows (area under the
curve, five-fold cross-validation on the held-out rows); with the protected attribute among the columns, as published,
and without it.
"""

import time
import warnings
from itertools import product

import numpy as np
from _common import compared, run_parts, splits
from scale import table
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from fairpca import FairPCA
from fairpca.exceptions import (
    AttributeInTableWarning,
    ConvergenceWarning,
    NoSensitiveFeaturesWarning,
    NullComponentsWarning,
)
from fairpca.metrics import mmd2
from fairpca.mmd import Coordinates, ExactMMD, Scales, features_mmd, median_bandwidth
from fairpca.rows import ArrayRows
from fairpca.solvers import Budget

TOLERANCE = 1e-3
BANDWIDTHS = {"one": "median", "four": "scales"}
FACTORS = {name: Scales.of(bandwidth).factors for name, bandwidth in BANDWIDTHS.items()}
COST = [(2_000, 2), (2_000, 10), (50_000, 2)]
COMPONENTS = {"compas": (2, 5), "adult": (2, 10)}
FITS = {
    "one": {"bandwidth": "median"},
    "four": {"bandwidth": "scales"},
    # Narrow kernels on discrete columns have more local optima than one start finds.
    "four, 20 starts": {"bandwidth": "scales", "solver": Budget(n_starts=20)},
}
SPLITS = (0,)


def in_turns(functions, repeats):
    """Return the least seconds of each function by the clock and by the processor, called one after the other.

    On a busy machine those of the processor, all threads together, tell more.
    """
    found = {name: [] for name in functions}
    for _ in range(repeats):
        for name, function in functions.items():
            began, worked = time.perf_counter(), time.process_time()
            function()
            found[name].append((time.perf_counter() - began, time.process_time() - worked))
    return {name: np.min(times, axis=0) for name, times in found.items()}


def discrepancies(X, groups, V):
    """Return for both kernels what a fit to so many rows evaluates, and four passes with one scale each."""
    codes, comparison = compared(groups)
    mean, sigma = X.mean(axis=0), median_bandwidth(X @ V)
    if len(X) > 5000:
        rows, coordinates = ArrayRows(X, codes), Coordinates(mean, np.eye(X.shape[1]))
        made = [
            features_mmd(rows, coordinates, comparison, sigma, factors).around(V, np.zeros(1))
            for factors in (*FACTORS.values(), *((factor,) for factor in FACTORS["four"]))
        ]
    else:
        weights = comparison.weights.of(codes)
        made = [
            ExactMMD(X - mean, weights, comparison, sigma, factors)
            for factors in (*FACTORS.values(), *((factor,) for factor in FACTORS["four"]))
        ]
    return made[0], made[1], made[2:]


def cost():
    """Return seconds of a value with its gradient, of a Hessian where there is one, and of a fit."""
    for n, d in COST:
        X, groups = table(n, None)
        X = X.astype(np.float64)
        basis = np.linalg.svd(X[:2000] - X[:2000].mean(axis=0))[2].T
        V, Q = np.ascontiguousarray(basis[:, :d]), np.ascontiguousarray(basis[:, d:])
        one, four, apart = discrepancies(X, groups, V)
        row = {"part": "cost", "n": n, "d": d, "p": X.shape[1], "method": type(one).__name__}
        times = in_turns(
            {
                "one": lambda: one.evaluate(V),  # noqa: B023
                "four": lambda: four.evaluate(V),  # noqa: B023
                "four_passes": lambda: [each.evaluate(V) for each in apart],  # noqa: B023
            },
            200 if n < 5000 else 5,
        )
        row |= ratios("gradient", times)
        if isinstance(one, ExactMMD):
            gradient = one.evaluate(V)[1][0]
            hessians = {
                "one": lambda: one.hessian(V, Q, gradient, single_precision=True),  # noqa: B023
                "four": lambda: four.hessian(V, Q, gradient, single_precision=True),  # noqa: B023
            }
            # As in a fit to so few rows.
            with threadpool_limits(1, user_api="blas"):
                times = in_turns(hessians, 30)
            row |= ratios("hessian", times)
        models = {
            name: FairPCA(d, tolerance=TOLERANCE, bandwidth=bandwidth, random_state=0)
            for name, bandwidth in BANDWIDTHS.items()
        }
        fits = {name: lambda model=model: model.fit(X, sensitive_features=groups) for name, model in models.items()}  # noqa: B023
        row |= ratios("fit", in_turns(fits, 3 if n < 5000 else 1))
        for name, model in models.items():
            row |= {
                f"converged_{name}": model.converged_,
                f"kept_{name}": 100 * model.result_.variance_kept,
                f"gradients_{name}": model.result_.n_gradients,
            }
        yield row


def ratios(what, times):
    """Return seconds, and what they are to those of one scale."""
    found = {}
    for kind, position in (("seconds", 0), ("cpu_seconds", 1)):
        for name, seconds in times.items():
            found[f"{what}_{kind}_{name}"] = float(seconds[position])
            if name != "one":
                found[f"{what}_{kind}_ratio_{name}"] = float(seconds[position] / times["one"][position])
    return found


def adversaries(Z, groups):
    """Return the areas under the curve of boosting and of an RBF machine that read the group from rows."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    readers = {
        "boosting": HistGradientBoostingClassifier(random_state=0),
        "svm": make_pipeline(StandardScaler(), SVC()),
    }
    # Of few rows: more threads would wait for each other.
    with threadpool_limits(1):
        return {
            f"auc_{name}": float(cross_val_score(reader, Z, groups, scoring="roc_auc", cv=folds).mean())
            for name, reader in readers.items()
        }


def gain():
    """Return what is kept and what can be read, on published splits."""
    cases = [(data, d, split) for data, numbers in COMPONENTS.items() for d in numbers for split in SPLITS]
    for (data, d, split), columns in product(cases, ("all", "without the attribute")):
        found = dict(splits(data))[f"{data}_split{split}"]
        X, a, X_new, a_new = (found[name] for name in ("X_train", "a_train", "X_test", "a_test"))
        if columns != "all":
            spread = np.outer(X.std(axis=0), a.std()).ravel()
            others = np.abs((a - a.mean()) @ (X - X.mean(axis=0))) / len(a) <= 0.999 * spread
            X, X_new = X[:, others], X_new[:, others]
        for name in ("plain PCA", *FITS):
            if FITS.get(name, {}).get("solver") and (data, d) != ("compas", 2):
                continue
            began = time.perf_counter()
            if name == "plain PCA":
                model = FairPCA(d, standardize=False).fit(X)
            else:
                model = FairPCA(d, tolerance=TOLERANCE, standardize=False, random_state=0, **FITS[name])
                model.fit(X, sensitive_features=a)
            row = {"part": "gain", "data": data, "split": split, "d": d, "columns": columns, "kernel": name}
            row |= {"seconds": time.perf_counter() - began, "kept": 100 * model.explained_variance_ratio_.sum()}
            row |= {"converged": model.converged_, "live": model.n_live_components_, "mmd2": model.mmd2_}
            Z, Z_new = model.transform(X), model.transform(X_new)
            for factor in FACTORS["four"]:
                sigma = factor * model.bandwidth_
                row[f"mmd2_fitted_{factor:g}"] = mmd2(Z, sensitive_features=a, bandwidth=sigma)
                row[f"mmd2_new_{factor:g}"] = mmd2(Z_new, sensitive_features=a_new, bandwidth=sigma)
            yield row | adversaries(Z_new, a_new)


PARTS = {"cost": cost, "gain": gain}


def main():
    for category in (AttributeInTableWarning, ConvergenceWarning, NoSensitiveFeaturesWarning, NullComponentsWarning):
        warnings.simplefilter("ignore", category)
    run_parts(PARTS, "scales", __doc__)


if __name__ == "__main__":
    main()
