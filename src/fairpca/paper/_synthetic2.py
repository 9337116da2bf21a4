"""Synthetic data 2: variance, MMD² and run time as the dimension grows."""
# SPDX-License-Identifier: MIT

from fairpca.datasets import make_synthetic2
from fairpca.evaluation import Split
from fairpca.metrics import explained_variance, mmd2
from fairpca.paper._experiment import Experiment, Settings
from fairpca.paper._judge import how_it_went, pca_bandwidth
from fairpca.paper._methods import PLAIN_PCA, Method, fair_pca, fit, fpca
from fairpca.paper._results import Outcome
from fairpca.paper._synthetic2_page import VARIANTS, describe, draw
from fairpca.paper._tasks import Task

N_COMPONENTS = 5
N_PER_GROUP = 240
STRICT, RELAXED, MOMENTS = fair_pca(1e-5), fair_pca(1e-3), fpca(0.0, 0.01)
_PAPER_DIMENSIONS = tuple(range(20, 101, 10))
_BEYOND = (200, 400)
_QUICK_DIMENSIONS = (20, 50, 100)
_SEED = 0


def dimensions(settings: Settings) -> tuple[int, ...]:
    """Return the p that are run: those of the paper and two beyond, fewer in a quick run."""
    if settings.dimensions is not None:
        return settings.dimensions
    return _QUICK_DIMENSIONS if settings.quick else _PAPER_DIMENSIONS + _BEYOND


def methods(p: int) -> list[Method]:
    """Return the methods that are run in p dimensions; FPCA only as far as the paper goes."""
    return [PLAIN_PCA, *([MOMENTS] if p <= _PAPER_DIMENSIONS[-1] else []), RELAXED, STRICT]


def tasks(settings: Settings) -> list[Task]:
    """Return a task for each variant of the data, dimension, split and method."""
    return [
        Task(
            folder="synthetic2",
            key=f"{variant}-p{p}-split{seed}-{method.slug}",
            function=fit_on_split,
            parameters={"variant": variant, "p": p, "method": method, "seed": seed},
            cost=7.0 if method == STRICT else 0.5,
        )
        for variant in VARIANTS
        for p in dimensions(settings)
        for seed in range(settings.splits)
        for method in methods(p)
    ]


def fit_on_split(*, variant: str, p: int, method: Method, seed: int) -> Outcome:
    """Fit and judge a method on one split of the sample in p dimensions.

    Parameters
    ----------
    variant : {"text", "published"}
        How the sample is made.
    p : int
        Its dimension.
    method : Method
        The method.
    seed : int
        Number of the split; the sample is the same for all.
    """
    X, groups = make_synthetic2(p, N_PER_GROUP, variant=variant, random_state=_SEED)
    split = Split.random(X, groups, groups, seed=seed)
    bandwidth = pca_bandwidth(split.X_train, N_COMPONENTS)
    fitted = fit(method, split.X_train, split.a_train, N_COMPONENTS, bandwidth, seed)
    row = {"variant": variant, "p": p, "method": method.name, "split": seed, **how_it_went(fitted)}
    row["bandwidth"] = bandwidth
    for part, rows, members in (("train", split.X_train, split.a_train), ("test", split.X_test, split.a_test)):
        projections = rows @ fitted.components.T
        row[f"variance_percent_{part}"] = 100 * explained_variance(rows, fitted.components)
        row[f"mmd2_{part}"] = mmd2(projections, sensitive_features=members, bandwidth=bandwidth)
    return Outcome(row, fitted.seconds)


EXPERIMENT = Experiment(
    name="synthetic2",
    title="Synthetic data 2: growing dimension",
    keys=("variant", "p", "method"),
    quantities=("variance_percent_test", "variance_percent_train", "mmd2_test", "mmd2_train", "converged"),
    tasks=tasks,
    draw=draw,
    describe=describe,
)
