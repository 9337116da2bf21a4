"""What an experiment is made of."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fairpca.paper._data import DATA_NAMES
from fairpca.paper._page import Page
from fairpca.paper._results import Results, Row
from fairpca.paper._tasks import Task

QUICK_SPLITS = 2


@dataclass(frozen=True)
class Settings:
    """How much of the experiments is run.

    Attributes
    ----------
    splits : int
        Number of random splits.
    quick : bool
        Leave the expensive settings out.
    data : tuple of str
        Data sets.
    n_components : tuple of int
        Dimensions d of Table 1.
    dimensions : tuple of int or None
        Dimensions p of synthetic data 2; None takes those of the paper.
    data_home : str or None
        Where raw files are cached.
    """

    splits: int = 10
    quick: bool = False
    data: tuple[str, ...] = DATA_NAMES
    n_components: tuple[int, ...] = (2, 10)
    dimensions: tuple[int, ...] | None = None
    data_home: str | None = None


@dataclass(frozen=True)
class Drawing:
    """A figure with the name of its files and its caption."""

    stem: str
    caption: str
    figure: Any


@dataclass(frozen=True)
class Experiment:
    """One of the published experiments.

    Attributes
    ----------
    name, title : str
        Short name, and what its page is called.
    keys : tuple of str
        Columns of a run that tell settings apart.
    quantities : tuple of str
        Columns that are summarised over the runs of a setting.
    tasks : callable
        Returns the tasks for settings.
    data : callable
        Returns the names of the data sets that are needed.
    draw : callable
        Makes the figures from settings and results.
    describe : callable
        Fills the page from settings and results.
    runs : callable
        Returns the lines of the runs file from settings and results; by default the rows of the results.
    annotate : callable
        Adds published numbers to a line of the summary; by default nothing.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    quantities: tuple[str, ...]
    tasks: Callable[[Settings], list[Task]]
    draw: Callable[[Settings, Results], Iterable[Drawing]]
    describe: Callable[[Page, Settings, Results], None]
    data: Callable[[Settings], Sequence[str]] = lambda settings: ()
    runs: Callable[[Settings, Results], list[Row]] = lambda settings, results: results.rows
    annotate: Callable[[Row], Row] = lambda row: row
