"""fairpca audit, verify and plan: what is revealed, what was certified, and how many people that takes."""
# SPDX-License-Identifier: MIT

import warnings
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.preprocessing import StandardScaler

from fairpca import audit, load_certificate, plan, verify
from fairpca._utils.checks import check_number
from fairpca.auditing import AuditResult, Figure, PromiseCertificate, with_remedies
from fairpca.cli._gate import check_gate, held
from fairpca.cli._guard import NOT_MET, in_options, option_of
from fairpca.cli._model import rows_for, table_model
from fairpca.cli._options import Audit, NewTable, Plan, Table, Terms, Verify
from fairpca.cli._output import Stages, check_file, json_text, out, plain, show_numbers
from fairpca.exceptions import TrainingRowsWarning
from fairpca.planning import plan_promise
from fairpca.tables import prepare


def run_audit(given: Audit) -> int:
    """Audit a table, or a model on it; print what was found, write its certificate, and hold figures against limits.

    Parameters
    ----------
    given : Audit
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 where a figure is above its limit.
    """
    _check(given)
    check_gate(given, [given.table])
    with Stages() as stages:
        found = _of_columns(given, stages) if given.model is None else _of_model(given, given.model, stages)
    if given.certificate is not None:
        found.certificate(trust_rows=given.trust_rows).save(given.certificate)
    if given.as_json:
        typer.echo(json_text(found.to_dict() | {"verdict": found.verdict}))
    else:
        console = out()
        console.print(plain(found.verdict))
        show_numbers(console, found)
        if given.certificate is not None:
            console.print(f"certificate: {plain(str(given.certificate))}")
    return held(found.figures, given)


def _check(given: Audit) -> None:
    """Refuse options that do not go together, before any work."""
    if given.model is None:
        if given.held_out or given.certificate:
            option = "--held-out" if given.held_out else "--certificate"
            raise ValueError(f"{option} speaks of a model; name it with --model.")
        return
    of_any_table = {each.name for each in fields(NewTable)}
    of_fit = [each for each in (*fields(Terms), *fields(Table)) if each.name not in of_any_table]
    changed = [option_of(each.name) for each in of_fit if getattr(given, each.name) != each.default]
    if changed or given.as_is:
        option = [*changed, "--as-is"][0]
        raise ValueError(f"{option} does not go with --model, which was fitted with its own; leave it out.")
    check_file("--certificate", given.certificate, [given.table, given.model])


def _of_columns(given: Audit, stages: Stages) -> AuditResult:
    """Audit the columns of a table, each scaled to unit variance unless they are to be taken as they are."""
    roles = given.roles
    if roles is None:
        raise ValueError("--sensitive is needed: name the columns that hold protected attributes.")
    roles = replace(roles, drop=given.drop)
    given.check(roles)
    with prepare(given.file, roles, given.options, held_out=0.0, callback=stages.rows) as prepared:
        X, people = prepared.X_train, prepared.people_train
        rows = X if given.as_is else StandardScaler(copy=True).fit_transform(np.asarray(X, dtype=np.float64))
        settings = given.terms(people.y) | {"random_state": given.seed, "callback": stages.say}
        return audit(None, rows, **vars(people), **settings)


def _of_model(given: Audit, path: Path, stages: Stages) -> AuditResult:
    """Audit the projections of a model, whose people are compared as in its fit."""
    model = table_model(path)
    certified = given.certificate is not None
    if model.release_ is not None and given.held_out and certified:
        raise ValueError(
            "--certificate: the level of this release was chosen on the rows that --held-out takes; what they show of "
            "it is in the promise.json beside it. Audit other rows."
        )
    with (
        rows_for(model, path, given, given.held_out, stages) as (X, people, rows),
        warnings.catch_warnings(),
    ):
        if certified:
            # Said once, in the refusal.
            warnings.simplefilter("ignore", TrainingRowsWarning)
        settings: dict[str, Any] = {"fitted_rows": rows, "random_state": given.seed, "callback": stages.say}
        found = audit(model.reduction_, X, **vars(people), **settings)
        return found if model.release_ else with_remedies(found, model.model_, X, people, model.encoder.slices)


def run_verify(given: Verify) -> int:
    """Show again what a certificate says.

    Parameters
    ----------
    given : Verify
        What was asked for.

    Returns
    -------
    code : int
        0, or 1 where it is not confirmed, or a figure is above its limit.
    """
    check_gate(given, [given.certificate, given.model, given.table])
    certificate, model = load_certificate(given.certificate), table_model(given.model)
    of_promise = isinstance(certificate, PromiseCertificate)
    if of_promise and model.release_ is None:
        raise ValueError(f"{given.certificate} promises something of a release, and {given.model} holds none.")
    with Stages() as stages, rows_for(model, given.model, given, given.held_out, stages) as (X, people, rows):
        stages.say("looking at the rows again")
        trusted = given.trust_rows
        found = verify(certificate, model.reduction_, X, **vars(people), fitted_rows=rows, trust_rows=trusted)
    if given.as_json:
        typer.echo(json_text(found.to_dict()))
    else:
        if found.holds and of_promise:
            out().print(plain(str(certificate)))
        out().print(plain(in_options(str(found))))
    promised = [Figure("promise", "any decision", found.upper_bound)]
    code = held(promised if found.audit is None else found.audit.figures, given)
    return code if found.holds else NOT_MET


def run_plan(given: Plan) -> int:
    """Say how many people an audit or a promise needs.

    Parameters
    ----------
    given : Plan
        What was asked for.
    """
    if given.promise is not None:
        check_number("promise", given.promise, above=0.0, below=1.0)
        if given.epsilon is not None:
            raise ValueError("epsilon is of an audit, and --promise of a release; plan for one after the other.")
    try:
        first, second = (float(part) for part in given.groups.split(","))
    except ValueError:
        raise ValueError(f"--groups {given.groups} must be two numbers such as 200,800 or 0.2,0.8.") from None
    sizes = tuple(int(each) if each >= 1 and each.is_integer() else each for each in (first, second))
    settings: dict[str, Any] = {"groups": sizes, "rows": given.rows, "confidence": given.confidence}
    promised = plan_promise(given.promise, **settings)
    found, words = asdict(promised), str(promised)
    if given.promise is None:
        audited = plan(given.epsilon, n_components=given.components, power=given.power, **settings)
        found, words = asdict(audited) | {"promise": found}, f"{audited}\n{promised}".rstrip()
    if given.as_json:
        typer.echo(json_text(found))
    else:
        out().print(plain(words))
    return 0
