"""Models and certificates from files, and fairpca transform: new rows through a model."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import typer

import fairpca
from fairpca._utils.typing import AnyArray
from fairpca.cli._options import PeopleOfModel, Transform
from fairpca.cli._output import Stages, json_text, out, plain
from fairpca.comparison import People
from fairpca.saving import load_rows, rows_beside
from fairpca.table_model import HeldOut, TableModel
from fairpca.tables import PreparedTable, Roles, TableOptions, prepare, write_projections


def table_model(path: Path) -> TableModel:
    """Return the model that `fairpca fit` has written.

    Parameters
    ----------
    path : Path
        The file.
    """
    model = fairpca.load(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} without the way from a table to its features; models of `fairpca "
            "fit` have it."
        )
    return model


def roles_for(model: TableModel, asked: Roles | None) -> Roles:
    """Return which columns are what.

    Parameters
    ----------
    model : TableModel
        The model.
    asked : Roles or None
        What was named, by default what the model says.
    """
    roles = asked or model.roles
    if roles is None:
        raise ValueError("--sensitive is needed: the model does not say which columns hold protected attributes.")
    if roles.label is None and model.model_.fairness != "demographic_parity":
        raise ValueError(f"--label is needed: the model was fitted with --fairness {model.model_.fairness}.")
    return roles


@contextmanager
def rows_for(
    model: TableModel, path: Path, given: PeopleOfModel, held_out: bool, stages: Stages
) -> Iterator[tuple[AnyArray, People, Path | None]]:
    """Give the rows of a table as a model encodes them, what is known of the people, and the file of the fitted rows.

    Parameters
    ----------
    model : TableModel
        The model.
    path : Path
        Its file, beside which that of its rows may be.
    given : PeopleOfModel
        The table, and which columns are what, by default those of the fit.
    held_out : bool
        Whether only rows that the fit has held out of this table are wanted.
    stages : Stages
        Told how far it is.
    """
    roles, table = roles_for(model, given.roles), given.file
    used, named = {column.name for column in model.encoder.columns}, _with_roles(roles)
    # What the model does not use may hold anything.
    spare = tuple(name for name in table.names if name not in used and name not in named)
    roles = replace(roles, drop=spare, keep_sensitive=bool(used & set(roles.sensitive)))
    options = _for_people(model.options or TableOptions(), roles)
    fitted = Path(rows_beside(path))
    fitted_rows = fitted if fitted.exists() else None
    if held_out and model.held_out is None:
        raise ValueError("--held-out: the model does not say which rows its fit has held out.")
    drawn = model.held_out if held_out and model.held_out else HeldOut(0.0, 0)
    with prepare(
        table,
        roles,
        options,
        encoder=model.encoder,
        held_out=drawn.share,
        callback=stages.rows,
        random_state=drawn.random_state,
    ) as prepared:
        if held_out:
            _check_table_of_fit(model, prepared, given.table, fitted_rows)
            yield prepared.X_new, prepared.people_new, fitted_rows
        else:
            yield prepared.X_train, prepared.people_train, fitted_rows


def _check_table_of_fit(model: TableModel, prepared: PreparedTable, table: Path, rows: Path | None) -> None:
    """Refuse to take held-out rows of any table but that of the fit, row by row where its rows are known."""
    same = _same_means(model, prepared) if rows is None else load_rows(rows).is_all_of(prepared.X_train)
    if not same:
        raise ValueError(f"--held-out: {table} is not the table of the fit, or not as it was then.")


def _same_means(model: TableModel, prepared: PreparedTable, block: int = 2**14, rounding: float = 1e-6) -> bool:
    """Tell whether the rows to fit of a table have the number and the means of those that a model was fitted to.

    Rows are looked at `block` at a time, for they may be in a file. Rounding may move the mean of a column so far,
    relative to its numbers.
    """
    X, weight = prepared.X_train, prepared.people_train.sample_weight
    fitted = model.model_
    if len(X) != fitted.n_samples_:
        return False
    largest = np.maximum(np.abs(X.min(axis=0)), np.abs(X.max(axis=0)))
    masses = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    means = sum(masses[k : k + block] @ X[k : k + block] for k in range(0, len(X), block)) / masses.sum()
    return bool(np.all(np.abs(means - fitted.mean_) <= rounding * np.maximum(largest, 1e-300)))


def _for_people(options: TableOptions, roles: Roles) -> TableOptions:
    """Return how the fit has read the columns of people; others may not be there."""
    named = _with_roles(roles)
    return replace(
        options,
        categories=tuple(name for name in options.categories if name in named),
        numbers=tuple(name for name in options.numbers if name in named),
        # Dates of people are texts.
        dates=(),
    )


def _with_roles(roles: Roles) -> set[str]:
    named = {*roles.sensitive, *roles.control, roles.label, roles.weight}
    return {name for name in named if name is not None}


def run_transform(given: Transform) -> int:
    """Project the rows of a table and write them.

    Parameters
    ----------
    given : Transform
        What was asked for.
    """
    model = table_model(given.model)
    with Stages() as stages:
        written = write_projections(
            given.out,
            given.file,
            model.encoder,
            model.reduction_.transform,
            keep=given.keep,
            # No promise speaks of row numbers, which may go by group.
            row_numbers=model.release_ is None,
            unknown=given.unknown,
            callback=stages.rows,
        )
    if given.as_json:
        unknown = [{"column": name, "category": text, "rows": count} for (name, text), count in written.unknown.items()]
        counts = {"rows": written.n_rows, "dropped": written.n_dropped, "unknown": unknown}
        typer.echo(json_text({"file": str(given.out)} | counts))
    else:
        out().print(f"{written.n_rows:,} rows, {model.model_.n_components_} components: {plain(str(given.out))}")
    return 0
