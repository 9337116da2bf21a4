"""The steps of a fit from a table, one after the other."""
# SPDX-License-Identifier: MIT

import time
from pathlib import Path

from fairpca.cli._options import FitTerms, Table
from fairpca.cli._places import check_folder
from fairpca.cli._stages import Stages
from fairpca.cli._study import read
from fairpca.cli._words import print_json
from fairpca.cli.fit._files import FILES, write
from fairpca.cli.fit._found import find
from fairpca.cli.fit._metrics import metrics
from fairpca.cli.fit._shown import show, show_columns
from fairpca.table_model import HeldOut
from fairpca.tables import Roles

NOT_MET = 1


def run_fit(
    choice: Table,
    roles: Roles,
    asked: FitTerms,
    share: float,
    seed: int,
    folder: Path,
    with_path: bool,
    as_json: bool,
) -> int:
    """Fit a model to a table, audit it on held-out rows, and write everything into a folder.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    asked : FitTerms
        What is asked of the fit.
    share : float
        Share of the rows that is held out.
    seed : int
        Of everything that is drawn.
    folder : Path
        Where to.
    with_path : bool
        Whether the report shows the trade-off.
    as_json : bool
        Whether the numbers are printed as JSON.

    Returns
    -------
    code : int
        0, or 1 where the tolerance is not met.
    """
    asked.check_people(roles)
    check_folder(folder, FILES.values(), [choice.table])
    began = time.perf_counter()
    with Stages() as stages:
        prepared, used, said = read(choice, roles, share, seed, stages)
        with prepared:
            notes = (*prepared.notes, *said)
            if not as_json:
                show_columns(prepared, notes)
            found = find(choice, roles, asked, prepared, HeldOut(used, seed), with_path, notes, stages, began)
            files = write(found, folder, stages)
    document = metrics(found, files)
    if as_json:
        print_json(document)
    else:
        show(found, files, len(notes))
    return 0 if found.model.converged_ else NOT_MET
