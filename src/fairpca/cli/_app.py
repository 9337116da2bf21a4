"""The commands and their options."""
# SPDX-License-Identifier: MIT

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from fairpca import __version__
from fairpca.cli._demo import run_demo
from fairpca.cli._paper import run_paper
from fairpca.paper import EXPERIMENTS

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


@app.command()
def paper(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}.")],
    splits: Annotated[
        int | None, typer.Option(help="Random splits; 10 by default, 2 with --quick.", show_default=False)
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    output: Annotated[Path, typer.Option(help="Folder for numbers, figures and pages.")] = Path("paper"),
    data_home: Annotated[
        Path | None, typer.Option(help="Folder in which raw data are cached.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer splits and settings: minutes, not hours.")] = False,
) -> None:
    """Run a published experiment and put its numbers beside the published ones; a stopped run goes on."""
    errors = Console(stderr=True, soft_wrap=True)
    try:
        run_paper(Console(stderr=False), experiment, output, splits, jobs, data_home, quick)
    except (OSError, ValueError, ImportError) as error:
        errors.print(f"[red]error:[/red] {escape(str(error))}")
        raise typer.Exit(2) from error
    except KeyboardInterrupt:
        errors.print("interrupted: what is finished is stored, and the same command goes on from there.")
        raise typer.Exit(130) from None
