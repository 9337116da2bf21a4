"""What every command does with errors, warnings and interruptions."""
# SPDX-License-Identifier: MIT

import errno
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.markup import escape

BAD_INPUT, INTERRUPTED = 2, 130

EXPECTED = (OSError, ValueError, TypeError, ImportError, MemoryError, RecursionError)
"""What users can bring about."""

OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        *("sensitive", "label", "control", "weight", "drop", "keep_sensitive", "missing", "categories", "numbers"),
        *("delimiter", "encoding", "decimal", "held_out", "tolerance", "fairness", "favourable", "small_groups"),
        *("min_group_size", "confidence", "epsilon", "power", "groups", "rows", "keep", "unknown", "bandwidth"),
    )
} | {"n_components": "--components", "random_state": "--seed", "most_categories": "--categories"}
"""Arguments of Python, and what they are called here."""


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command end in one sentence and an exit code, whatever happens.

    Parameters
    ----------
    command : callable
        A command; it may raise `typer.Exit` itself.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        errors = Console(stderr=True, soft_wrap=True, highlight=False)
        try:
            with warnings_as_notes(errors):
                return command(*arguments, **options)
        except KeyboardInterrupt:
            errors.print("interrupted: files that were written are whole, others are not there.")
            raise typer.Exit(INTERRUPTED) from None
        except EXPECTED as error:
            errors.print(f"[red]error:[/red] {escape(in_options(sentence_of(error)))}")
            raise typer.Exit(BAD_INPUT) from None

    return run


def sentence_of(error: BaseException) -> str:
    """Return what is wrong, in one line.

    Parameters
    ----------
    error : exception
        The error.
    """
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        if error.errno == errno.ENOSPC:
            return f"{where}the disk is full; nothing of this file was kept."
        return f"{where}{error.strerror.lower()}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows, columns or components."
    return " ".join(str(error).split()) or type(error).__name__


def in_options(sentence: str) -> str:
    """Return a sentence that speaks of arguments as one that speaks of options.

    Parameters
    ----------
    sentence : str
        What the library says.

    Examples
    --------
    >>> in_options("values are missing in 'age' (3); use missing='fill' or missing='drop-rows'.")
    "values are missing in 'age' (3); use --missing fill or --missing drop-rows."
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1], match[2]
        if name not in OPTIONS:
            return match[0]
        plain = value[1:-1] if value[:1] in "'\"" and not re.search(r"\s", value) else value
        return f"{OPTIONS[name]} {plain}"

    return re.sub(r"\b([a-z_]+)=('[^']*'|\"[^\"]*\"|-?[\w.+-]*[\w+-])", option, sentence)


@contextmanager
def warnings_as_notes(console: Console) -> Iterator[None]:
    """Print warnings as notes, each once.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    """
    told: set[str] = set()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        words = in_options(" ".join(str(message).split()))
        if words not in told:
            told.add(words)
            console.print(f"[yellow]note:[/yellow] {escape(words)}")

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = show
        yield
