"""Two ellipses: equal reconstruction errors are another goal than equal distributions."""
# SPDX-License-Identifier: MIT

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from fairpca import FairPCA
from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.baselines import ReconstructionFairPCA
from fairpca.datasets import make_ellipses
from fairpca.metrics import explained_variance, mmd2
from fairpca.paper._experiment import Drawing, Experiment, Settings
from fairpca.paper._judge import pca_bandwidth
from fairpca.paper._page import Heading, Page, Paragraph, Table
from fairpca.paper._results import Outcome, Results
from fairpca.paper._tasks import Task
from fairpca.paper._writing import panels
from fairpca.plots import ProjectionDisplay
from fairpca.plots.style import PALETTE, quiet

RECONSTRUCTION, DISTRIBUTION = "ReconstructionFairPCA", "FairPCA"
_TOLERANCE = 5e-3
_N_PER_GROUP = 500
_SEED = 0
_NAMES = np.array(["A = 0", "A = 1"])


def sample() -> tuple[FloatArray, IntArray]:
    """Return the ellipses, centred. They are not standardised: their shape is the point."""
    X, groups = make_ellipses(_N_PER_GROUP, random_state=_SEED)
    return X - X.mean(axis=0), groups


def tasks(settings: Settings) -> list[Task]:
    """Return a task for each method."""
    return [
        Task("contrast", name.lower(), fit_on_ellipses, {"method": name}, cost=0.5)
        for name in (RECONSTRUCTION, DISTRIBUTION)
    ]


def fit_on_ellipses(*, method: str) -> Outcome:
    """Fit a method and measure it by both goals.

    Parameters
    ----------
    method : {"ReconstructionFairPCA", "FairPCA"}
        The method.
    """
    X, groups = sample()
    bandwidth = pca_bandwidth(X, 1)
    estimator: Any = ReconstructionFairPCA(1, standardize=False)
    if method == DISTRIBUTION:
        estimator = FairPCA(
            1, tolerance=_TOLERANCE, solver="repms", bandwidth=bandwidth, standardize=False, random_state=_SEED
        )
    began = time.perf_counter()
    estimator.fit(X, sensitive_features=groups)
    seconds = time.perf_counter() - began
    losses = group_losses(X, groups, estimator.components_)
    row = {
        "method": method,
        "converged": bool(estimator.converged_),
        "direction_1": float(estimator.components_[0, 0]),
        "direction_2": float(estimator.components_[0, 1]),
        "loss_group_0": losses[0],
        "loss_group_1": losses[1],
        "variance_percent": 100 * explained_variance(X, estimator.components_),
        "mmd2": mmd2(X @ estimator.components_.T, sensitive_features=groups, bandwidth=bandwidth),
    }
    return Outcome(row, seconds, {"components": estimator.components_})


def group_losses(X: FloatArray, groups: AnyArray, components: FloatArray) -> list[float]:
    """Return for each group the mean squared reconstruction error above the least possible in as many dimensions.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    groups : ndarray of shape (n,)
        Group of each row.
    components : ndarray of shape (d, p)
        V', orthonormal rows.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    >>> group_losses(X, np.array([0, 0, 1, 1]), np.array([[1.0, 0.0]]))
    [0.0, 4.0]
    """
    losses = []
    for label in np.unique(groups):
        rows = X[groups == label] - X[groups == label].mean(axis=0)
        variances = np.linalg.eigvalsh(rows.T @ rows / len(rows))[::-1]
        kept = float(np.sum((rows @ components.T) ** 2) / len(rows))
        losses.append(float(variances[: len(components)].sum()) - kept)
    return losses


def draw(settings: Settings, results: Results) -> Iterator[Drawing]:
    """Draw the rows with both directions, then the projections on each."""
    X, groups = sample()
    figure, axes = panels(1, 3, (5.0, 4.2))
    ProjectionDisplay(X, _NAMES[groups]).plot(ax=axes[0], alpha=0.35)
    for outcome, colour, style in zip(results.outcomes, (PALETTE[3], PALETTE[2]), ("--", "-"), strict=True):
        direction = tuple(outcome.arrays["components"][0])
        axes[0].axline((0, 0), direction, color=colour, linestyle=style, linewidth=2.2, label=outcome.row["method"])
    axes[0].set(xlabel="$x_1$", ylabel="$x_2$", title="rows and directions")
    axes[0].set_aspect("equal", "datalim")
    axes[0].legend(frameon=False, loc="upper center", ncols=2, fontsize=8)
    for ax, outcome in zip(axes[1:], results.outcomes, strict=True):
        _histograms(ax, X @ outcome.arrays["components"][0], groups)
        row = outcome.row
        ax.set_title(
            f"{row['method']}: MMD² = {row['mmd2']:.2g}\n"
            f"losses of the groups {row['loss_group_0']:.2f} and {row['loss_group_1']:.2f}"
        )
    yield Drawing(
        "contrast",
        "Two ellipses, d = 1: the direction of equal reconstruction errors tells the groups apart; the direction of "
        "equal distributions does not.",
        figure,
    )


def _histograms(ax: Any, values: FloatArray, groups: IntArray) -> None:
    bins = np.linspace(values.min(), values.max(), 41).tolist()
    for index, name in enumerate(_NAMES):
        ax.hist(values[groups == index], bins, alpha=0.55, color=PALETTE[index], label=str(name))
    ax.set(xlabel="component 1", ylabel="rows")
    ax.legend(frameon=False)
    quiet(ax)


def describe(page: Page, settings: Settings, results: Results) -> None:
    """Fill the page."""
    header = ["method", "direction", "loss, A = 0", "loss, A = 1", "variance %", "MMD²", "converged"]
    rows = [
        [
            row["method"],
            f"({row['direction_1']:.3f}, {row['direction_2']:.3f})",
            *(f"{row[name]:.3f}" for name in ("loss_group_0", "loss_group_1")),
            f"{row['variance_percent']:.1f}",
            f"{row['mmd2']:.2g}",
            "yes" if row["converged"] else "no",
        ]
        for row in results.rows
    ]
    page.add(
        Paragraph(
            f"Two elongated groups of {_N_PER_GROUP} rows that mirror each other, d = 1, not standardised. "
            "ReconstructionFairPCA wants both groups to lose equally by the projection, and as little as possible: it "
            f"takes the long axis of the picture. FairPCA, at tolerance {_TOLERANCE:g}, wants the projections to have "
            "one distribution: it takes the other. The loss of a group is its mean squared reconstruction error above "
            "the least that one dimension allows for it."
        ),
        Table("", header, rows),
        Heading("Beside the paper"),
        Paragraph(
            "The paper draws this example by hand and prints no numbers. What it says holds here: equal losses are "
            "possible along both directions, the reconstruction goal picks the one with less error, and the "
            "projections on it still give the groups away."
        ),
    )


EXPERIMENT = Experiment(
    name="contrast",
    title="Two meanings of fair PCA",
    keys=("method",),
    quantities=("loss_group_0", "loss_group_1", "variance_percent", "mmd2"),
    tasks=tasks,
    draw=draw,
    describe=describe,
)
