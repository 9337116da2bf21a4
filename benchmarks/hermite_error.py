"""What Hermite features leave out of MMD^2 on all of Adult: the rigorous bound, the stated error, the true difference.

python benchmarks/hermite_error.py --save hermite_error
"""

import argparse

import numpy as np
from _common import compared, save

from fairpca.data import AxesRequest, prepare_many_rows
from fairpca.datasets import load_adult
from fairpca.mmd import HermiteMMD, Scales
from fairpca.mmd.hermite._sample import PART_ROWS
from fairpca.rows import ArrayRows
from fairpca.solvers._start import mean_matched_frame

COMPONENTS = 10
SEEDS = 20
FEW = 512
"""Rows of a part in the repetitions: few enough that each draws other rows."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save", default=None, help="name of the result file")
    arguments = parser.parse_args()
    table = load_adult()
    codes, comparison = compared(np.asarray(table.sensitive_features))
    rows = ArrayRows(np.asarray(table.data, dtype=np.float64), codes)
    generator = np.random.default_rng(0)
    request = AxesRequest(COMPONENTS, Scales.of("median"), 0)
    data = prepare_many_rows(rows, comparison, "hermite", True, request, generator).problem
    hermite = HermiteMMD(rows, data.coordinates, comparison, data.bandwidth)
    random = np.zeros(data.sample.shape)
    random[: data.axes.rank] = np.linalg.qr(generator.normal(size=(data.axes.rank, COMPONENTS)))[0]
    matched = mean_matched_frame(data.sample, data.axes.rank)
    results = []
    for name, V in (("pca", data.sample.pca()), ("mean-matched", matched), ("random", random)):
        exact = data.measure(V, comparison.tolerances).values[0]
        plain, bound = (each[0] for each in hermite.value_and_bound(V))
        value, error = (
            each[0] for each in hermite.value_and_error(V, hermite.residual_sample(generator, PART_ROWS[0]))
        )
        repeated = [hermite.value_and_error(V, hermite.residual_sample(generator, FEW)) for _ in range(SEEDS)]
        covered = sum(abs(values[0] - exact) <= errors[0] for values, errors in repeated)
        results.append(
            {
                "frame": name,
                "exact": exact,
                "bound": bound,
                "difference_without_sample": plain - exact,
                "error": error,
                "difference": value - exact,
                "covered_of_20_small_samples": covered,
            }
        )
        print(
            " ".join(f"{key}={value:.3g}" if key != "frame" else value for key, value in results[-1].items()),
            flush=True,
        )
    if arguments.save:
        print("saved", save(arguments.save, results))


if __name__ == "__main__":
    main()
