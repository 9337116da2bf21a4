"""How every command ends: in one sentence that speaks of options, and an exit code."""
# SPDX-License-Identifier: MIT

import errno
import re
import shlex
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from fairpca.cli._options import joined
from fairpca.cli._output import plain

NOT_MET, BAD_INPUT, INTERRUPTED = 1, 2, 130

EXPECTED = (OSError, ValueError, TypeError, ImportError, MemoryError, RecursionError)
"""What users can bring about."""

ARGUMENTS = "fairpca arguments"
"""Where the words of the command line are kept."""

# Some versions of typer bring their own click, and none exports this class by itself.
UsageError: Any = typer.BadParameter.__base__


class Commands(TyperGroup):
    """The commands, whatever happens in them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was given, for a sentence that repeats it.

        Parameters
        ----------
        ctx : typer.Context
            What was given before.
        args : list of str
            What was given.
        """
        ctx.meta[ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was asked for.

        Parameters
        ----------
        ctx : typer.Context
            What was given.
        """
        errors = error_console()
        try:
            with _warnings_as_notes(errors):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            errors.print("interrupted: every file is whole, or as it was before.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            raise  # whoever read the results has read enough
        except UsageError as error:
            path = error.ctx.command_path if error.ctx else ctx.command_path
            words = " ".join(error.format_message().split()).rstrip(".?")
            _print_error(errors, f"{words[:1].lower()}{words[1:]}; see {path} --help.")
            raise typer.Exit(BAD_INPUT) from None
        except Exception as error:
            from fairpca.exceptions import OutOfReachError, TableError

            if not (isinstance(error, EXPECTED) or _lacks_memory(error)):
                raise
            _print_error(errors, in_options(_sentence_of(error)))
            if isinstance(error, TableError) and error.options:
                errors.print(f"try: {plain(_command_with(ctx.meta[ARGUMENTS], error.options))}")
            raise typer.Exit(NOT_MET if isinstance(error, OutOfReachError) else BAD_INPUT) from None


def error_console() -> Console:
    """Return the console for what goes wrong."""
    return Console(stderr=True, soft_wrap=True, highlight=False)


def _print_error(console: Console, sentence: str) -> None:
    console.print(f"[red]error:[/red] {plain(sentence)}")


def _command_with(arguments: tuple[str, ...], options: dict[str, Any]) -> str:
    """Return the command that was given with more options, ready to paste."""
    more = [
        part
        for name, value in options.items()
        for part in (option_of(name), value if isinstance(value, str) else joined(value))
    ]
    return shlex.join(["fairpca", *arguments, *more])


def _lacks_memory(error: BaseException) -> bool:
    no_memory = isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
    return no_memory or "start new thread" in str(error)


def _sentence_of(error: BaseException) -> str:
    """Return what is wrong, in one line."""
    if _lacks_memory(error):
        return "there is not enough memory for this; use fewer rows, columns or components."
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        if error.errno == errno.ENOSPC:
            return f"{where}the disk is full; nothing of this file was kept." if where else "the disk is full."
        return f"{where}{error.strerror.lower()}."
    return " ".join(str(error).split()) or type(error).__name__


@contextmanager
def _warnings_as_notes(console: Console) -> Iterator[None]:
    """Print warnings as notes, each once."""
    told: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
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


def option_of(name: str) -> str:
    """Return what a parameter is called here."""
    return f"--{name.replace('_', '-')}"


OPTIONS = {
    "target": "--promise",
    "n_components": "--components",
    "random_state": "--seed",
    "epsilon": "epsilon",
    **{
        name: option_of(name)
        for name in (
            *("sensitive", "label", "control", "weight", "drop", "keep_sensitive", "missing", "categories", "numbers"),
            *("dates", "missing_values", "delimiter", "encoding", "decimal", "sheet", "held_out", "tolerance"),
            *("fairness", "favourable", "small_groups"),
            *("confidence", "power", "groups", "rows", "keep", "unknown", "missing_sensitive", "promise"),
            "methods",
        )
    },
}
"""Arguments of Python, and what they are called here."""

OF_ATTRIBUTES = {"group", "leave"}
"""What can become of missing attributes, but not of missing features."""

PHRASES = {
    r"sensitive_features\[(\d+)\]": r"column \1 of --sensitive",
    r"sensitive_features\[('[^']*'|\"[^\"]*\")\]": r"the sensitive column \1",
    r"control_features\[('[^']*'|\"[^\"]*\")\]": r"the control column \1",
    r"\bsensitive_features\b": "--sensitive",
    r"\bcontrol_features\b": "--control",
    r"\bsample_weight\b": "--weight",
    r"\bsensitive_kind=[\"']continuous[\"']": "--continuous",
    r"\bsensitive_kind\b": "--continuous",
    r"\battribute_error\b": "--attribute-error",
    r"name it by favourable=": "name it with --favourable",
    r"a label of y\b": "a label of --label",
    r"pass them as y, one for each row": "name their column with --label",
    r'is said to be "continuous"': "is named in --continuous",
    r"named twice among the roles": "named twice among --sensitive, --label, --control, --weight and --drop",
    r"\bn_features=": "",
    r"min_group_size=(\d+)": r"\1",
    r", or lower min_group_size": "",
    r"leave it out with drop\b": "leave it out with --drop",
    r"\b(names? (?:it|these)) in (numbers|categories|dates)\b": r"\1 in --\2",
    r"\bname these in missing_values\b": "name these in --missing-values",
    r"\bnamed in (numbers|dates)\b": r"named in --\1",
    r"\bnamed both in (\w+) and in (\w+)": r"named both in --\1 and in --\2",
    r"\bname that one with decimal\b": "name that one with --decimal",
    r"Name another by sheet\.": "Name another with --sheet.",
    r", or allow for more with most_categories": "",
    r"^(sensitive|tolerance) names\b": r"--\1 names",
    r"\bgroups=\(([^()]*), ([^()]*)\)": r"--groups \1,\2",
    r"such as \(([\d.]+), ([\d.]+)\)": r"such as \1,\2",
    r"; name one that Python knows, such as 'utf-8'": "; name another, such as utf-8",
    r"\bsmall_groups=\)": "--small-groups)",
    r" Use solver=[^.]*\.": "",
    r"audit rows that were held out": "--held-out takes those of this table that were held out",
    r"Pass fitted_rows=.*, or trust_rows=True": "Put the file of its rows (MODEL.rows) beside it, or pass --trust-rows",
    r"trust_rows=True": "--trust-rows",
    r"\bencode the table to fit with missing=": "fit again with missing=",
}
"""What the library says of its arguments, and how that is said of options."""

QUOTE, QUOTES = "'", ("'", '"')


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
        name, value = match[1], _unquoted(match[2])
        if name not in OPTIONS:
            return match[0]
        if name == "missing" and value in OF_ATTRIBUTES:
            name = "missing_sensitive"
        return f"{OPTIONS[name]} {value}"

    for words, others in PHRASES.items():
        sentence = re.sub(words, others, sentence)
    sentence = re.sub(r"\b([a-z_]+)=('[^']*'|\"[^\"]*\"|-?[\w.+-]*[\w+-])", option, sentence)
    return re.sub(r"choose one of \[([^\]]*)\]", lambda match: f"choose one of {match[1].replace(QUOTE, '')}", sentence)


def _unquoted(value: str) -> str:
    """Return a value as one types it; quoted where it would not be seen, or not be one word."""
    return value[1:-1] if value[:1] in QUOTES and re.fullmatch(r"\S+", value[1:-1]) else value
