"""The commands and their options."""
# SPDX-License-Identifier: MIT

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fairpca import __version__
from fairpca.cli._demo import run_demo

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Fair dimensionality reduction.")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[bool, typer.Option("--version", callback=_show_version, help="Show the version.")] = False,
) -> None:
    """Fair dimensionality reduction."""


@app.command()
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("demo"),
    tolerance: Annotated[float, typer.Option(help="Largest MMD^2 allowed on the training rows.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
) -> None:
    """Compare PCA with FairPCA on the bundled German Credit data."""
    console = Console(stderr=False)
    try:
        run_demo(console, output, tolerance, seed)
    except (OSError, ValueError, ImportError) as error:
        Console(stderr=True).print(f"[red]error:[/red] {error}")
        raise typer.Exit(2) from error
