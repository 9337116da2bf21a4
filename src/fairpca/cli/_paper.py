"""fairpca paper: the published experiments with a bar that shows how much is left."""
# SPDX-License-Identifier: MIT

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from fairpca.paper import Progress, run


def run_paper(
    console: Console,
    experiment: str,
    output: Path,
    splits: int | None,
    jobs: int,
    data_home: Path | None,
    quick: bool,
) -> None:
    """Run an experiment and say where its page is.

    Parameters
    ----------
    console : rich.console.Console
        Where to print.
    experiment : str
        Name of the experiment, or "all".
    output : Path
        Folder for the files.
    splits : int or None
        Number of splits.
    jobs : int
        Number of processes.
    data_home : Path or None
        Where raw data are cached.
    quick : bool
        Fewer splits and settings.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        # Tasks last from milliseconds to minutes: a rate needs a long memory.
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    with Bar(*columns, console=console, transient=True, speed_estimate_period=1800) as bar:
        bars = _Bars(bar)
        paths = run(experiment, output, splits=splits, jobs=jobs, quick=quick, data_home=data_home, callback=bars.show)
    pages = [path for path in paths if path.suffix == ".html"]
    console.print(f"{len(paths)} files in {escape(str(output))}; begin with {escape(str(pages[-1]))}", soft_wrap=True)


class _Bars:
    """One bar for each experiment."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}

    def show(self, progress: Progress) -> None:
        """Move the bar of an experiment."""
        name = progress.experiment
        count = f"{progress.done} of {progress.total} runs"
        if name not in self._tasks:
            self._tasks[name] = self._bar.add_task(name, total=progress.cost_total, count=count)
        self._bar.update(self._tasks[name], completed=progress.cost_done, count=count)
