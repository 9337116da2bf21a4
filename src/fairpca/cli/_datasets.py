"""fairpca datasets and demo: tables to try things on, and PCA beside FairPCA on one of them."""
# SPDX-License-Identifier: MIT

import shlex
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import typer
from rich.markup import escape
from sklearn.decomposition import PCA
from sklearn.utils import Bunch

from fairpca import FairPCA, FairPCAPath
from fairpca._utils.extras import require
from fairpca._utils.files import writing
from fairpca._utils.typing import AnyArray
from fairpca.cli._options import DataSets, Demo, joined
from fairpca.cli._output import Stages, json_text, numbers_table, out, plain
from fairpca.datasets import available, load_german, write_table
from fairpca.exceptions import AttributeInTableWarning
from fairpca.metrics import ProjectionReport, Split, evaluate_projection
from fairpca.plots import DensityDisplay
from fairpca.report import About, Report, make_report


def run_datasets(given: DataSets) -> int:
    """List the data sets, describe one, or write its table to a file.

    Parameters
    ----------
    given : DataSets
        What was asked for.
    """
    listed = available(data_home=given.data_home)
    if given.name is None:
        if given.out is not None:
            raise ValueError("--out writes one data set; name it, as in fairpca datasets adult --out adult.csv.")
        if given.as_json:
            typer.echo(json_text({"datasets": listed}))
        else:
            _show_all(listed)
        return 0
    by_name = {each.name: each for each in listed}
    if given.name not in by_name:
        raise ValueError(f"there is no data set {given.name!r}; choose among {', '.join(by_name)}.")
    if given.out is not None:
        with Stages() as stages:
            write_table(given.name, given.out, data_home=given.data_home, callback=stages.rows)
    if given.as_json:
        typer.echo(json_text(by_name[given.name] | {"file": None if given.out is None else str(given.out)}))
    else:
        _show_one(by_name[given.name], given.out)
    return 0


def _show_all(listed: list[Bunch]) -> None:
    rows = [
        (each.name, f"{each.n_rows:,}", str(each.n_columns), ", ".join(each.sensitive), each.label, each.where)
        for each in listed
    ]
    out().print(numbers_table("", ("name", "rows", "columns", "sensitive", "label", "where"), rows))
    out().print("fairpca datasets NAME shows more, and --out FILE writes the table.")


def _show_one(data_set: Bunch, file: Path | None) -> None:
    """Print what a user must know of a data set, and how to fit to its table."""
    lines = [
        f"{data_set.title}: {data_set.n_rows:,} rows, {data_set.n_columns} columns",
        f"source:  {data_set.source}",
        f"licence: {data_set.license}",
        f"where:   {data_set.where}",
        *([] if file is None else [f"written: {file}"]),
        f"try:     {_fit_command(data_set, file or Path(f'{data_set.name}.csv'))}",
    ]
    out().print(escape("\n".join(lines)))


def _fit_command(data_set: Bunch, table: Path) -> str:
    """Return the command that fits to the table of a data set."""
    options = ["--sensitive", data_set.sensitive[0], "--label", data_set.label, "--missing", "fill"]
    if data_set.weight is not None:
        options += ["--weight", data_set.weight]
    for option, columns in (("--drop", data_set.drop), ("--categories", data_set.categories)):
        if columns:
            options += [option, joined(columns)]
    return shlex.join(["fairpca", "fit", str(table), *options])


def run_demo(given: Demo) -> int:
    """Fit both methods, print one table, save one picture and write the report.

    Parameters
    ----------
    given : Demo
        What was asked for.
    """
    output, tolerance, seed = given.output, given.tolerance, given.seed
    output.mkdir(parents=True, exist_ok=True)
    picture, page = output / "projections.png", output / "report.html"
    # The table is that of the paper, which holds the age group as a column; the note below the table says so.
    with Stages() as stages, warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        data = load_german()
        split = Split.random(data.data, data.target, data.sensitive_features, seed=seed)
        stages.say("fitting PCA and FairPCA")
        fair = FairPCA(2, tolerance=tolerance, standardize=False, callback=stages.step, random_state=seed)
        fair.fit(split.X_train, sensitive_features=_age(split.a_train)).set_params(callback=None)
        models = {"PCA": PCA(2).fit(split.X_train), "FairPCA": fair}
        stages.say("training classifiers on the projections")
        reports = {
            name: evaluate_projection(model.components_, split, bandwidth=fair.bandwidth_)
            for name, model in models.items()
        }
        if can_draw := find_spec("matplotlib") is not None:
            stages.say("drawing")
            _draw(models, reports, split, picture)
        stages.say("tracing the trade-off and writing the report")
        report = _write_report(fair, models["PCA"], split, data.feature_names, page)
    console, title = out(), "German Credit in two dimensions: age 25 or older against younger"
    headings = ("method", "variance kept", "MMD^2 train", "MMD^2 held-out", "parity gap", "accuracy")
    shown = [
        (
            name,
            f"{100 * each.variance_train:.1f} %",
            f"{each.mmd2_train:.5f}",
            f"{each.mmd2_test:.4f}",
            f"{each.downstream.demographic_parity:.3f}",
            f"{100 * each.downstream.accuracy:.1f} %",
        )
        for name, each in reports.items()
    ]
    console.print(numbers_table(title, headings, shown))
    rows = f"{len(split.X_train)} training rows, {len(split.X_test)} held-out rows"
    (measure,) = report.summary["audit"]["measures"]
    console.print(
        f"{rows}, tolerance {tolerance:g}. MMD^2: how different the projected groups are as distributions. Random "
        f"groups of these sizes would differ by about {fair.chance_level_:.4f} on the training rows and "
        f"{measure['after']['chance_level']:.4f} on the held-out ones. Parity gap: the difference in positive "
        "predictions between the groups, for a support vector machine trained on the projected training rows. The age "
        "group is one of the columns, as in the paper."
    )
    console.print(f"picture: {plain(str(picture)) if can_draw else 'needs fairpca[plot]'}")
    console.print(f"report:  {plain(str(page))}")
    return 0


def _draw(models: dict[str, Any], reports: dict[str, ProjectionReport], split: Split, path: Path) -> None:
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


def _write_report(fair: FairPCA, pca: PCA, split: Split, features: list[str], path: Path) -> Report:
    """Write the page that `fairpca fit` writes, of the held-out rows."""
    settings = {"standardize": False, "bandwidth": fair.bandwidth_, "random_state": fair.random_state}
    trade_off = FairPCAPath(FairPCA(2, **settings)).fit(split.X_train, sensitive_features=_age(split.a_train))
    about = About(
        data="German Credit, as in the paper: the age group is one of the columns",
        held_out=len(split.X_test) / (len(split.X_train) + len(split.X_test)),
        command=f"fairpca demo --tolerance {fair.tolerance:g} --seed {fair.random_state}",
        features=features,
    )
    people = {"sensitive_features": _age(split.a_test), "path": trade_off, "before": pca}
    return make_report(fair, split.X_test, split.y_test, **people, about=about, file=path)


def _age(groups: AnyArray) -> dict[str, AnyArray]:
    return {"age": np.where(groups == 1, "25 or older", "younger than 25")}
