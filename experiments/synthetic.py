"""Samples with known differences: Figure 1, growing dimension, and two meanings of fair PCA."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.fits import ELLIPSE_ROWS, PLAIN_PCA, Method, fair_pca, fpca, sample_of
from experiments.output import MISSING, PUBLISHED, bullets, panels, spread, table, unconverged
from experiments.study import Experiment, Fit, Settings
from fairpca.plots import ProjectionDisplay
from fairpca.plots.style import MARKERS, PALETTE, quiet

# The published code starts this experiment, and no other, at a tenth of the usual penalty.
OF_FIGURE1 = (PLAIN_PCA, fpca(0.0, 0.01), fpca(0.3, 0.01), fair_pca(1e-5, rho_scale=0.1))
IN_TEXT, IN_FILE = 150, 5000
"""Rows of each group in the text, and in the published file."""

MOMENTS = {"exact": "moments equal in the sample", "drawn": "moments as drawn"}

STRICT, RELAXED, EQUAL_MEANS = fair_pca(1e-5), fair_pca(1e-3), fpca(0.0, 0.01)
DIMENSIONS, BEYOND, QUICK_DIMENSIONS = tuple(range(20, 101, 10)), (200, 400), (20, 50, 100)
"""Dimensions of the paper, further ones, and those of a quick run."""

VARIANTS = {"text": "data as in the text", "published": "data as in the published code"}
COMPARED = ("published", "difference")

ELLIPSES = (
    Method("ReconstructionFairPCA", "reconstruction"),
    fair_pca(5e-3)._replace(name="FairPCA"),
)


def samples(settings: Settings) -> list[tuple[int, str]]:
    """Return rows a group, those of the file not in a quick run, with both kinds of moments."""
    return list(product((IN_TEXT,) if settings.quick else (IN_TEXT, IN_FILE), MOMENTS))


def figure1_fits(settings: Settings) -> list[Fit]:
    """Return a fit for each sample and method."""
    return [
        Fit(
            {"n_per_group": size, "moments": moments, "method": method.name},
            ("synthetic1", size, moments),
            method,
            n_components=2,
        )
        for size, moments in samples(settings)
        for method in OF_FIGURE1
    ]


def show_figure1(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a figure and a table for each sample."""
    figures, captions, tables, failed = {}, {}, {}, []
    for size, moments in samples(settings):
        runs = frame[(frame["n_per_group"] == size) & (frame["moments"] == moments)]
        stem, title = f"figure1_{size}_{moments}", f"{size} rows a group, {MOMENTS[moments]}"
        figures[stem] = clouds(size, moments, runs)
        captions[stem] = (
            f"Synthetic data 1 with {title}: the sample, and its projections to d = 2. The groups differ along the "
            "diagonal; only a projection without it makes them alike."
        )
        tables[title] = table(
            [_figure1_cells(line, size) for _, line in runs.iterrows()],
            ["method", "variance %", *COMPARED, "MMD²", *COMPARED, "converged"],
        )
        failed += [
            f"{title}, {method.name}: {sentence}"
            for method in OF_FIGURE1
            if (sentence := unconverged(runs[runs["method"] == method.name], method.tolerance))
        ]
    return figures, {"captions": captions, "tables": tables, "failed": bullets(failed)}


def _figure1_cells(line: pd.Series, size: int) -> list[str]:
    cells = [line["method"]]
    published = PUBLISHED["figure1"] if (size, line["method"]) == (IN_FILE, OF_FIGURE1[-1].name) else {}
    for column, digits in (("variance_percent_train", ".2f"), ("mmd2_train", ".2g")):
        own, known = line[column], published.get(column)
        cells.append(f"{own:{digits}}")
        cells += [MISSING, MISSING] if known is None else [f"{known:{digits}}", f"{own - known:+{digits}}"]
    return [*cells, "yes" if line["converged"] else "no"]


def clouds(size: int, moments: str, runs: pd.DataFrame) -> Figure:
    """Draw a sample and its projections."""
    rows = sample_of("synthetic1", size, moments)
    X, groups, names = rows.X_train, rows.a_train, np.array(["Gaussian", "mixture"])
    figure = Figure(figsize=(13, 8), layout="constrained")
    cloud: Any = figure.add_subplot(2, 3, 1, projection="3d")
    for index, name in enumerate(names):
        label = f"{name} ({int(np.sum(groups == index))})"
        style = {"color": PALETTE[index], "marker": MARKERS[index], "linewidths": 0, "rasterized": True}
        cloud.scatter(*X[groups == index].T, s=12, alpha=0.5, label=label, depthshade=False, **style)
    cloud.set(title="sample, standardised", xlabel="$x_1$", ylabel="$x_2$", zlabel="$x_3$")
    cloud.set_box_aspect(None, zoom=0.85)
    for place, line in enumerate(runs.itertuples(), start=2):
        ax = figure.add_subplot(2, 3, place)
        ProjectionDisplay(X @ line.components.T, names[groups]).plot(ax=ax, alpha=0.5, s=12, rasterized=True)
        ax.get_legend().remove()
        ax.set_aspect("equal", "datalim")
        kept = f"{line.variance_percent_train:.1f} % of variance, MMD² = {line.mmd2_train:.2g}"
        ax.set_title(f"{line.method}\n{kept}")
    figure.legend(*cloud.get_legend_handles_labels(), frameon=False, fontsize=12, loc=(0.76, 0.24))
    return figure


def synthetic2_fits(settings: Settings) -> list[Fit]:
    """Return a fit for each variant of the data, dimension, split and method; FPCA only as far as the paper goes."""
    dimensions = settings.dimensions or (QUICK_DIMENSIONS if settings.quick else DIMENSIONS + BEYOND)
    return [
        Fit(
            {"variant": variant, "p": p, "method": method.name, "split": split},
            ("synthetic2", variant, p),
            method,
            n_components=5,
            seed=split,
        )
        for variant in VARIANTS
        for p in dimensions
        for split in range(settings.splits)
        for method in (PLAIN_PCA, *([EQUAL_MEANS] if p <= DIMENSIONS[-1] else []), RELAXED, STRICT)
    ]


def show_synthetic2(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return a figure and the tables of each variant, and what is known of the published code."""
    figures, tables, failed = {}, {}, []
    for variant, runs in frame.groupby("variant", sort=False):
        figures[f"synthetic2_{variant}"] = curves(variant, runs)
        columns = {"variance_percent_test": 2, "mmd2_test": 4}
        tables[variant] = [_by_dimension(runs, column, digits) for column, digits in columns.items()]
        means = runs.groupby(["variant", "p", "method"], sort=False)["seconds"].mean().reset_index()
        tables[variant].append(_by_dimension(means, "seconds", 2))
        for p in runs["p"].unique():
            for method in (RELAXED, STRICT):
                of_method = runs[(runs["p"] == p) & (runs["method"] == method.name)]
                if sentence := unconverged(of_method, method.tolerance):
                    failed.append(f"{VARIANTS[variant]}, p = {p}, {method.name}: {sentence}")
    compared = table(
        list(_beside_published(frame[frame["variant"] == "published"])),
        ["run", "variance %", *COMPARED, "s", *COMPARED],
    )
    values = {"dimensions": frame["p"].unique().tolist(), "variants": VARIANTS, "tables": tables}
    return figures, values | {"compared": compared, "failed": bullets(failed)}


def _by_dimension(runs: pd.DataFrame, column: str, digits: int) -> str:
    cells = runs.groupby(["p", "method"])[column].apply(lambda values: spread(values.tolist(), digits))
    names = runs["method"].unique()
    rows = [[f"p = {p}", *(cells.get((p, name), MISSING) for name in names)] for p in runs["p"].unique()]
    return table(rows, ["dimension", *names])


def _beside_published(frame: pd.DataFrame) -> Iterator[list[str]]:
    for name, known in PUBLISHED["synthetic2_seconds"].items():
        for p, seconds in known.items():
            runs = frame[(frame["method"] == name) & (frame["p"] == int(p))]
            if len(runs):
                kept, own = runs["variance_percent_train"], runs["seconds"].mean()
                share = PUBLISHED["synthetic2_variance_percent_train"].get(p) if name == STRICT.name else None
                compared = [MISSING] * 2 if share is None else [f"{share:.1f}", f"{kept.mean() - share:+.2f}"]
                times = [f"{own:.2f}", f"{seconds:.2f}", f"{own - seconds:+.2f}"]
                yield [f"{name}, p = {p}", spread(kept.tolist(), 2), *compared, *times]


def curves(variant: str, frame: pd.DataFrame) -> Figure:
    """Draw variance, MMD^2 and seconds against p, seconds of the published code hollow."""
    figure, axes = panels(1, 3, (4.8, 3.9))
    for index, (name, runs) in enumerate(frame.groupby("method", sort=False)):
        look: dict[str, Any] = {"color": PALETTE[index], "marker": MARKERS[index], "markersize": 5}
        by_dimension = runs.groupby("p", sort=False)
        for ax, column in zip(axes, ("variance_percent_test", "mmd2_test"), strict=False):
            mean, deviation = by_dimension[column].mean(), by_dimension[column].std().fillna(0.0)
            ax.plot(mean.index, mean, label=name, **look)
            band = {"color": PALETTE[index], "alpha": 0.2, "linewidth": 0}
            ax.fill_between(mean.index, mean - deviation, mean + deviation, **band)
        axes[2].plot(by_dimension["seconds"].mean(), **look)
        known = PUBLISHED["synthetic2_seconds"].get(name) if variant == "published" else None
        if known:
            look |= {"linestyle": "none", "fillstyle": "none", "markersize": 9}
            axes[2].plot([int(p) for p in known], list(known.values()), label=f"{name}, published code", **look)
            axes[2].legend(frameon=False)
    axes[0].set(ylabel="variance explained, test rows (%)", ylim=(0, None))
    axes[1].set(ylabel="MMD², test rows", yscale="log")
    axes[2].set(ylabel="seconds of a fit", yscale="log")
    for ax in axes:
        ax.set_xlabel("dimension p")
        quiet(ax)
    axes[0].legend(frameon=False)
    figure.suptitle(VARIANTS[variant])
    return figure


def contrast_fits(settings: Settings) -> list[Fit]:
    """Return a fit for each meaning."""
    return [Fit({"method": method.name}, ("ellipses",), method, n_components=1) for method in ELLIPSES]


def group_losses(X: np.ndarray, groups: np.ndarray, components: np.ndarray) -> list[float]:
    """Return for each group the mean squared reconstruction error above the least possible in as many dimensions."""
    losses = []
    for label in np.unique(groups):
        rows = X[groups == label]
        variances = np.linalg.eigvalsh(np.cov(rows.T, bias=True))[::-1]
        losses.append(float(variances[: len(components)].sum() - np.var(rows @ components.T, axis=0).sum()))
    return losses


def judged(settings: Settings, frame: pd.DataFrame) -> pd.DataFrame:
    """Return both methods measured by both goals."""
    rows = sample_of("ellipses")
    losses = np.array([group_losses(rows.X_train, rows.a_train, each) for each in frame["components"]])
    directions = np.array([each[0] for each in frame["components"]])
    return pd.DataFrame(
        {
            "method": frame["method"],
            "converged": frame["converged"],
            "direction_1": directions[:, 0],
            "direction_2": directions[:, 1],
            "loss_group_0": losses[:, 0],
            "loss_group_1": losses[:, 1],
            "variance_percent": frame["variance_percent_train"],
            "mmd2": frame["mmd2_train"],
        }
    )


def show_contrast(settings: Settings, frame: pd.DataFrame) -> tuple[dict[str, Figure], dict[str, Any]]:
    """Return the rows with both directions, the projections on each, and a table of both goals."""
    rows, names = sample_of("ellipses"), np.array(["A = 0", "A = 1"])
    X, groups = rows.X_train, rows.a_train
    figure, (plane, *histograms) = panels(1, 3, (5.0, 4.2))
    ProjectionDisplay(X, names[groups]).plot(ax=plane, alpha=0.35)
    lines = list(judged(settings, frame).itertuples())
    styles = ((PALETTE[3], "--"), (PALETTE[2], "-"))
    for line, ax, (color, style) in zip(lines, histograms, styles, strict=True):
        direction = (line.direction_1, line.direction_2)
        plane.axline((0, 0), direction, color=color, linestyle=style, linewidth=2.2, label=line.method)
        values = X @ direction
        bins = np.linspace(values.min(), values.max(), 41).tolist()
        for index, name in enumerate(names):
            ax.hist(values[groups == index], bins, alpha=0.55, color=PALETTE[index], label=str(name))
        losses = f"losses of the groups {line.loss_group_0:.2f} and {line.loss_group_1:.2f}"
        ax.set(xlabel="component 1", ylabel="rows", title=f"{line.method}: MMD² = {line.mmd2:.2g}\n{losses}")
        ax.legend(frameon=False)
        quiet(ax)
    plane.set(xlabel="$x_1$", ylabel="$x_2$", title="rows and directions")
    plane.set_aspect("equal", "datalim")
    plane.legend(frameon=False, loc="upper center", ncols=2, fontsize=8)
    cells = [
        [
            line.method,
            f"({line.direction_1:.3f}, {line.direction_2:.3f})",
            *(f"{loss:.3f}" for loss in (line.loss_group_0, line.loss_group_1)),
            *(f"{line.variance_percent:.1f}", f"{line.mmd2:.2g}", "yes" if line.converged else "no"),
        ]
        for line in lines
    ]
    header = ["method", "direction", "loss, A = 0", "loss, A = 1", "variance %", "MMD²", "converged"]
    values = {"goals": table(cells, header), "n_rows": ELLIPSE_ROWS, "tolerance": ELLIPSES[1].tolerance}
    return {"contrast": figure}, values


FIGURE_1 = Experiment(
    "figure1",
    figure1_fits,
    show_figure1,
    keys=("n_per_group", "moments", "method"),
    quantities=("variance_percent_train", "mmd2_train"),
)
SYNTHETIC_2 = Experiment(
    "synthetic2",
    synthetic2_fits,
    show_synthetic2,
    keys=("variant", "p", "method"),
    quantities=("variance_percent_test", "variance_percent_train", "mmd2_test", "mmd2_train", "converged"),
)
CONTRAST = Experiment(
    "contrast",
    contrast_fits,
    show_contrast,
    keys=("method",),
    quantities=("loss_group_0", "loss_group_1", "variance_percent", "mmd2"),
    runs=judged,
)
