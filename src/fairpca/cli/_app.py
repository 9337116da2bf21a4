"""The commands and their options."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from fairpca import __version__
from fairpca.cli import _options as given
from fairpca.cli._guard import Commands, guarded

# Commands are imported when they run: help is shown without waiting for scikit-learn.


def grouped(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of its parameters that are dataclasses, and the dataclasses made of them.

    Parameters
    ----------
    command : callable
        A command. Fields of such dataclasses are annotated as options and arguments are.
    """
    kinds = {name: kind for name, kind in get_type_hints(command).items() if is_dataclass(kind)}
    shared = {name: _parameters(kind) for name, kind in kinds.items()}
    own = signature(command, eval_str=True).parameters
    listed = [each for name, parameter in own.items() for each in shared.get(name, [parameter])]

    @wraps(command)
    def run(**given: Any) -> Any:
        groups = {
            name: kind(**{each.name: given.pop(each.name) for each in shared[name]})  # type: ignore[operator]
            for name, kind in kinds.items()
        }
        return command(**groups, **given)

    # What must be given comes first, as Python wants it; otherwise the order is that of the command.
    ordered = sorted((each.replace(kind=Parameter.KEYWORD_ONLY) for each in listed), key=lambda each: not _needed(each))
    run.__signature__ = signature(command).replace(parameters=ordered)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in ordered} | {"return": None}
    return run


def _parameters(kind: Any) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=_default(each), annotation=hints[each.name])
        for each in fields(kind)
    ]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return Parameter.empty if field.default is MISSING else field.default


def _needed(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Fair dimensionality reduction: components that keep variance and look alike for groups of people.",
    epilog="Begin with: fairpca demo, or fairpca fit people.csv --sensitive sex",
)


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


@app.command(epilog="Example: fairpca fit adult.csv --sensitive sex,race --label income --missing fill --out adult")
@guarded
@grouped
def fit(
    table: given.Table,
    people: given.People,
    asked: given.FitTerms,
    gate: given.Gate,
    held_out: given.HeldOutShare = 0.3,
    with_path: Annotated[bool, typer.Option("--path/--no-path", help="Show the trade-off in the report.")] = True,
    promise: Annotated[
        float | None,
        typer.Option(
            help="Certify a release: no decision made from it has a gap above this, as 0.10.", show_default=False
        ),
    ] = None,
    compare_maps: Annotated[
        bool, typer.Option("--compare-maps", help="Choose the map of a release among fair PCA and plain PCA.")
    ] = False,
    points: Annotated[
        int, typer.Option(help="People whose coordinates the report draws; by default it draws densities.", max=600)
    ] = 0,
    pdf: Annotated[bool, typer.Option("--pdf", help="Print the report to a PDF too, by a browser on PATH.")] = False,
    seed: given.Seed = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("fairpca-out"),
    as_json: given.AsJson = False,
) -> None:
    """Fit fair components to a table, audit them on rows held out, and write a report, a model and the projections."""
    from fairpca.cli._fit import run_fit

    roles = people.roles(table.drop)
    raise typer.Exit(
        run_fit(table, roles, asked, held_out, seed, out, with_path, promise, compare_maps, gate, points, pdf, as_json)
    )


@app.command(epilog="Example: fairpca transform fairpca-out/model.fairpca new.csv --out projected.parquet --keep id")
@guarded
@grouped
def transform(
    model: given.ModelPath,
    table: given.NewTable,
    out: Annotated[Path, typer.Option("--out", "-o", help="File: .csv, .tsv, .parquet, .arrow or .feather.")] = Path(
        "projected.csv"
    ),
    keep: Annotated[list[str], typer.Option(help="Columns to write as they are.", metavar="COL[,COL]")] = [],  # noqa: B006
    unknown: Annotated[str, typer.Option(help="Categories that the fit did not know: warn or refuse.")] = "warn",
    as_json: given.AsJson = False,
) -> None:
    """Project new rows with a model of fairpca fit."""
    from fairpca.cli._model import run_transform

    run_transform(model, table, out, given.names(keep), unknown, as_json)


@app.command(epilog="Example: fairpca audit new.csv --model fairpca-out/model.fairpca --certificate certificate.json")
@guarded
@grouped
def audit(
    table: given.Table,
    people: given.PeopleOfModel,
    asked: given.Terms,
    gate: given.Gate,
    model: Annotated[
        Path | None,
        typer.Option("--model", "-m", help="Audit its projections, not the columns.", show_default=False),
    ] = None,
    held_out: given.HeldOutRows = False,
    as_is: Annotated[
        bool, typer.Option("--as-is", help="Audit columns in their own units, as for projections.")
    ] = False,
    certificate: Annotated[Path | None, typer.Option(help="File for what was shown.", show_default=False)] = None,
    trust_rows: given.TrustRows = False,
    seed: given.Seed = 0,
    as_json: given.AsJson = False,
) -> None:
    """Say how much the columns of a table, or a model's projections of them, reveal of protected attributes."""
    from fairpca.cli._audit import check_asked, run_audit, show_audited
    from fairpca.cli._gate import check_gate

    check_asked(table, asked, model, held_out, as_is, certificate)
    check_gate(gate, [table.table])
    found = run_audit(table, people.roles(table.drop), asked, model, held_out, as_is, certificate is not None, seed)
    raise typer.Exit(show_audited(found, certificate, trust_rows, gate, as_json))


@app.command(epilog="Example: fairpca path adult.csv --sensitive sex --missing fill --components 5 --out curve.csv")
@guarded
@grouped
def path(
    table: given.Table,
    people: given.People,
    asked: given.PathTerms,
    seed: given.Seed = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV for the curve.", show_default=False)] = None,
    as_json: given.AsJson = False,
) -> None:
    """Trace how much variance each tolerance costs."""
    from fairpca.cli._path import run_path

    raise typer.Exit(run_path(table, people.roles(table.drop), asked, seed, out, as_json))


@app.command(
    epilog="Example: fairpca compare adult.csv --sensitive sex --label income --missing fill --out methods.html"
)
@guarded
@grouped
def compare(
    table: given.Table,
    people: given.People,
    asked: given.FitTerms,
    methods: Annotated[
        list[str], typer.Option(help="Only these; by default all that can do it.", metavar="NAME[,NAME]")
    ] = [],  # noqa: B006
    target: Annotated[
        float, typer.Option(help="The largest gap that is fair enough, and the promise.", min=0.001, max=0.999)
    ] = 0.1,
    held_out: given.HeldOutShare = 0.3,
    seed: given.Seed = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="File for a page.", show_default=False)] = None,
    as_json: given.AsJson = False,
) -> None:
    """Compare every fair reduction that can do what is asked, and say which is best for what."""
    from fairpca.cli._compare import run_compare

    roles, named = people.roles(table.drop), given.names(methods)
    raise typer.Exit(run_compare(table, roles, asked, named, target, held_out, seed, out, as_json))


@app.command(epilog="Example: fairpca plan 0.01 --groups 200,800")
@guarded
def plan(
    epsilon: Annotated[
        float | None, typer.Argument(help="The MMD² that is to be ruled out.", show_default=False)
    ] = None,
    components: Annotated[int, typer.Option("--components", "-n", help="Of the projection.", min=1, max=1000)] = 2,
    groups: Annotated[str, typer.Option(help="Rows, or shares, of the two groups today.")] = "0.5,0.5",
    rows: Annotated[int | None, typer.Option(help="Rows today, where groups are shares.", show_default=False)] = None,
    power: Annotated[float, typer.Option(help="Probability of success where groups do not differ.")] = 0.8,
    confidence: Annotated[float, typer.Option(help="Of the bound.")] = 0.95,
    promise: Annotated[
        float | None, typer.Option(help="Plan for fairpca fit --promise instead.", show_default=False)
    ] = None,
    as_json: given.AsJson = False,
) -> None:
    """Say how many people an audit or a promise needs, or what those at hand can show."""
    from fairpca.cli._certify import run_plan

    run_plan(epsilon, components, groups, rows, power, confidence, promise, as_json)


@app.command(
    epilog="Example: fairpca verify fairpca-out/certificate.json fairpca-out/model.fairpca adult.csv --held-out"
)
@guarded
@grouped
def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate of fairpca fit or audit.", show_default=False)],
    model: given.ModelPath,
    table: given.NewTable,
    people: given.PeopleOfModel,
    gate: given.Gate,
    held_out: given.HeldOutRows = False,
    trust_rows: given.TrustRows = False,
    as_json: given.AsJson = False,
) -> None:
    """Reproduce what a certificate says of a model, on the audited rows or on others."""
    from fairpca.cli._certify import run_verify
    from fairpca.cli._gate import check_gate

    check_gate(gate, [certificate, model, table.table])
    raise typer.Exit(run_verify(certificate, model, table, people.roles(), held_out, trust_rows, gate, as_json))


@app.command(epilog="Example: fairpca monitor fairpca-out/certificate.json fairpca-out/model.fairpca today.csv")
@guarded
@grouped
def monitor(
    certificate: Annotated[Path, typer.Argument(help="A certificate of fairpca fit or audit.", show_default=False)],
    model: given.ModelPath,
    table: given.Stream,
    people: given.PeopleOfModel,
    state: Annotated[
        Path | None, typer.Option(help="File of what is known; by default CERTIFICATE.monitor.", show_default=False)
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="File for a picture of the evidence.", show_default=False)] = None,
    as_json: given.AsJson = False,
) -> None:
    """Watch whether people who come after the audit are as it was certified, and go on where it ended last time."""
    from fairpca.cli._monitor import run_monitor

    raise typer.Exit(run_monitor(certificate, model, table, people.roles(), state, plot, as_json))


@app.command(epilog="Example: fairpca datasets adult --out adult.csv")
@guarded
def datasets(
    name: Annotated[str | None, typer.Argument(help="Which; without it all are listed.", show_default=False)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File: .csv, .tsv, .parquet, .arrow.", show_default=False)
    ] = None,
    data_home: given.DataHome = None,
    as_json: given.AsJson = False,
) -> None:
    """List data sets with protected attributes, or write one as a table with text columns."""
    from fairpca.cli._datasets import run_datasets

    run_datasets(name, out, data_home, as_json)


@app.command(epilog="Example: fairpca demo --output demo")
@guarded
def demo(
    output: Annotated[Path, typer.Option(help="Folder for the picture and the report.")] = Path("demo"),
    tolerance: Annotated[float, typer.Option(help="Largest MMD^2 allowed on the training rows.")] = 1e-3,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
) -> None:
    """Compare PCA with FairPCA on the bundled German Credit data, and write a report."""
    from fairpca.cli._demo import run_demo

    run_demo(output, tolerance, seed)
