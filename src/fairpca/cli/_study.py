"""What commands do with a table: read it, hold rows out, fit, audit."""
# SPDX-License-Identifier: MIT

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from fairpca import FairPCA, audit
from fairpca.auditing import AuditResult
from fairpca.cli._options import Table
from fairpca.cli._output import Stages
from fairpca.comparison import LARGEST_MMD2, People
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning, TableWarning
from fairpca.inference import LEAST_ROWS
from fairpca.tables import PreparedTable, Roles, is_continuous, prepare


def read(
    choice: Table, roles: Roles, share: float, seed: int, stages: Stages
) -> tuple[PreparedTable, float, tuple[str, ...]]:
    """Read a table and hold rows out: more than asked for where a certificate could not speak of a group otherwise.

    Parameters
    ----------
    choice : Table
        The table.
    roles : Roles
        Which columns are what.
    share : float
        Share of the rows that is held out.
    seed : int
        Draws them.
    stages : Stages
        Told how far it is.

    Returns
    -------
    prepared : PreparedTable
        The rows. Its notes are for the caller to show.
    share : float
        The share that was held out.
    notes : tuple of str
        Why it is another than was asked for.
    """
    table, options = choice.file, choice.options()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", TableWarning)
        prepared = prepare(table, roles, options, held_out=share, callback=stages.rows, random_state=seed)
        needed = share_needed(prepared, share)
        if needed <= share:
            return prepared, share, ()
        prepared.close()
        words = (
            f"{100 * needed:.0f} % of the rows are held out, not {100 * share:.0f} %: a certificate needs {LEAST_ROWS} "
            "of each group."
        )
        prepared = prepare(table, roles, options, held_out=needed, callback=stages.rows, random_state=seed)
        return prepared, needed, (words,)


def share_needed(prepared: PreparedTable, share: float, most: float = 0.5) -> float:
    """Return the share of rows that must be held out so that each group has as many there as a certificate needs.

    Parameters
    ----------
    prepared : PreparedTable
        Rows of which a share is held out.
    share : float
        That share.
    most : float, default=0.5
        What is held out at most unless more was asked for: fits need rows too.
    """
    needed = share
    for column in (prepared.people_new.sensitive_features or {}).values():
        values, counts = np.unique(np.asarray(column, dtype=str), return_counts=True)
        if len(values) > 1 and not is_continuous(np.asarray(column)) and counts.min() < LEAST_ROWS:
            needed = max(needed, share * (LEAST_ROWS + 1) / int(counts.min()))
    return max(share, min(most, needed))


def known(people: People) -> dict[str, Any]:
    """Return what is known of people as arguments of `fit` and `audit`.

    Parameters
    ----------
    people : People
        The people.
    """
    return dict(vars(people))


def fitted(model: FairPCA, prepared: PreparedTable, stages: Stages) -> FairPCA:
    """Fit a model to the rows to fit.

    Parameters
    ----------
    model : FairPCA
        What to fit.
    prepared : PreparedTable
        The rows.
    stages : Stages
        Told how it goes.
    """
    stages.say("fitting")
    with warnings.catch_warnings():
        # Near copies of attributes were named with the columns, and what is not met is said with the answer.
        warnings.simplefilter("ignore", AttributeInTableWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(callback=stages.step).fit(prepared.X_train, **known(prepared.people_train))
    return model.set_params(callback=None)


def plain_pca(model: FairPCA, prepared: PreparedTable, stages: Stages) -> FairPCA:
    """Fit plain PCA with as many components to the same rows.

    Parameters
    ----------
    model : FairPCA
        The fitted model.
    prepared, stages
        As above.
    """
    stages.say("fitting plain PCA")
    # Nothing exceeds this tolerance; with groups many rows are not copied.
    loosest = clone(model).set_params(n_components=model.n_components_, tolerance=LARGEST_MMD2, callback=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AttributeInTableWarning)
        return loosest.fit(prepared.X_train, **known(prepared.people_train))


def audited(model: Any, prepared: PreparedTable, seed: int, stages: Stages, **terms: Any) -> AuditResult:
    """Audit a reduction on the rows that were held out.

    Parameters
    ----------
    model : fitted transformer
        What reduces.
    prepared, stages
        As above.
    seed : int
        Draws what the audit draws.
    **terms : dict
        How people are compared, where the reduction does not say.
    """
    return audit(model, prepared.X_new, **known(prepared.people_new), random_state=seed, callback=stages.say, **terms)
