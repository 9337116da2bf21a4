"""How far a command has come, on the terminal's other channel."""
# SPDX-License-Identifier: MIT

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fairpca.cli._plain import plain
from fairpca.solvers import OuterStep


class Stages:
    """A line that says what is being done; with a bar and the time left where both are known.

    Parameters
    ----------
    console : rich.console.Console, default=None
        Where to draw; by default the terminal's channel for errors, so that results can be piped.
    """

    def __init__(self, console: Console | None = None) -> None:
        console = console or Console(stderr=True)
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            # Where nobody looks on, not even an empty line is left.
            disable=not console.is_interactive,
        )
        self._task = self._progress.add_task("", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def rows(self, done: int, total: int | None, what: str) -> None:
        """Show how many rows are done.

        Parameters
        ----------
        done : int
            Rows.
        total : int or None
            All rows, where that is known.
        what : str
            What is done with them.
        """
        self._begin(what, total)
        self._progress.update(self._task, completed=done)

    def say(self, words: str) -> None:
        """Show what is being done.

        Parameters
        ----------
        words : str
            A few words.
        """
        self._begin(words, None)

    def step(self, step: OuterStep) -> None:
        """Show how a fit goes.

        Parameters
        ----------
        step : OuterStep
            Its last step.
        """
        words = f"fitting: {100 * step.variance_kept:.1f} % of the variance, MMD² {step.mmd2s.max():.1e}"
        self._progress.update(self._task, description=words)

    def _begin(self, what: str, total: int | None) -> None:
        described = plain(what)
        if self._progress.tasks[0].description != described:
            self._progress.reset(self._task, description=described, total=total)
