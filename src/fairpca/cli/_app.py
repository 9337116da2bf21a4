"""The commands."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from inspect import Signature
from typing import Annotated, Any, TypeVar

import typer

from fairpca import __version__
from fairpca.cli import _options as options
from fairpca.cli._guard import Commands

Given = TypeVar("Given")

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Fair dimensionality reduction: components that keep variance and look alike for groups of people.",
    epilog="Begin with: fairpca demo, or fairpca fit people.csv --sensitive sex",
)


def command(kind: type[Given], example: str) -> Callable[[Callable[[Given], int]], Callable[[Given], int]]:
    """Make a command of a function of options, which returns the exit code.

    Parameters
    ----------
    kind : type
        The dataclass of its options.
    example : str
        For the help.
    """

    def register(work: Callable[[Given], int]) -> Callable[[Given], int]:
        def run(**given: Any) -> None:
            listed = {name: options.names(value) for name, value in given.items() if isinstance(value, list)}
            raise typer.Exit(work(kind(**(given | listed))))

        run.__signature__ = Signature(options.parameters(kind))  # type: ignore[attr-defined]
        app.command(work.__name__, help=work.__doc__, epilog=f"Example: {example}")(run)
        return work

    return register


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


# What commands do is imported when they run: help is shown without waiting for scikit-learn.


@command(options.Fit, "fairpca fit adult.csv --sensitive sex,race --label income --missing fill --out adult")
def fit(given: options.Fit) -> int:
    """Fit fair components to a table, audit them on rows held out, and write a report, a model and the projections."""
    from fairpca.cli._fit import run_fit

    return run_fit(given)


@command(options.Transform, "fairpca transform fairpca-out/model.fairpca new.csv --out projected.parquet --keep id")
def transform(given: options.Transform) -> int:
    """Project new rows with a model of fairpca fit."""
    from fairpca.cli._model import run_transform

    return run_transform(given)


@command(options.Audit, "fairpca audit new.csv --model fairpca-out/model.fairpca --certificate certificate.json")
def audit(given: options.Audit) -> int:
    """Say how much the columns of a table, or a model's projections of them, reveal of protected attributes."""
    from fairpca.cli._audit import run_audit

    return run_audit(given)


@command(options.TradeOff, "fairpca path adult.csv --sensitive sex --missing fill --components 5 --out curve.csv")
def path(given: options.TradeOff) -> int:
    """Trace how much variance each tolerance costs."""
    from fairpca.cli._trade_off import run_path

    return run_path(given)


@command(options.Compare, "fairpca compare adult.csv --sensitive sex --label income --missing fill --out methods.html")
def compare(given: options.Compare) -> int:
    """Compare every fair reduction that can do what is asked, and say which is best for what."""
    from fairpca.cli._trade_off import run_compare

    return run_compare(given)


@command(options.Plan, "fairpca plan 0.01 --groups 200,800")
def plan(given: options.Plan) -> int:
    """Say how many people an audit or a promise needs, or what those at hand can show."""
    from fairpca.cli._audit import run_plan

    return run_plan(given)


@command(options.Verify, "fairpca verify fairpca-out/certificate.json fairpca-out/model.fairpca adult.csv --held-out")
def verify(given: options.Verify) -> int:
    """Reproduce what a certificate says of a model, on the audited rows or on others."""
    from fairpca.cli._audit import run_verify

    return run_verify(given)


@command(options.Watch, "fairpca monitor fairpca-out/certificate.json fairpca-out/model.fairpca today.csv")
def monitor(given: options.Watch) -> int:
    """Watch whether people who come after the audit are as it was certified, and go on where it ended last time."""
    from fairpca.cli._monitor import run_monitor

    return run_monitor(given)


@command(options.DataSets, "fairpca datasets adult --out adult.csv")
def datasets(given: options.DataSets) -> int:
    """List data sets with protected attributes, or write one as a table with text columns."""
    from fairpca.cli._datasets import run_datasets

    return run_datasets(given)


@command(options.Demo, "fairpca demo --output demo")
def demo(given: options.Demo) -> int:
    """Compare PCA with FairPCA on the bundled German Credit data, and write a report."""
    from fairpca.cli._datasets import run_demo

    return run_demo(given)
