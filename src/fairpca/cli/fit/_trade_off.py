"""The trade-off that a report shows."""
# SPDX-License-Identifier: MIT

import warnings
from typing import Any

import numpy as np

from fairpca import FairPCA, FairPCAPath
from fairpca.cli._stages import Stages
from fairpca.cli._study import known
from fairpca.comparison import Terms
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning
from fairpca.tables import PreparedTable

PATH_ROWS = 5_000
"""Rows on which the trade-off is traced: it is drawn, not used."""


def trade_off(
    model: FairPCA, prepared: PreparedTable, seed: int, stages: Stages
) -> tuple[FairPCAPath | None, tuple[str, ...]]:
    """Trace the trade-off, on some of the rows where they are many.

    Parameters
    ----------
    model : FairPCA
        The fitted model.
    prepared : PreparedTable
        The rows.
    seed : int
        Draws some of them.
    stages : Stages
        Told how it goes.

    Returns
    -------
    path : FairPCAPath or None
        The path; None where so few rows cannot be compared.
    notes : tuple of str
        What readers must know of it.
    """
    stages.say("tracing the trade-off")
    n_rows = len(prepared.X_train)
    few = n_rows > PATH_ROWS
    rows = np.sort(np.random.default_rng(seed).choice(n_rows, PATH_ROWS, replace=False)) if few else slice(None)
    people = {name: _taken(table, rows) for name, table in known(prepared.people_train).items()}
    settings = dict(vars(Terms.of(model))) | {
        "n_components": model.n_components_,
        "bandwidth": model.bandwidth if model.bandwidth == "scales" else model.bandwidth_,
        "small_groups": "merge" if few else model.small_groups,
        "random_state": seed,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            path = FairPCAPath(FairPCA(**settings)).fit(prepared.X_train[rows], **people)
        except ValueError as error:
            return None, (f"The trade-off is not shown: {error}",)
    return path, (f"The trade-off was traced on {PATH_ROWS:,} of the {n_rows:,} rows to fit.",) if few else ()


def _taken(table: Any, rows: Any) -> Any:
    if isinstance(table, dict):
        return {name: column[rows] for name, column in table.items()}
    return None if table is None else table[rows]
