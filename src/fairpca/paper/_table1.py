"""Table 1: three data sets, two dimensions, five methods, ten splits; beside them the default solver."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from typing import Any

from fairpca._utils.extras import require
from fairpca.paper import _notes as notes
from fairpca.paper._compare import MARK_MEANING, beside, with_deviation
from fairpca.paper._data import TITLES
from fairpca.paper._experiment import Drawing, Experiment, Settings
from fairpca.paper._methods import Method
from fairpca.paper._page import Bullets, Heading, Page, Paragraph, Table
from fairpca.paper._published import NOT_CONVERGED, table1
from fairpca.paper._results import Results, Row, Spread
from fairpca.paper._tasks import Task
from fairpca.paper._uci import (
    BUDGET_RELAXED,
    BUDGET_STRICT,
    FPCA_AS_PRINTED,
    RELAXED,
    STRICT,
    table1_methods,
    uci_task,
)
from fairpca.paper._writing import panels
from fairpca.plots.style import MARKERS, PALETTE, quiet

_PUBLISHED_COLUMN = {
    "variance_percent_test": "variance_percent",
    "mmd2_test": "mmd2",
    "accuracy_percent_paper": "accuracy_percent",
    "accuracy_percent_holdout": "accuracy_percent",
    "dp_paper": "dp",
    "dp_holdout": "dp",
}
_DIGITS = {"variance_percent": 2, "accuracy_percent": 2, "mmd2": 3, "dp": 2, "eop": 2, "eod": 2}
_PUBLISHED_PROTOCOL = {
    "variance %": "variance_percent_test",
    "accuracy %": "accuracy_percent_paper",
    "MMD²": "mmd2_test",
    "parity gap": "dp_paper",
}
_HELD_OUT_PROTOCOL = {"accuracy %": "accuracy_percent_holdout", "parity gap": "dp_holdout"}
_LEGEND_ENTRY = 1.9
"""Inches that the longest name of a method takes in the legend."""
_BESIDES = {"eq. opportunity": "eop_holdout", "eq. odds": "eod_holdout"}
_OF_THE_PAPER = [method for method in table1_methods(10) if method.kind != "budget"]
_LOOKS = dict(zip(_OF_THE_PAPER, zip(PALETTE, MARKERS, strict=True), strict=True))
# The colour tells the tolerance, the shape the solver.
_LOOKS |= {BUDGET_RELAXED: (_LOOKS[RELAXED][0], "X"), BUDGET_STRICT: (_LOOKS[STRICT][0], "*")}


def methods(settings: Settings, n_components: int) -> list[Method]:
    """Return the methods that are run: in a quick run at d > 2 without the strict ones."""
    left_out = {STRICT, BUDGET_STRICT} if settings.quick and n_components > 2 else set()
    return [method for method in table1_methods(n_components) if method not in left_out]


def tasks(settings: Settings) -> list[Task]:
    """Return a task for each data set, dimension, split and method."""
    return [
        uci_task(settings, data, d, method, seed)
        for data in settings.data
        for d in settings.n_components
        for seed in range(settings.splits)
        for method in methods(settings, d)
    ]


def annotate(row: Row) -> Row:
    """Add the published numbers to a line of the summary."""
    cells = table1(row["data"], row["n_components"], row["method"])
    published = cells.get(_PUBLISHED_COLUMN.get(row["quantity"], ""))
    return row | {
        "published_mean": None if published is None else published.mean,
        "published_standard_deviation": None if published is None else published.deviation,
        "difference": None if published is None else row["mean"] - published.mean,
    }


def describe(page: Page, settings: Settings, results: Results) -> None:
    """Fill the page."""
    page.add(
        Paragraph(
            f"{settings.splits} random 70-30 splits of each data set (seeds 0 to {settings.splits - 1}), standardised "
            "with the training rows. Everything is measured on the test rows: variance relative to their covariance, "
            "plug-in MMD² with the sigma of the training rows."
        ),
        Paragraph(notes.SOLVERS),
        Paragraph(MARK_MEANING),
    )
    if settings.quick:
        names = f"{STRICT.name} and {BUDGET_STRICT.name}"
        page.add(Paragraph(f"Quick run: {names} are left out for d > 2, where they take up to minutes a split."))
    for d in settings.n_components:
        for data in settings.data:
            runs = results.where(data=data, n_components=d)
            page.add(Heading(f"{TITLES[data]}, d = {d}"), *_tables(settings, runs, data, d))
    page.add(Heading("Runs that did not converge"), _unconverged(settings, results))
    page.add(
        Heading("Where the published protocol differs from the text"),
        Bullets(
            [
                *(notes.CLASSIFIER, notes.GAPS, notes.BANDWIDTH, notes.OBJECTIVE, notes.START, notes.SUBSOLVER),
                *(notes.FPCA_FORM, notes.FPCA_WEIGHT, notes.COMPAS_RANK, notes.ATTRIBUTE, notes.ROWS),
            ]
        ),
    )


def _tables(settings: Settings, results: Results, data: str, d: int) -> list[Table]:
    published, held_out = [], []
    for method in methods(settings, d):
        runs = results.where(method=method.name)
        published.append([method.name, *_cells(runs, data, d, method, _PUBLISHED_PROTOCOL)])
        others = [_own(runs, column) for column in _BESIDES.values()]
        train = f"{Spread.of(runs.column('mmd2_train')).mean:.1e}"
        converged = f"{sum(runs.column('converged'))} of {len(runs.rows)}"
        held_out.append([method.name, *_cells(runs, data, d, method, _HELD_OUT_PROTOCOL), *others, train, converged])
    return [
        Table("Published protocol (the classifier sees the test rows)", _header(_PUBLISHED_PROTOCOL), published),
        Table(
            "Held-out protocol (the classifier is trained on the training rows)",
            [*_header(_HELD_OUT_PROTOCOL), *_BESIDES, "MMD² train", "converged"],
            held_out,
        ),
    ]


def _header(columns: dict[str, str]) -> list[str]:
    return ["method", *(heading for name in columns for heading in (name, "published", "difference"))]


def _cells(runs: Results, data: str, d: int, method: Method, columns: dict[str, str]) -> Iterator[str]:
    published = table1(data, d, method.name)
    for column in columns.values():
        name = _PUBLISHED_COLUMN[column]
        yield from beside(Spread.of(runs.column(column)), published.get(name), _DIGITS[name])


def _own(runs: Results, column: str) -> str:
    spread = Spread.of(runs.column(column))
    return with_deviation(spread.mean, spread.deviation, _DIGITS[column.partition("_")[0]])


def _unconverged(settings: Settings, results: Results) -> Bullets | Paragraph:
    sentences = []
    for d in settings.n_components:
        for data in settings.data:
            for method in methods(settings, d):
                runs = results.where(data=data, n_components=d, method=method.name)
                sentence = notes.unconverged(runs, method)
                if sentence is not None:
                    too = " The paper marks it too." if (data, d, method.name) in NOT_CONVERGED else ""
                    sentences.append(f"{TITLES[data]}, d = {d}, {method.name}: {sentence}{too}")
    return Bullets(sentences) if sentences else Paragraph("None.")


def draw(settings: Settings, results: Results) -> Iterator[Drawing]:
    """Draw variance against MMD², own means filled and published ones hollow."""
    figure, axes = panels(len(settings.n_components), len(settings.data), (4.6, 3.8))
    panel = iter(axes)
    for d in settings.n_components:
        for data in settings.data:
            ax = next(panel)
            _trade_off(ax, results.where(data=data, n_components=d), data, d)
            ax.set_title(f"{TITLES[data]}, d = {d}")
    drawn = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    drawn["published"] = drawn.pop("published")
    columns = min((len(drawn) + 1) // 2, int(figure.get_figwidth() / _LEGEND_ENTRY))
    figure.legend(drawn.values(), drawn.keys(), frameon=False, loc="outside lower center", ncols=columns)
    yield Drawing(
        "table1",
        "Variance kept against MMD² on the test rows, means over the splits: filled own, hollow published. Budget is "
        "the default solver.",
        figure,
    )


def _trade_off(ax: Any, results: Results, data: str, d: int) -> None:
    hollow = {"fillstyle": "none", "linestyle": "none", "markersize": 8}
    for method, (color, marker) in _LOOKS.items():
        runs = results.where(method=method.name)
        if not runs.rows:
            continue
        x, y = Spread.of(runs.column("mmd2_test")).mean, Spread.of(runs.column("variance_percent_test")).mean
        look = {"color": color, "marker": marker}
        ax.plot(x, y, label=method.name, linestyle="none", markersize=8, **look)
        published = table1(data, d, method.name)
        if published and method != FPCA_AS_PRINTED:
            ax.plot(published["mmd2"].mean, published["variance_percent"].mean, **hollow, **look)
    ax.plot([], [], color="0.4", marker="o", label="published", **hollow)
    _readable_log_axis(ax)
    ax.set_xlabel("MMD², test rows")
    ax.set_ylabel("variance kept (%)")
    quiet(ax)


def _readable_log_axis(ax: Any) -> None:
    ticker = require("matplotlib.ticker", "plot")
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())


EXPERIMENT = Experiment(
    name="table1",
    title="Table 1: variance, MMD² and parity of PCA, FPCA and FairPCA",
    keys=("data", "n_components", "method"),
    quantities=(
        *("variance_percent_test", "variance_percent_train", "mmd2_test", "mmd2_train"),
        *("accuracy_percent_holdout", "dp_holdout", "eop_holdout", "eod_holdout"),
        *("accuracy_percent_paper", "dp_paper", "eop_paper", "eod_paper", "converged"),
    ),
    tasks=tasks,
    draw=draw,
    describe=describe,
    data=lambda settings: settings.data,
    annotate=annotate,
)
