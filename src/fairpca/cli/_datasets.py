"""fairpca datasets: tables to try things on."""
# SPDX-License-Identifier: MIT

import shlex
from pathlib import Path

from rich.markup import escape
from sklearn.utils import Bunch

from fairpca.cli._output import Stages, numbers_table, out, print_json
from fairpca.datasets import available, write_table


def run_datasets(name: str | None, file: Path | None, data_home: Path | None, as_json: bool) -> None:
    """List the data sets, describe one, or write its table to a file.

    Parameters
    ----------
    name : str or None
        Which; None lists all.
    file : Path or None
        Where to write its table.
    data_home : Path or None
        Where raw files are cached.
    as_json : bool
        Whether to print JSON.
    """
    listed = available(data_home=data_home)
    if name is None:
        if file is not None:
            raise ValueError("--out writes one data set; name it, as in fairpca datasets adult --out adult.csv.")
        show_all(listed, as_json)
        return
    by_name = {each.name: each for each in listed}
    if name not in by_name:
        raise ValueError(f"there is no data set {name!r}; choose among {', '.join(by_name)}.")
    if file is not None:
        with Stages() as stages:
            write_table(name, file, data_home=data_home, callback=stages.rows)
    if as_json:
        print_json(by_name[name] | {"file": None if file is None else str(file)})
    else:
        show_one(by_name[name], file)


def show_all(listed: list[Bunch], as_json: bool) -> None:
    """Print a line for each."""
    if as_json:
        print_json({"datasets": listed})
        return
    rows = [
        (each.name, f"{each.n_rows:,}", str(each.n_columns), ", ".join(each.sensitive), each.label, each.where)
        for each in listed
    ]
    out().print(numbers_table("", ("name", "rows", "columns", "sensitive", "label", "where"), rows))
    out().print("fairpca datasets NAME shows more, and --out FILE writes the table.")


def show_one(data_set: Bunch, file: Path | None) -> None:
    """Print what a user must know of a data set, and how to fit to its table."""
    console = out()
    console.print(escape(f"{data_set.title}: {data_set.n_rows:,} rows, {data_set.n_columns} columns"))
    console.print(escape(f"source:  {data_set.source}"))
    console.print(escape(f"licence: {data_set.license}"))
    console.print(escape(f"where:   {data_set.where}"))
    table = Path(f"{data_set.name}.csv") if file is None else file
    if file is not None:
        console.print(escape(f"written: {file}"))
    console.print(escape(f"try:     {fit_command(data_set, table)}"))


def fit_command(data_set: Bunch, table: Path) -> str:
    """Return the command that fits to the table of a data set.

    Parameters
    ----------
    data_set : sklearn.utils.Bunch
        Which.
    table : Path
        Its table.
    """
    options = ["--sensitive", data_set.sensitive[0], "--label", data_set.label, "--missing", "fill"]
    if data_set.weight is not None:
        options += ["--weight", data_set.weight]
    for option, columns in (("--drop", data_set.drop), ("--categories", data_set.categories)):
        if columns:
            options += [option, ",".join(column.replace(",", "\\,") for column in columns)]
    return shlex.join(["fairpca", "fit", str(table), *options])
