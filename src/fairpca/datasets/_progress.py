"""A bar on the terminal while an archive is downloaded."""
# SPDX-License-Identifier: MIT

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def download_bar(label: str, total: int, count_bytes: Callable[[], int]) -> Iterator[Callable[[], None]]:
    """Show how many of `total` bytes have come, if standard error is a terminal and rich is installed.

    Parameters
    ----------
    label : str
        Text beside the bar.
    total : int
        Bytes expected.
    count_bytes : callable
        Returns how many have come; not called if nothing is shown.

    Yields
    ------
    refresh : callable
        Brings the bar up to date.

    Examples
    --------
    >>> with download_bar("table", total=10, count_bytes=lambda: 5) as refresh:
    ...     refresh()
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield _show_nothing
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn
    except ImportError:
        yield _show_nothing
        return
    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda: progress.update(task, completed=min(count_bytes(), total))


def _show_nothing() -> None:
    pass
