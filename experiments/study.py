"""What an experiment is, and how it is run: fits that are stored one by one, then tables, figures and a page."""
# SPDX-License-Identifier: MIT

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from joblib import Memory, Parallel, delayed, parallel_config
from matplotlib.figure import Figure
from rich.console import Console
from rich.progress import track

from experiments import fits
from experiments.fits import LOADERS, Method
from experiments.output import title_of, write_csv, write_figure, write_page
from fairpca import __version__

QUICK_SPLITS, SPLITS = 2, 10

STORE = ".fits"
"""Folder of the stored answers below that of the pages."""

NOT_IN_RUNS = ("seconds", "components", "eigenvalues", "spectrum")
"""What a fit returns beside the numbers that are the same on every repetition."""


@dataclass(frozen=True)
class Settings:
    """How much is run.

    Attributes
    ----------
    splits : int
        Number of random splits.
    quick : bool
        Leave the expensive settings out.
    data : tuple of str
        Data sets.
    n_components : tuple of int
        Dimensions d of Table 1 and of the communalities.
    dimensions : tuple of int
        Dimensions p of synthetic data 2; none for those of the paper and two beyond.
    data_home : str or None
        Where raw data are cached.
    """

    splits: int
    quick: bool = False
    data: tuple[str, ...] = tuple(LOADERS)
    n_components: tuple[int, ...] = (2, 10)
    dimensions: tuple[int, ...] = ()
    data_home: str | None = None


@dataclass(frozen=True)
class Fit:
    """A fit that an experiment needs; `labels` are the columns that tell it from others."""

    labels: dict[str, Any]
    sample: tuple[Any, ...]
    method: Method
    n_components: int
    seed: int = 0


@dataclass(frozen=True)
class Experiment:
    """One of the published experiments.

    Attributes
    ----------
    name : str
        Its name, and that of its page.
    fits : callable
        Returns the fits for settings.
    show : callable
        Returns figures by name and the values that fill the page, from settings and a frame of one line a fit.
    keys, quantities : tuple of str
        Columns that tell settings apart, and those that are summarised over the runs of each.
    runs : callable
        Makes the lines of the runs file from settings and the frame; by default they are its numbers.
    annotate : callable
        Adds published numbers to the summary; by default nothing.
    """

    name: str
    fits: Callable[[Settings], list[Fit]]
    show: Callable[[Settings, pd.DataFrame], tuple[dict[str, Figure], dict[str, Any]]]
    keys: tuple[str, ...]
    quantities: tuple[str, ...]
    runs: Callable[[Settings, pd.DataFrame], pd.DataFrame] = lambda settings, frame: frame
    annotate: Callable[[pd.DataFrame], pd.DataFrame] = lambda summary: summary


def run(experiments: Sequence[Experiment], output: Path, settings: Settings, jobs: int) -> list[Path]:
    """Run experiments and write their numbers, figures and pages, and an index of several.

    Each fit is stored as soon as it is finished: a run that was interrupted or killed goes on where it stopped, and
    experiments in one folder share their fits.

    Parameters
    ----------
    experiments : sequence of Experiment
        Which.
    output : Path
        Folder for the files; it is made if need be.
    settings : Settings
        How much is run.
    jobs : int
        Number of processes.

    Returns
    -------
    paths : list of Path
        The files written.
    """
    wanted = {experiment.name: experiment.fits(settings) for experiment in experiments}
    # Before the first file is written, and before processes would fetch the same file at once.
    for name in dict.fromkeys(each.sample[0] for needed in wanted.values() for each in needed):
        if name in LOADERS:
            fits.load(name, settings.data_home)
    output.mkdir(parents=True, exist_ok=True)
    stored = Memory(output / STORE, verbose=0).cache(fits.fit, ignore=["data_home"])
    paths: list[Path] = []
    for experiment in experiments:
        needed = wanted[experiment.name]
        frame = pd.DataFrame(_found(stored, needed, settings.data_home, jobs, experiment.name))
        timings = frame[[*needed[0].labels, "seconds"]]
        paths.append(write_csv(output / f"{experiment.name}_timings.csv", timings))
        paths += _written(experiment, settings, frame, output)
    if len(experiments) > 1:
        links = [f"- [{title_of(each.name)}]({each.name}.md)" for each in experiments]
        paths += write_page(output, "index", {"settings": settings, "links": "\n".join(links)})
    return paths


def _found(
    stored: Callable[..., dict[str, Any]], wanted: list[Fit], data_home: str | None, jobs: int, name: str
) -> list[dict[str, Any]]:
    """Return one line a fit, from where it is stored or else from a process that fits and stores it."""
    with parallel_config("loky", inner_max_num_threads=1):
        answers: Iterable[dict[str, Any]] = Parallel(n_jobs=jobs, return_as="generator", batch_size=1)(
            delayed(_answer)(
                os.getpid(), stored, each.sample, each.method, each.n_components, each.seed, data_home, __version__
            )
            for each in wanted
        )
        console = Console(stderr=True)
        answers = track(answers, name, len(wanted), console=console, transient=True, disable=not console.is_terminal)
        return [each.labels | answer for each, answer in zip(wanted, answers, strict=True)]


def _answer(parent: int, stored: Callable[..., dict[str, Any]], *arguments: Any) -> dict[str, Any]:
    if os.getpid() != parent:
        _end_with(parent)
    return stored(*arguments)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent: when that is killed, nobody waits for the answer any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _written(experiment: Experiment, settings: Settings, frame: pd.DataFrame, output: Path) -> list[Path]:
    runs = experiment.runs(settings, frame).drop(columns=list(NOT_IN_RUNS), errors="ignore")
    summary = experiment.annotate(_summary(runs, list(experiment.keys), list(experiment.quantities)))
    paths = [
        write_csv(output / f"{experiment.name}_runs.csv", runs),
        write_csv(output / f"{experiment.name}_summary.csv", summary),
    ]
    figures, values = experiment.show(settings, frame)
    for stem, figure in figures.items():
        paths += write_figure(output, stem, figure)
    return paths + write_page(output, experiment.name, {"settings": settings} | values)


def _summary(runs: pd.DataFrame, keys: list[str], quantities: list[str]) -> pd.DataFrame:
    """Return n, mean and standard deviation of each quantity for each combination of keys, in order of appearance."""
    numbers = runs[keys].join(runs[quantities].astype(float))
    tidy = numbers.groupby(keys, sort=False).agg(["count", "mean", "std"]).stack(0, future_stack=True)
    tidy.index.names = [*keys, "quantity"]
    tidy.columns = ["n", "mean", "standard_deviation"]
    return tidy.reset_index()
