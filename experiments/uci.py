"""COMPAS, German credit and Adult: Table 1, and what communalities, biplots and spectra show of its fits."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import ticker
from matplotlib.figure import Figure

from experiments.fits import PLAIN_PCA, TITLES, Method, fair_pca, fpca, load, sample_of
from experiments.output import PUBLISHED, beside, bullets, panels, spread, table, unconverged
from experiments.study import Experiment, Fit, Settings
from fairpca.metrics import communality
from fairpca.plots import BiplotDisplay, CommunalityDisplay, SpectrumDisplay
from fairpca.plots.style import MARKERS, PALETTE, quiet

# Strict answers need the null axes of the one-hot columns, which the published start brings in.
RELAXED, STRICT = fair_pca(1e-3, init="auxiliary"), fair_pca(1e-6, init="auxiliary")
BUDGET_RELAXED, BUDGET_STRICT = fair_pca(1e-3, "budget"), fair_pca(1e-6, "budget")
EQUAL_MEANS, AS_PRINTED = fpca(0.0, 0.01), fpca(0.0, 0.1)
OF_COMPONENTS = (PLAIN_PCA, EQUAL_MEANS, RELAXED)
"""Methods whose components are looked at."""

OF_SPECTRA = (EQUAL_MEANS, AS_PRINTED, RELAXED)
OF_THE_PAPER = (PLAIN_PCA, fpca(0.1, 0.01), EQUAL_MEANS, AS_PRINTED, RELAXED, STRICT)
LOOKS = dict(zip([method.name for method in OF_THE_PAPER], zip(PALETTE, MARKERS, strict=True), strict=True))
# The colour tells the tolerance, the shape the solver.
LOOKS |= {BUDGET_RELAXED.name: (LOOKS[RELAXED.name][0], "X"), BUDGET_STRICT.name: (LOOKS[STRICT.name][0], "*")}
LEGEND_ENTRY = 1.9
"""Inches that the longest name of a method takes in the legend."""

QUANTITIES = {
    "variance_percent_test": ("variance_percent", 2),
    "accuracy_percent_paper": ("accuracy_percent", 2),
    "mmd2_test": ("mmd2", 3),
    "dp_paper": ("dp", 2),
    "accuracy_percent_holdout": ("accuracy_percent", 2),
    "dp_holdout": ("dp", 2),
}
"""Columns that have published counterparts, what these are called, and digits after the point."""

TABLE1 = {(line["data"], line["n_components"], line["method"]): line for line in PUBLISHED["table1"]}
# At d = 10 the published matrices of the line that is printed as FPCA(0, 0.1) are those of mu = 0.01.
TABLE1 |= {(data, 10, EQUAL_MEANS.name): TABLE1[data, 10, AS_PRINTED.name] for data in TITLES}


def methods(settings: Settings, n_components: int) -> list[Method]:
    """Return the methods of Table 1 and the default solver; a quick run is without the strict ones at d > 2."""
    found = [*OF_THE_PAPER, BUDGET_RELAXED, BUDGET_STRICT]
    left_out = {AS_PRINTED} if n_components <= 2 else {STRICT, BUDGET_STRICT} if settings.quick else set()
    return [method for method in found if method not in left_out]


def fit_of(data: str, n_components: int, split: int, method: Method) -> Fit:
    """Return the fit to one split; the same for every experiment that needs it."""
    labels = {"data": data, "n_components": n_components, "method": method.name, "split": split}
    return Fit(labels, (data,), method, n_components, split)


def table1_fits(settings: Settings) -> list[Fit]:
    """Return a fit for each data set, dimension, split and method."""
    return [
        fit_of(data, d, split, method)
        for data in settings.data
        for d in settings.n_components
        for split in range(settings.splits)
        for method in methods(settings, d)
    ]


def cells_of(settings: Settings, frame: pd.DataFrame) -> Iterator[tuple[str, int, Method, pd.DataFrame]]:
    """Yield data set, dimension, method and their runs, in the order of the page."""
    for d in settings.n_components:
        for data in settings.data:
            of_data = frame[(frame["data"] == data) & (frame["n_components"] == d)]
            for method in methods(settings, d):
                yield data, d, method, of_data[of_data["method"] == method.name]


def show_table1(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return the picture of Table 1 and its tables in both protocols."""
    tables: dict[str, list[list[list[str]]]] = {}
    failed = []
    for data, d, method, runs in cells_of(settings, frame):
        published = TABLE1.get((data, d, method.name), {})
        cells = [
            beside(runs[column].tolist(), published.get(name), digits) for column, (name, digits) in QUANTITIES.items()
        ]
        # The last two columns are those of the held-out protocol.
        seen, held_out = [method.name, *chain(*cells[:-2])], [method.name, *chain(*cells[-2:])]
        held_out += [spread(runs[column].tolist(), 2) for column in ("eop_holdout", "eod_holdout")]
        held_out += [f"{runs['mmd2_train'].mean():.1e}", f"{runs['converged'].sum()} of {len(runs)}"]
        both = tables.setdefault(f"{TITLES[data]}, d = {d}", [[], []])
        both[0].append(seen)
        both[1].append(held_out)
        if sentence := unconverged(runs, method.tolerance):
            too = "" if published.get("converged", True) else " The paper marks it too."
            failed.append(f"{TITLES[data]}, d = {d}, {method.name}: {sentence}{too}")
    compared = ("published", "difference")
    headers = (
        [cell for name in ("variance %", "accuracy %", "MMD²", "parity gap") for cell in (name, *compared)],
        ["accuracy %", *compared, "parity gap", *compared, "eq. opportunity", "eq. odds", "MMD² train", "converged"],
    )
    shown = {
        title: [table(rows, ["method", *header]) for rows, header in zip(both, headers, strict=True)]
        for title, both in tables.items()
    }
    strict = f"{STRICT.name} and {BUDGET_STRICT.name}"
    return {"table1": trade_offs(settings, frame)}, {"tables": shown, "failed": bullets(failed), "strict": strict}


def trade_offs(settings: Settings, frame: pd.DataFrame) -> Figure:
    """Draw variance against MMD², own means filled and published ones hollow."""
    figure, axes = panels(len(settings.n_components), len(settings.data), (4.6, 3.8))
    panel = dict(zip([(d, data) for d in settings.n_components for data in settings.data], axes, strict=True))
    hollow = {"fillstyle": "none", "linestyle": "none", "markersize": 8}
    for data, d, method, runs in cells_of(settings, frame):
        color, marker = LOOKS[method.name]
        ax, look = panel[d, data], {"color": color, "marker": marker}
        means = runs["mmd2_test"].mean(), runs["variance_percent_test"].mean()
        ax.plot(*means, label=method.name, linestyle="none", markersize=8, **look)
        published = TABLE1.get((data, d, method.name))
        if published and method != AS_PRINTED:
            ax.plot(published["mmd2"][0], published["variance_percent"][0], **hollow, **look)
    for (d, data), ax in panel.items():
        ax.plot([], [], color="0.4", marker="o", label="published", **hollow)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
        ax.xaxis.set_minor_locator(ticker.NullLocator())
        ax.set(xlabel="MMD², test rows", ylabel="variance kept (%)", title=f"{TITLES[data]}, d = {d}")
        quiet(ax)
    drawn = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    drawn["published"] = drawn.pop("published")
    columns = min((len(drawn) + 1) // 2, int(figure.get_figwidth() / LEGEND_ENTRY))
    figure.legend(drawn.values(), drawn.keys(), frameon=False, loc="outside lower center", ncols=columns)
    return figure


def with_published(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the published numbers to the lines of a summary."""

    def published(line: pd.Series) -> list[float | None]:
        name, _ = QUANTITIES.get(line["quantity"], ("", 0))
        found = TABLE1.get((line["data"], line["n_components"], line["method"]), {}).get(name)
        return [*found, line["mean"] - found[0]] if found else [None] * 3

    columns = ["published_mean", "published_standard_deviation", "difference"]
    return summary.assign(**dict(zip(columns, zip(*summary.apply(published, axis=1), strict=True), strict=True)))


def communality_fits(settings: Settings) -> list[Fit]:
    """Return those fits of Table 1 that the box plots show."""
    return [
        fit_of(data, d, split, method)
        for data in settings.data
        for d in settings.n_components
        for split in range(settings.splits)
        for method in OF_COMPONENTS
    ]


def show_communality(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a figure for each data set, a panel for each dimension, and the means."""
    figures, rows, lowest, captions = {}, [], [], {}
    for data in settings.data:
        attribute = load(data, settings.data_home).sensitive_name
        figure, axes = panels(1, len(settings.n_components), (5.2, 4.0))
        for ax, d in zip(axes, settings.n_components, strict=True):
            runs = frame[(frame["data"] == data) & (frame["n_components"] == d)]
            values = {method.name: runs.loc[runs["method"] == method.name, "communality"] for method in OF_COMPONENTS}
            CommunalityDisplay({name: each.tolist() for name, each in values.items()}, attribute).plot(ax=ax)
            title = f"{TITLES[data]}, d = {d}"
            ax.set_title(title)
            rows.append([title, *(spread(each.tolist(), 3) for each in values.values())])
            name = min(values, key=lambda name: values[name].mean())
            lowest.append(f"{title}: here {name} has the smallest mean, {values[name].mean():.3f}.")
        figures[f"communality_{data}"] = figure
        captions[f"communality_{data}"] = f"Communality of {attribute} for {TITLES[data]} over the splits."
    means = table(rows, ["setting", *(method.name for method in OF_COMPONENTS)])
    return figures, {"captions": captions, "means": means, "lowest": bullets(lowest)}


def biplot_fits(settings: Settings) -> list[Fit]:
    """Return those fits of Table 1 that the biplots show: the first split at d = 2."""
    return [fit_of(data, 2, 0, method) for data in settings.data for method in OF_COMPONENTS]


def loadings(settings: Settings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each feature of each fit: its loadings and its communality."""
    parts = [
        pd.DataFrame(
            {
                "data": line.data,
                "method": line.method,
                "feature": load(line.data, settings.data_home).feature_names,
                "loading_1": line.components[0],
                "loading_2": line.components[1],
                "communality": communality(line.components),
            }
        )
        for line in frame.itertuples()
    ]
    return pd.concat(parts, ignore_index=True)


def show_biplots(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a figure for each data set, a panel for each method, and the features of highest communality."""
    figures, captions, tables = {}, {}, {}
    for data, runs in frame.groupby("data", sort=False):
        bunch, rows = load(data, settings.data_home), sample_of(data, data_home=settings.data_home)
        groups, index = np.array(bunch.sensitive_values)[rows.a_train], bunch.feature_names.index(bunch.sensitive_name)
        figure, axes = panels(len(runs), 1, (9.0, 4.6))
        strongest = []
        for ax, line in zip(axes, runs.itertuples(), strict=True):
            projections = rows.X_train @ line.components.T
            display = BiplotDisplay(projections, groups, line.components, bunch.feature_names, index)
            # As vectors, thousands of points would make the file slow to open.
            display.plot(ax=ax, rasterized=True)
            ax.set_title(f"{TITLES[data]}, {line.method}")
            order = np.argsort(-communality(line.components), kind="stable")
            first = ", ".join(bunch.feature_names[j] for j in order[:3])
            place = f"{order.tolist().index(index) + 1} of {len(order)}"
            strongest.append([line.method, first, f"{line.communality:.3f}", place])
        figures[f"biplots_{data}"] = figure
        captions[f"biplots_{data}"] = (
            f"{TITLES[data]}, training rows of split 0: projections by group, and the loadings of the ten features of "
            f"highest communality and of {bunch.sensitive_name}."
        )
        tables[TITLES[data]] = table(strongest, ["method", "highest communality", "protected attribute", "its place"])
    return figures, {"captions": captions, "tables": tables}


def leakage_fits(settings: Settings) -> list[Fit]:
    """Return those fits of Table 1 whose spectra are shown: German credit at d = 10."""
    return [fit_of("german", 10, split, method) for split in range(settings.splits) for method in OF_SPECTRA]


def eigenvectors(settings: Settings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each eigenvector of each fit."""
    parts = [
        pd.DataFrame(
            {
                "method": line.method,
                "split": line.split,
                "eigenvector": np.arange(1, len(line.eigenvalues) + 1),
                "eigenvalue": line.eigenvalues,
                "variance_percent": 100 * line.spectrum,
            }
        )
        for line in frame.itertuples()
    ]
    return pd.concat(parts, ignore_index=True)


def show_leakage(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a panel for each method, and how much variance is kept and could be."""
    figure, axes = panels(1, len(OF_SPECTRA), (4.8, 4.0), sharey=True)
    rows = []
    for ax, (name, runs) in zip(axes, frame.groupby("method", sort=False), strict=True):
        spectra = np.array(runs["spectrum"].tolist())
        SpectrumDisplay(spectra, 10, name).plot(ax=ax)
        ax.set_title(name)
        kept = 100 * spectra[:, :10].sum(axis=1)
        best = 100 * np.sort(spectra, axis=1)[:, -10:].sum(axis=1)
        rows.append([name, *(spread(values, 2) for values in (kept, best, best - kept))])
    header = ["method", "first 10 eigenvectors", "10 eigenvectors of most variance", "difference"]
    return {"leakage": figure}, {"shares": table(rows, header)}


TABLE_1 = Experiment(
    "table1",
    table1_fits,
    show_table1,
    keys=("data", "n_components", "method"),
    quantities=(
        *("variance_percent_test", "variance_percent_train", "mmd2_test", "mmd2_train"),
        *("accuracy_percent_holdout", "dp_holdout", "eop_holdout", "eod_holdout"),
        *("accuracy_percent_paper", "dp_paper", "eop_paper", "eod_paper", "converged"),
    ),
    annotate=with_published,
)
COMMUNALITY = Experiment(
    "communality",
    communality_fits,
    show_communality,
    keys=("data", "n_components", "method"),
    quantities=("communality",),
    runs=lambda settings, frame: frame[["data", "n_components", "method", "split", "converged", "communality"]],
)
BIPLOTS = Experiment(
    "biplots",
    biplot_fits,
    show_biplots,
    keys=("data", "method", "feature"),
    quantities=("loading_1", "loading_2", "communality"),
    runs=loadings,
)
LEAKAGE = Experiment(
    "leakage",
    leakage_fits,
    show_leakage,
    keys=("method", "eigenvector"),
    quantities=("eigenvalue", "variance_percent"),
    runs=eigenvectors,
)
