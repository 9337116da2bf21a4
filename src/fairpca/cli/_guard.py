"""What every command does with errors, warnings and interruptions; commands and options that do not exist."""
# SPDX-License-Identifier: MIT

import errno
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TextIO

import typer
from rich.console import Console
from typer.core import TyperGroup

from fairpca.cli._output import plain
from fairpca.cli._phrases import in_options, option_of

NOT_MET, BAD_INPUT, INTERRUPTED = 1, 2, 130

EXPECTED = (OSError, ValueError, TypeError, ImportError, MemoryError, RuntimeError)
"""What users can bring about; of `RuntimeError` recursion, and threads for which there is no memory."""

ARGUMENTS: ContextVar[tuple[str, ...]] = ContextVar("ARGUMENTS", default=())
"""The words of the command line."""

# Some versions of typer bring their own click, and none exports this class by itself.
UsageError: Any = typer.BadParameter.__base__


def guarded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make a command end in one sentence and an exit code, whatever happens.

    Parameters
    ----------
    command : callable
        A command; it may raise `typer.Exit` itself.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        errors = error_console()
        try:
            with warnings_as_notes(errors):
                return command(*arguments, **options)
        except KeyboardInterrupt:
            errors.print("interrupted: every file is whole, or as it was before.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # whoever read the results has read enough
        except EXPECTED as error:
            from fairpca.exceptions import OutOfReachError, TableError

            if isinstance(error, RuntimeError) and not (
                isinstance(error, RecursionError) or "start new thread" in str(error)
            ):
                raise
            print_error(errors, in_options(sentence_of(error)))
            if isinstance(error, OutOfReachError):
                raise typer.Exit(NOT_MET) from None
            if isinstance(error, TableError) and error.options:
                errors.print(f"try: {plain(command_with(error.options))}")
            raise typer.Exit(BAD_INPUT) from None

    return run


def command_with(options: dict[str, Any]) -> str:
    """Return the command that was given with more options, ready to paste.

    Parameters
    ----------
    options : dict
        Arguments of the library: texts, or names of columns.
    """
    more = [
        part
        for name, value in options.items()
        for part in (option_of(name), value if isinstance(value, str) else ",".join(map(_escaped, value)))
    ]
    return shlex.join(["fairpca", *ARGUMENTS.get(), *more])


def _escaped(name: str) -> str:
    return name.replace(",", "\\,")


def error_console() -> Console:
    """Return the console for what goes wrong."""
    return Console(stderr=True, soft_wrap=True, highlight=False)


def print_error(console: Console, sentence: str) -> None:
    """Print why a command ends.

    Parameters
    ----------
    console : rich.console.Console
        Where to.
    sentence : str
        Why.
    """
    console.print(f"[red]error:[/red] {plain(sentence)}")


def sentence_of(error: BaseException) -> str:
    """Return what is wrong, in one line.

    Parameters
    ----------
    error : exception
        The error.
    """
    no_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if isinstance(error, MemoryError) or no_memory or "start new thread" in str(error):
        return "there is not enough memory for this; use fewer rows, columns or components."
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        if error.errno == errno.ENOSPC:
            return f"{where}the disk is full; nothing of this file was kept." if where else "the disk is full."
        return f"{where}{error.strerror.lower()}."
    return " ".join(str(error).split()) or type(error).__name__


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
            console.print(f"[yellow]note:[/yellow] {plain(words)}")

    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        # Some packages derive theirs from both; what will change in them is nothing to whoever types a command.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.showwarning = show
        yield


class Commands(TyperGroup):
    """The commands, whose faults of usage end as other faults do."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was given, for a sentence that repeats it.

        Parameters
        ----------
        ctx : typer.Context
            What was given before.
        args : list of str
            What was given.
        """
        ARGUMENTS.set(tuple(args))
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for.

        Parameters
        ----------
        ctx : typer.Context
            What was given.
        """
        try:
            return super().invoke(ctx)
        except UsageError as error:
            path = error.ctx.command_path if error.ctx else ctx.command_path
            words = " ".join(error.format_message().split()).rstrip(".?")
            print_error(error_console(), f"{words[:1].lower()}{words[1:]}; see {path} --help.")
            raise typer.Exit(BAD_INPUT) from None
