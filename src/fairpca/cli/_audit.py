"""fairpca audit: how much the columns of a table, or a model's projections of them, reveal of attributes."""
# SPDX-License-Identifier: MIT

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from fairpca import audit
from fairpca._utils.typing import AnyArray
from fairpca.auditing import AuditResult, with_remedies
from fairpca.cli._gate import held
from fairpca.cli._model import check_table_of_fit, rows_for, rows_of_fit, table_model
from fairpca.cli._options import Gate, Table, Terms
from fairpca.cli._output import Stages, check_file, out, plain, print_json, show_numbers
from fairpca.cli._phrases import option_of
from fairpca.cli._study import known
from fairpca.comparison import People
from fairpca.exceptions import TrainingRowsWarning
from fairpca.tables import PreparedTable, Roles, prepare


def check_asked(
    choice: Table, asked: Terms, model_path: Path | None, held_out: bool, as_is: bool, certificate: Path | None
) -> None:
    """Refuse options that do not go together, before any work.

    Parameters
    ----------
    choice, asked, model_path, held_out, as_is
        See `run_audit`.
    certificate : Path or None
        Where to write what was shown.
    """
    if model_path is None:
        given = [option for option, value in {"--held-out": held_out, "--certificate": certificate}.items() if value]
        if given:
            raise ValueError(f"{given[0]} speaks of a model; name it with --model.")
        return
    given = [
        *_changed(asked, Terms()),
        *_changed(choice, Table(choice.table, choice.delimiter, choice.encoding, choice.decimal, choice.sheet)),
    ]
    given += ["--as-is"] if as_is else []
    if given:
        raise ValueError(f"{given[0]} does not go with --model, which was fitted with its own; leave it out.")
    check_file("--certificate", certificate, [choice.table, model_path])


def _changed(options: Any, defaults: Any) -> list[str]:
    return [option_of(name) for name, value in vars(defaults).items() if getattr(options, name) != value]


def run_audit(
    choice: Table,
    roles: Roles | None,
    asked: Terms,
    model_path: Path | None,
    held_out: bool,
    as_is: bool,
    certified: bool,
    seed: int,
) -> AuditResult:
    """Audit a table, or a model on it.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles or None
        Which columns are what; None takes what the model says.
    asked : Terms
        How people are compared, where no model says it.
    model_path : Path or None
        A model; without it the columns themselves are audited.
    held_out : bool
        Whether only rows that the model's fit has held out are audited.
    as_is : bool
        Whether columns are audited in their own units.
    certified : bool
        Whether a certificate is asked for, which rows of the fit cannot give.
    seed : int
        Of what is drawn.
    """
    with Stages() as stages:
        if model_path is not None:
            return audit_model(choice, roles, model_path, held_out, certified, seed, stages)
        if roles is None:
            raise ValueError("--sensitive is needed: name the columns that hold protected attributes.")
        asked.check_people(roles)
        return audit_columns(choice, roles, asked, as_is, seed, stages)


def audit_columns(choice: Table, roles: Roles, asked: Terms, as_is: bool, seed: int, stages: Stages) -> AuditResult:
    """Audit the columns of a table, each scaled to unit variance unless they are to be taken as they are."""
    with prepare(choice.file, roles, choice.options(), held_out=0.0, callback=stages.rows) as prepared:
        X, people = prepared.X_train, prepared.people_train
        rows = X if as_is else StandardScaler(copy=True).fit_transform(np.asarray(X, dtype=np.float64))
        settings = asked.terms(people.y) | {"random_state": seed, "callback": stages.say}
        return audit(None, rows, **known(people), **settings)


def audit_model(
    choice: Table,
    roles: Roles | None,
    model_path: Path,
    held_out: bool,
    certified: bool,
    seed: int,
    stages: Stages,
) -> AuditResult:
    """Audit the projections of a model, whose people are compared as in its fit."""
    model = table_model(model_path)
    if model.release_ is not None and held_out and certified:
        raise ValueError(
            "--certificate: the level of this release was chosen on the rows that --held-out takes; what they show of "
            "it is in the promise.json beside it. Audit other rows."
        )
    rows = rows_of_fit(model_path)
    with rows_for(model, choice, roles, held_out, stages) as prepared, warnings.catch_warnings():
        if held_out:
            check_table_of_fit(model, prepared, choice.table, rows)
        if certified:
            # Said once, in the refusal.
            warnings.simplefilter("ignore", TrainingRowsWarning)
        X, people = part(prepared, held_out)
        found = audit(model.reduction_, X, **known(people), fitted_rows=rows, random_state=seed, callback=stages.say)
        return found if model.release_ else with_remedies(found, model.model_, X, people, model.encoder.slices)


def part(prepared: PreparedTable, held_out: bool) -> tuple[AnyArray, People]:
    """Return rows and people: those held out, or all.

    Parameters
    ----------
    prepared : PreparedTable
        The rows of a table.
    held_out : bool
        Which are wanted.
    """
    return (prepared.X_new, prepared.people_new) if held_out else (prepared.X_train, prepared.people_train)


def show_audited(found: AuditResult, certificate: Path | None, trust_rows: bool, gate: Gate, as_json: bool) -> int:
    """Print what an audit has found, write its certificate, and hold its figures against limits.

    Parameters
    ----------
    found : AuditResult
        The findings.
    certificate : Path or None
        Where to write what was shown.
    trust_rows : bool
        Whether rows are taken for new ones where that cannot be checked.
    gate : Gate
        The limits.
    as_json : bool
        Whether to print JSON.

    Returns
    -------
    code : int
        0, or 1 where a figure is above its limit.
    """
    if certificate is not None:
        found.certificate(trust_rows=trust_rows).save(certificate)
    if as_json:
        print_json(found.to_dict() | {"verdict": found.verdict})
    else:
        console = out()
        console.print(plain(found.verdict))
        show_numbers(console, found)
        if certificate is not None:
            console.print(f"certificate: {plain(str(certificate))}")
    return held(found.figures, gate)
