"""A model fitted to a table and audited on rows held out."""
# SPDX-License-Identifier: MIT

import time
from dataclasses import dataclass

from fairpca import FairPCA, FairPCAPath
from fairpca.auditing import AuditResult, Certificate
from fairpca.cli._options import FitTerms, Table
from fairpca.cli._phrases import in_options
from fairpca.cli._stages import Stages
from fairpca.cli._study import audited, fitted, plain_pca
from fairpca.cli.fit._trade_off import trade_off
from fairpca.table_model import HeldOut
from fairpca.tables import PreparedTable, Roles


@dataclass(frozen=True)
class Fitted:
    """All that a fit has found.

    Attributes
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    prepared : PreparedTable
        Its rows.
    held_out : HeldOut
        Which of them were held out.
    model, before : FairPCA
        The fitted model, and plain PCA.
    audit, audit_before : AuditResult
        What held-out rows show of both.
    certificate : Certificate or None
        What can be said of the population.
    path : FairPCAPath or None
        The trade-off.
    notes : tuple of str
        What readers must know.
    seconds : float
        How long all of it took.
    """

    choice: Table
    roles: Roles
    prepared: PreparedTable
    held_out: HeldOut
    model: FairPCA
    before: FairPCA
    audit: AuditResult
    audit_before: AuditResult
    certificate: Certificate | None
    path: FairPCAPath | None
    notes: tuple[str, ...]
    seconds: float


def find(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    prepared: PreparedTable,
    held_out: HeldOut,
    with_path: bool,
    notes: tuple[str, ...],
    stages: Stages,
    began: float,
) -> Fitted:
    """Fit and audit.

    Parameters
    ----------
    choice, roles, prepared, held_out
        See `Fitted`.
    asked : FitTerms
        What is asked of the fit.
    with_path : bool
        Whether the trade-off is traced.
    notes : tuple of str
        What is to be said of the table.
    stages : Stages
        Told how far it is.
    began : float
        When the work began.
    """
    seed = held_out.random_state
    model = fitted(asked.model(prepared.people_train.y, seed), prepared, stages)
    before = plain_pca(model, prepared, stages)
    prepared.release()
    found, found_before = (audited(each, prepared, seed, stages) for each in (model, before))
    certificate, reasons = certified(found)
    path, remarks = trade_off(model, prepared, seed, stages) if with_path else (None, ())
    prepared.release()
    return Fitted(
        choice,
        roles,
        prepared,
        held_out,
        model,
        before,
        found,
        found_before,
        certificate,
        path,
        tuple(map(in_options, (*notes, *reasons, *remarks))),
        time.perf_counter() - began,
    )


def certified(audit: AuditResult) -> tuple[Certificate | None, tuple[str, ...]]:
    """Return what can be certified, or why nothing can.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    """
    try:
        return audit.certificate(), ()
    except ValueError as error:
        return None, (f"No certificate was written: {error}",)
