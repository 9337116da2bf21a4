"""Biplots of the first split at d = 2."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator

import numpy as np

from fairpca.metrics import communality
from fairpca.paper import _notes as notes
from fairpca.paper._communality import METHODS
from fairpca.paper._data import TITLES, load, sensitive_index, split
from fairpca.paper._experiment import Drawing, Experiment, Settings
from fairpca.paper._page import Bullets, Heading, Page, Paragraph, Table
from fairpca.paper._results import Outcome, Results, Row
from fairpca.paper._tasks import Task
from fairpca.paper._uci import uci_task
from fairpca.paper._writing import panels
from fairpca.plots import BiplotDisplay

_SPLIT = 0


def tasks(settings: Settings) -> list[Task]:
    """Return those fits of Table 1 that the biplots show."""
    return [uci_task(settings, data, 2, method, _SPLIT) for data in settings.data for method in METHODS]


def runs(settings: Settings, results: Results) -> list[Row]:
    """Return a line for each feature: its loadings and its communality."""
    return [line for outcome in results.outcomes for line in _loadings(settings, outcome)]


def _loadings(settings: Settings, outcome: Outcome) -> Iterator[Row]:
    components = outcome.arrays["components"]
    names = load(outcome.row["data"], settings.data_home).feature_names
    for name, loading, share in zip(names, components.T.tolist(), communality(components).tolist(), strict=True):
        yield {
            "data": outcome.row["data"],
            "method": outcome.row["method"],
            "feature": name,
            "loading_1": loading[0],
            "loading_2": loading[1],
            "communality": share,
        }


def draw(settings: Settings, results: Results) -> Iterator[Drawing]:
    """Draw one figure for each data set, a panel for each method."""
    for data in settings.data:
        bunch, rows = load(data, settings.data_home), split(data, _SPLIT, settings.data_home)
        groups = np.array(bunch.sensitive_values)[rows.a_train]
        shown = results.where(data=data).outcomes
        figure, axes = panels(len(shown), 1, (9.0, 4.6))
        for ax, outcome in zip(axes, shown, strict=True):
            components = outcome.arrays["components"]
            projections = rows.X_train @ components.T
            index = sensitive_index(data, settings.data_home)
            display = BiplotDisplay(projections, groups, components, bunch.feature_names, index)
            # As vectors, thousands of points would make the file slow to open.
            display.plot(ax=ax, rasterized=True)
            ax.set_title(f"{TITLES[data]}, {outcome.row['method']}")
        caption = (
            f"{TITLES[data]}, training rows of split {_SPLIT}: projections by group, and the loadings of the ten "
            f"features of highest communality and of {bunch.sensitive_name}."
        )
        yield Drawing(f"biplots_{data}", caption, figure)


def describe(page: Page, settings: Settings, results: Results) -> None:
    """Fill the page."""
    page.add(
        Paragraph(
            f"The fits of Table 1 at d = 2, split {_SPLIT}. An arrow points to the loadings of a feature; in each "
            "panel all arrows are scaled alike to fill it. The arrow of the protected attribute is highlighted: the "
            "shorter, the less of it the components use. Signs of components are fixed by making the largest loading "
            "positive, so a published picture may be this one mirrored or turned."
        )
    )
    for data in settings.data:
        page.add(Heading(TITLES[data]), _strongest(settings, results.where(data=data)))
    page.add(
        Heading("Beside the paper"),
        Paragraph("The paper shows these pictures without numbers; there is nothing to subtract."),
        Bullets([notes.ROWS, notes.ATTRIBUTE]),
    )


def _strongest(settings: Settings, results: Results) -> Table:
    rows = []
    for outcome in results.outcomes:
        data = outcome.row["data"]
        bunch, shares = load(data, settings.data_home), communality(outcome.arrays["components"])
        order = np.argsort(-shares, kind="stable")
        index = sensitive_index(data, settings.data_home)
        first = ", ".join(bunch.feature_names[j] for j in order[:3])
        rank = int(np.flatnonzero(order == index)[0]) + 1
        rows.append([outcome.row["method"], first, f"{shares[index]:.3f}", f"{rank} of {len(shares)}"])
    header = ["method", "highest communality", "protected attribute", "its place"]
    return Table("Communality of the features", header, rows)


EXPERIMENT = Experiment(
    name="biplots",
    title="Biplots at d = 2",
    keys=("data", "method", "feature"),
    quantities=("loading_1", "loading_2", "communality"),
    tasks=tasks,
    draw=draw,
    describe=describe,
    data=lambda settings: settings.data,
    runs=runs,
)
