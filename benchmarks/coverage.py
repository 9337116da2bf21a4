"""How often the bound U of an audit holds, with Adult's 30,000 people as a population whose MMD^2 is known.

    python benchmarks/coverage.py               # about fifteen minutes
    python benchmarks/coverage.py --draws 50    # a part of it

Samples are drawn with replacement from the projections of all people: plain PCA, a fair subspace, and one at the
boundary, where the target is the very MMD^2 of the population.
"""

import argparse
import warnings

import numpy as np
from _common import save

from fairpca import FairPCA
from fairpca.comparison import People, Terms, compare
from fairpca.datasets import load_adult
from fairpca.inference import ComparedRows, Evidence, finite_sample_bound, measure

SIDES = ((150, 150), (15, 285), (500, 500), (50, 950), (2500, 2500), (240, 4760))
TOLERANCES = {"plain PCA": 2.0, "1e-2": 1e-2, "1e-4": 1e-4}


def compared(Z, groups):
    found = compare(People(groups), len(Z), Terms.named(min_group_size=2), 2.0)
    return found.measures, ComparedRows.of(Z, found)


def share_that_holds(Z, groups, sigma, truth, m, n, draws, rng):
    holds, bounds = [], []
    first, second = np.flatnonzero(groups), np.flatnonzero(~groups)
    labels = np.repeat([True, False], [m, n])
    for _ in range(draws):
        rows = np.concatenate([rng.choice(first, m), rng.choice(second, n)])
        measures, sample = compared(Z[rows], labels)
        evidence = Evidence.of(sample, sigma, rng)
        bound = evidence.upper_bound(0, measures[0], 0.95)
        always = finite_sample_bound(float(evidence.values[0]), 1 / m + 1 / n, 0.95)
        holds.append((bound >= truth, always >= truth))
        bounds.append((bound, always))
    return np.mean(holds, axis=0), np.median(bounds, axis=0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=500)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    data, rng, rows = load_adult(), np.random.default_rng(0), []
    groups = data.sensitive_features == np.unique(data.sensitive_features)[0]
    for d in (2, 10):
        for name, tolerance in TOLERANCES.items():
            model = FairPCA(d, tolerance=tolerance, random_state=0).fit(data.data, sensitive_features=groups)
            Z = model.transform(data.data)
            _, everyone = compared(Z, groups)
            truth = float(measure(everyone, model.bandwidth_, np.array([1e-7])).values[0])
            for m, n in SIDES:
                found = share_that_holds(Z, groups, model.bandwidth_, truth, m, n, arguments.draws, rng)
                (holds, always), (bound, wide) = found
                rows.append({"d": d, "subspace": name, "mmd2": truth, "m": m, "n": n, "draws": arguments.draws})
                rows[-1] |= {"holds": holds, "finite_holds": always, "median": bound, "finite_median": wide}
                print(f"d={d:2d} {name:9s} MMD^2 {truth:.2e} {m:5d} {n:5d}  U holds {holds:.3f} (median {bound:.1e})")
                save("coverage", rows)


if __name__ == "__main__":
    main()
