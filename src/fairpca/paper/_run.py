"""Running experiments: tasks, files, pages."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from fairpca._utils.checks import check_name
from fairpca._utils.extras import require
from fairpca.paper import _biplots, _communality, _contrast, _figure1, _leakage, _synthetic2, _table1
from fairpca.paper._data import DATA_NAMES, load
from fairpca.paper._execute import ProgressCallback, execute
from fairpca.paper._experiment import QUICK_SPLITS, Experiment, Settings
from fairpca.paper._page import Bullets, Page, Paragraph, Picture
from fairpca.paper._results import Results, Row, summarise
from fairpca.paper._store import TaskStore
from fairpca.paper._writing import save_figure, write_csv

_EXPERIMENTS = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (_figure1, _synthetic2, _table1, _communality, _biplots, _leakage, _contrast)
}

EXPERIMENTS = (*_EXPERIMENTS, "all")
"""Names of the experiments."""

TASK_FOLDER = ".tasks"


def run(
    experiment: str,
    output: str | os.PathLike[str],
    *,
    splits: int | None = None,
    jobs: int = 1,
    quick: bool = False,
    data: Sequence[str] = DATA_NAMES,
    n_components: Sequence[int] = (2, 10),
    dimensions: Sequence[int] | None = None,
    data_home: str | os.PathLike[str] | None = None,
    callback: ProgressCallback | None = None,
) -> list[Path]:
    """Run a published experiment, or all of them, and write numbers, figures and pages.

    Every task is stored below `output` as soon as it is finished: a run that was interrupted goes on where it stopped
    when it is started again, and experiments in one folder share their fits. Stored answers are bound to the version
    of the package; delete the folder `.tasks` to start anew.

    Parameters
    ----------
    experiment : {"figure1", "synthetic2", "table1", "communality", "biplots", "leakage", "contrast", "all"}
        Which.
    output : path-like
        Folder for the files; it is made if need be.
    splits : int, default=None
        Number of random splits; None takes 10 as the paper, or 2 in a quick run.
    jobs : int, default=1
        Number of processes.
    quick : bool, default=False
        Fewer splits and settings; the pages say what is left out.
    data : sequence of {"compas", "german", "adult"}
        Data sets of table1, communality and biplots.
    n_components : sequence of int, default=(2, 10)
        Dimensions d of table1 and communality.
    dimensions : sequence of int, default=None
        Dimensions p of synthetic2; None takes those of the paper.
    data_home : path-like, default=None
        Where raw data are cached; see `fairpca.datasets.load_adult`.
    callback : callable, default=None
        Called with a `Progress` as tasks are finished.

    Returns
    -------
    paths : list of Path
        The files written. NAME_runs.csv has every run and NAME_summary.csv means and standard deviations; both are
        the same, byte for byte, whenever the same is run again. Seconds, which are not, stand in NAME_timings.csv.

    Raises
    ------
    OSError
        If `output` cannot be written to or, as `fairpca.datasets.DatasetUnavailableError`, raw data cannot be had.

    Examples
    --------
    >>> import tempfile
    >>> from fairpca.paper import run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = run("contrast", folder)
    >>> [path.name for path in paths][:2]
    ['contrast_runs.csv', 'contrast_summary.csv']
    """
    check_name("experiment", experiment, EXPERIMENTS)
    for name in data:
        check_name("data", name, DATA_NAMES)
    settings = Settings(
        splits=_at_least_one("splits", (QUICK_SPLITS if quick else 10) if splits is None else splits),
        quick=quick,
        data=tuple(data),
        n_components=tuple(n_components),
        dimensions=None if dimensions is None else tuple(dimensions),
        data_home=None if data_home is None else os.fspath(data_home),
    )
    _at_least_one("jobs", jobs)
    require("matplotlib.pyplot", "plot")
    require("jinja2", "report")
    folder = Path(output)
    _check_writable(folder)
    chosen = list(_EXPERIMENTS.values()) if experiment == "all" else [_EXPERIMENTS[experiment]]
    # Before the first file is written, and before workers would fetch the same file at once.
    for name in dict.fromkeys(name for item in chosen for name in item.data(settings)):
        load(name, settings.data_home)
    folder.mkdir(parents=True, exist_ok=True)
    store = TaskStore(folder / TASK_FOLDER)
    store.remove_leftovers()
    paths = [path for item in chosen for path in _run_one(item, settings, folder, store, jobs, callback)]
    if experiment == "all":
        paths += _index(chosen, settings).write(folder, "index")
    return paths


def _run_one(
    experiment: Experiment,
    settings: Settings,
    folder: Path,
    store: TaskStore,
    jobs: int,
    callback: ProgressCallback | None,
) -> list[Path]:
    results = execute(experiment.name, experiment.tasks(settings), store, jobs=jobs, callback=callback)
    rows = experiment.runs(settings, results)
    summary = [experiment.annotate(row) for row in summarise(rows, experiment.keys, experiment.quantities)]
    paths = [
        write_csv(folder / f"{experiment.name}_runs.csv", rows),
        write_csv(folder / f"{experiment.name}_summary.csv", summary),
        write_csv(folder / f"{experiment.name}_timings.csv", _timings(experiment, settings, results)),
    ]
    page = Page(experiment.title)
    experiment.describe(page, settings, results)
    pictures = []
    for drawing in experiment.draw(settings, results):
        paths += save_figure(drawing.figure, folder, drawing.stem)
        pictures.append(Picture(drawing.stem, drawing.caption))
    # Behind the first paragraph, which says what is to be seen.
    page.blocks[1:1] = pictures
    return paths + page.write(folder, experiment.name)


def _timings(experiment: Experiment, settings: Settings, results: Results) -> list[Row]:
    keys = [task.key for task in experiment.tasks(settings)]
    return [{"task": key, "seconds": time} for key, time in zip(keys, results.seconds(), strict=True)]


def _index(experiments: Sequence[Experiment], settings: Settings) -> Page:
    page = Page("Fair PCA: the published experiments")
    length = f"Quick run, {settings.splits} splits." if settings.quick else f"{settings.splits} splits."
    page.add(
        Paragraph(
            f"{length} Beside each page stand NAME_runs.csv with every run, NAME_summary.csv with means and standard "
            "deviations, NAME_timings.csv with seconds, and the figures as PNG and SVG."
        ),
        Bullets([item.title for item in experiments], [item.name for item in experiments]),
    )
    return page


def _at_least_one(argument: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be an integer; got {value!r}.")
    if value < 1:
        raise ValueError(f"{argument}={value} must be at least 1.")
    return int(value)


def _check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to, without making it."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    if not place.is_dir():
        raise NotADirectoryError(f"output={str(folder)!r} cannot be used: {place} is a file, not a folder.")
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(f"output={str(folder)!r} cannot be written to: no permission to write in {place}.")
