"""fairpca plan and fairpca verify: certificates before and after."""
# SPDX-License-Identifier: MIT

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fairpca import load_certificate, plan, verify
from fairpca._utils.checks import check_number
from fairpca.auditing import Figure, PromiseCertificate
from fairpca.cli._audit import part
from fairpca.cli._gate import held
from fairpca.cli._guard import NOT_MET
from fairpca.cli._model import check_table_of_fit, rows_for, rows_of_fit, table_model
from fairpca.cli._options import Gate, NewTable
from fairpca.cli._output import Stages, out, plain, print_json
from fairpca.cli._phrases import in_options
from fairpca.cli._study import known
from fairpca.planning import plan_promise
from fairpca.tables import Roles


def run_plan(
    epsilon: float | None,
    components: int,
    groups: str,
    rows: int | None,
    power: float,
    confidence: float,
    promise: float | None,
    as_json: bool,
) -> None:
    """Say how many people an audit needs.

    Parameters
    ----------
    epsilon, components, rows, power, confidence
        See `fairpca.plan`.
    groups : str
        Two numbers, separated by a comma.
    promise : float or None
        The promise to plan for, in place of an audit.
    as_json : bool
        Whether to print JSON.
    """
    if promise is not None:
        check_number("promise", promise, above=0.0, below=1.0)
        if epsilon is not None:
            raise ValueError("epsilon is of an audit, and --promise of a release; plan for one after the other.")
    try:
        first, second = (float(part) for part in groups.split(","))
    except ValueError:
        raise ValueError(f"--groups {groups} must be two numbers such as 200,800 or 0.2,0.8.") from None
    sizes = tuple(int(each) if each >= 1 and each.is_integer() else each for each in (first, second))
    promised = plan_promise(promise, groups=sizes, rows=rows, confidence=confidence)
    if promise is not None:
        found: dict[str, Any] = asdict(promised)
        words = str(promised)
    else:
        audit = plan(epsilon, n_components=components, groups=sizes, rows=rows, power=power, confidence=confidence)
        found, words = asdict(audit) | {"promise": asdict(promised)}, f"{audit}\n{promised}".rstrip()
    if as_json:
        print_json(found)
    else:
        out().print(plain(words))


def run_verify(
    certificate_path: Path,
    model_path: Path,
    choice: NewTable,
    roles: Roles | None,
    held_out: bool,
    trust_rows: bool,
    gate: Gate,
    as_json: bool,
) -> int:
    """Show again what a certificate says.

    Parameters
    ----------
    certificate_path : Path
        The certificate.
    model_path : Path
        The model.
    choice : NewTable
        The table.
    roles : Roles or None
        Which columns are what; None takes what the model says.
    held_out : bool
        Whether only rows that the model's fit has held out are looked at.
    trust_rows : bool
        Whether rows are taken for new ones where that cannot be checked.
    gate : Gate
        Limits of figures.
    as_json : bool
        Whether to print JSON.

    Returns
    -------
    code : int
        0, or 1 where it is not confirmed, or a figure is above its limit.
    """
    certificate, model = load_certificate(certificate_path), table_model(model_path)
    if isinstance(certificate, PromiseCertificate) and model.release_ is None:
        raise ValueError(f"{certificate_path} promises something of a release, and {model_path} holds none.")
    rows = rows_of_fit(model_path)
    with Stages() as stages, rows_for(model, choice, roles, held_out, stages) as prepared:
        if held_out:
            check_table_of_fit(model, prepared, choice.table, rows)
        stages.say("looking at the rows again")
        X, people = part(prepared, held_out)
        found = verify(certificate, model.reduction_, X, **known(people), fitted_rows=rows, trust_rows=trust_rows)
    if as_json:
        print_json(found.to_dict())
    else:
        if found.holds and isinstance(certificate, PromiseCertificate):
            out().print(plain(str(certificate)))
        out().print(plain(in_options(str(found))))
    promised = [Figure("promise", "any decision", found.upper_bound)]
    code = held(promised if found.audit is None else found.audit.figures, gate)
    return code if found.holds else NOT_MET
