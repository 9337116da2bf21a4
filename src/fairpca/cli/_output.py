"""What commands print, how far they have come, and where they may write."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from fairpca._utils.schema import plain_data

if TYPE_CHECKING:
    from fairpca.auditing import AuditResult
    from fairpca.solvers import OuterStep

MOST_COLUMNS = 40
"""Columns of a table that are listed; more are counted."""

LONGEST_WORD = 30
"""Letters of a word that is not broken."""

STAGE = "- "
"""How lines begin that say what is being done."""


def plain(text: str) -> str:
    r"""Return a text that is shown as it is: nothing in it formats, moves the cursor or turns the direction of reading.

    Parameters
    ----------
    text : str
        What a file may hold, such as the name of a column.

    Examples
    --------
    >>> print(plain("sex \x1b[31m"))
    sex \x1b[31m
    """
    shown = (
        letter if letter.isprintable() or letter == "\n" else letter.encode("unicode_escape").decode("ascii")
        for letter in text
    )
    return escape("".join(shown))


def json_text(document: dict[str, Any]) -> str:
    """Return a document as JSON; numbers that are none are null.

    Parameters
    ----------
    document : dict
        Plain types.
    """
    return json.dumps(plain_data(document), ensure_ascii=False, allow_nan=False, indent=1)


def columns_table(columns: Sequence[dict[str, Any]]) -> Table:
    """Return what each column of a table is taken for.

    Parameters
    ----------
    columns : sequence of dict
        As `fairpca.tables.describe` returns them.
    """
    more = f"and {len(columns) - MOST_COLUMNS} more columns" if len(columns) > MOST_COLUMNS else None
    table = Table(title="Columns", title_justify="left", caption=more, box=None, pad_edge=False)
    for heading in ("column", "role", "kind"):
        table.add_column(heading, overflow="fold")
    for heading in ("values", "missing", "features"):
        table.add_column(heading, justify="right", overflow="fold")
    for column in columns[:MOST_COLUMNS]:
        distinct = f"{column['distinct']}{'+' if column['more_distinct'] else ''}"
        counts = (distinct, str(column["missing"] or ""), str(column["features"] or ""))
        name = column["column"]
        shown = name if len(name) <= 2 * LONGEST_WORD else f"{name[: 2 * LONGEST_WORD]}…"
        kind = ", ".join(filter(None, (column["kind"], column["note"])))
        table.add_row(plain(shown), column["role"], plain(kind), *counts)
    return table


def numbers_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column is text and whose others are numbers.

    Parameters
    ----------
    title : str
        Above it.
    headings : sequence of str
        Of the columns.
    rows : sequence of sequences of str
        The cells.
    """
    table = Table(title=plain(title), title_justify="left", box=None, pad_edge=False)
    for position, heading in enumerate(headings):
        longest = max((len(word) for row in rows for word in row[position].split()), default=0)
        # Headings and names may take several lines; no word and no number is broken for that.
        width = min(longest, LONGEST_WORD)
        table.add_column(heading, justify="right" if position else "left", min_width=width, overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    return table


def out() -> Console:
    """Return the console for results."""
    return Console(highlight=False, soft_wrap=True)


def show_numbers(console: Console, found: AuditResult) -> None:
    """Print the numbers of an audit: each measure, and the best adversary of each attribute.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    found : AuditResult
        The findings.
    """
    if found.any_classifier is not None:
        console.print(plain(str(found.any_classifier)))
    at_most = f"at most\n({100 * found.confidence:g} %)"
    headings = ("compared", "rows", "MMD²", "chance\nlevel", "p", at_most)
    rows = [
        (
            measure["name"],
            " and ".join(f"{n:,}" for n in measure["sides"] or [measure["n_rows"]]),
            f"{measure['mmd2']:.2g}",
            f"{measure['chance_level']:.2g}",
            f"{measure['p_value_adjusted']:.2g}",
            "not known" if math.isnan(measure["upper_bound"]) else f"{measure['upper_bound']:.2g}",
        )
        for measure in found.measures
    ]
    console.print(numbers_table("", headings, rows))
    for attribute in dict.fromkeys(record["attribute"] for record in found.adversaries):
        records = [record for record in found.adversaries if record["attribute"] == attribute]
        best = max(records, key=lambda each: float(each["r2"] if "r2" in each else each["auc"]))
        score = f"R² {best['r2']:.2f}" if "r2" in best else f"AUC {best['auc']:.2f}"
        console.print(f"Best adversary of {plain(attribute or 'the attribute')}: {best['adversary']}, {score}.")


class Times(ProgressColumn):
    """How long it has taken, and where that is known how long it will."""

    def render(self, task: Task) -> Text:
        """Return both in words.

        Parameters
        ----------
        task : rich.progress.Task
            What is being done.
        """
        left = "" if task.time_remaining is None else f", {_clock(task.time_remaining)} left"
        return Text(f"{_clock(task.elapsed or 0.0)}{left}")


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}"


class Stages:
    """A line that says what is being done; with a bar and the time left where both are known.

    Where nobody looks on, as in a pipe, it prints a line for each stage.

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
            Times(),
            console=console,
            transient=True,
            disable=not console.is_interactive,
        )
        self._lines = None if console.is_interactive else console
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
            if self._lines is not None:
                self._lines.print(f"{STAGE}{described}", soft_wrap=True, highlight=False)


def check_folder(folder: Path, names: Iterable[str], inputs: Iterable[Path]) -> None:
    """Make a folder, or refuse one that cannot be written to.

    Parameters
    ----------
    folder : Path
        Where results go.
    names : iterable of str
        What they are called.
    inputs : iterable of Path
        Files that are read, none of which may be written over.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file; name a folder.")
    with _place_for("--out", folder):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    for name in names:
        _check_target("--out", folder / name, inputs)


def check_file(option: str, file: Path | None, inputs: Iterable[Path]) -> None:
    """Refuse a file that cannot be written.

    Parameters
    ----------
    option : str
        Who names it.
    file : Path or None
        The file, if one was asked for.
    inputs : iterable of Path
        Files that are read, none of which may be written over.
    """
    if file is None:
        return
    _check_target(option, file, inputs)
    if not file.parent.is_dir():
        raise ValueError(f"{option} {file}: there is no folder {file.parent}; make it first.")
    with _place_for(option, file), tempfile.TemporaryFile(dir=file.parent):
        pass


def _check_target(option: str, file: Path, inputs: Iterable[Path]) -> None:
    if file.is_dir():
        raise ValueError(f"{option}: {file} is a folder; name a file.")
    for path in inputs:
        if file.exists() and path.exists() and file.samefile(path):
            raise ValueError(f"{option}: {file} would be written over, and it is read; name another place.")


@contextmanager
def _place_for(option: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ValueError(f"{option} {path} cannot be written: {(error.strerror or str(error)).lower()}.") from None


@contextmanager
def nothing_on_failure(paths: Iterable[Path]) -> Iterator[None]:
    """Remove the files that a failed run has begun with; files that were there before stay.

    Parameters
    ----------
    paths : iterable of Path
        What the run writes.
    """
    new = [path for path in paths if not path.exists()]
    try:
        yield
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        raise
