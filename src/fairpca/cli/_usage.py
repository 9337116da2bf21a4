"""Commands and options that do not exist, in one sentence as all other faults."""
# SPDX-License-Identifier: MIT

from typing import Any

import typer
from typer.core import TyperGroup

from fairpca.cli._guard import BAD_INPUT, error_console, print_error

# Some versions of typer bring their own click, and none exports this class by itself.
UsageError: Any = typer.BadParameter.__base__


class Commands(TyperGroup):
    """The commands, whose faults of usage end as other faults do."""

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
