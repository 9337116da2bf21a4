"""fairpca demo: PCA and FairPCA side by side on German Credit."""
# SPDX-License-Identifier: MIT

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.decomposition import PCA

from fairpca import FairPCA, FairPCAPath
from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.datasets import load_german
from fairpca.exceptions import AttributeInTableWarning
from fairpca.metrics import ProjectionReport, Split, evaluate_projection, mmd2
from fairpca.plots import DensityDisplay
from fairpca.report import About, make_report
from fairpca.solvers import OuterStep


def run_demo(console: Console, output: Path, tolerance: float, seed: int) -> None:
    """Fit both methods, print one table, save one picture and write the report.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    output : Path
        Folder for the picture and the report.
    tolerance : float
        Largest MMD^2 allowed on the training rows.
    seed : int
        Seed of the split.
    """
    output.mkdir(parents=True, exist_ok=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("loading German Credit", total=6)
        data = load_german()
        split = Split.random(data.data, data.target, data.sensitive_features, seed=seed)
        progress.update(task, advance=1, description="fitting PCA")
        pca = PCA(2).fit(split.X_train)
        progress.update(task, advance=1, description="fitting FairPCA")

        def show(step: OuterStep) -> None:
            progress.update(task, description=f"fitting FairPCA: MMD^2 {step.mmd2:.1e}")

        fair = FairPCA(2, tolerance=tolerance, standardize=False, callback=show, random_state=seed)
        with warnings.catch_warnings():
            # The table is that of the paper, which holds the age group as a column; the note below the table says so.
            warnings.simplefilter("ignore", AttributeInTableWarning)
            fair.fit(split.X_train, sensitive_features=_age(split.a_train))
        progress.update(task, advance=1, description="training classifiers on the projections")
        models = {"PCA": pca, "FairPCA": fair}
        reports = {
            name: evaluate_projection(model.components_, split, bandwidth=fair.bandwidth_)
            for name, model in models.items()
        }
        progress.update(task, advance=1, description="drawing")
        picture = draw(models, reports, split, output / "projections.png") if _can_draw() else "needs fairpca[plot]"
        progress.update(task, advance=1, description="tracing the trade-off and writing the report")
        page = write_report(fair, pca, split, data.feature_names, output / "report.html")
    console.print(table(reports, split, tolerance))
    train, test = (chance_level(fair, X, a) for X, a in ((split.X_train, split.a_train), (split.X_test, split.a_test)))
    console.print(
        "MMD^2: how different the projected groups are as distributions. Random groups of these "
        f"sizes would differ by about {train:.4f} on the training rows and {test:.4f} on the held-out ones. "
        "Parity gap: the difference in positive predictions between the groups, for a support vector machine "
        "trained on the projected training rows. The age group is one of the columns, as in the paper."
    )
    console.print(f"picture: {escape(str(picture))}", soft_wrap=True)
    console.print(f"report:  {escape(str(page))}", soft_wrap=True)


def table(reports: dict[str, ProjectionReport], split: Split, tolerance: float) -> Table:
    """Return the comparison as a table."""
    rows = f"{len(split.X_train)} training rows, {len(split.X_test)} held-out rows, tolerance {tolerance:g}"
    result = Table(title="German Credit in two dimensions: age 25 or older against younger", caption=rows)
    result.add_column("method")
    for heading in ("variance kept", "MMD^2 train", "MMD^2 held-out", "parity gap", "accuracy"):
        result.add_column(heading, justify="right")
    for name, report in reports.items():
        result.add_row(
            name,
            f"{100 * report.variance_train:.1f} %",
            f"{report.mmd2_train:.5f}",
            f"{report.mmd2_test:.4f}",
            f"{report.downstream.demographic_parity:.3f}",
            f"{100 * report.downstream.accuracy:.1f} %",
        )
    return result


def chance_level(model: FairPCA, X: FloatArray, groups: AnyArray, n_draws: int = 50) -> float:
    """Return the mean MMD^2 over random groups of the same sizes."""
    generator = np.random.default_rng(0)
    Z = model.transform(X)
    draws = [
        mmd2(Z, sensitive_features=generator.permutation(groups), bandwidth=model.bandwidth_) for _ in range(n_draws)
    ]
    return float(np.mean(draws))


def draw(models: dict[str, Any], reports: dict[str, ProjectionReport], split: Split, path: Path) -> Path:
    """Save where the groups of the training rows are in both planes, side by side."""
    pyplot = require("matplotlib.pyplot", "plot")
    figure, axes = pyplot.subplots(1, len(models), figsize=(10, 4.6), layout="constrained")
    (names,) = _age(split.a_train).values()
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        DensityDisplay.from_estimator(model, split.X_train, sensitive_features=names, ax=ax)
        report = reports[name]
        ax.set_title(f"{name}\n{100 * report.variance_train:.1f} % of variance, MMD² = {report.mmd2_train:.2g}")
    with writing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png")
    pyplot.close(figure)
    return path


def write_report(fair: FairPCA, pca: PCA, split: Split, features: list[str], path: Path) -> Path:
    """Write the page that `fairpca fit` writes, of the held-out rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        trade_off = FairPCAPath(
            FairPCA(2, standardize=False, bandwidth=fair.bandwidth_, random_state=fair.random_state)
        )
        trade_off.fit(split.X_train, sensitive_features=_age(split.a_train))
    about = About(
        data="German Credit, as in the paper: the age group is one of the columns",
        held_out=len(split.X_test) / (len(split.X_train) + len(split.X_test)),
        command=f"fairpca demo --tolerance {fair.tolerance:g} --seed {fair.random_state}",
        features=features,
    )
    make_report(
        fair,
        split.X_test,
        split.y_test,
        sensitive_features=_age(split.a_test),
        path=trade_off,
        before=pca,
        about=about,
        file=path,
    )
    return path


def _can_draw() -> bool:
    return find_spec("matplotlib") is not None


def _age(groups: AnyArray) -> dict[str, AnyArray]:
    return {"age": np.where(groups == 1, "25 or older", "younger than 25")}
