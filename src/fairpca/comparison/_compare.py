"""From what a user says of rows to who is compared with whom."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np

from fairpca._utils.checks import check_name
from fairpca.comparison._comparison import Comparison, Strata
from fairpca.comparison._dask_groups import groups_beside
from fairpca.comparison._groups import Groups
from fairpca.comparison._notions import NOTIONS, Notion


def notion_from(fairness: Any) -> Notion:
    """Return the notion of fairness for a name or an object.

    Parameters
    ----------
    fairness : str or Notion
        What the user passed.
    """
    if isinstance(fairness, str):
        return NOTIONS[check_name("fairness", fairness, NOTIONS)]()
    if isinstance(fairness, type) or not callable(getattr(fairness, "contrasts", None)):
        raise TypeError(f"fairness must be one of {sorted(NOTIONS)} or a notion object; got {fairness!r}.")
    notion: Notion = fairness
    return notion


def compare(
    sensitive_features: Any, rows: int | tuple[int, ...], notion: Notion, tolerance: Any
) -> tuple[Any, Comparison]:
    """Sort rows into strata and say which of them are compared.

    Parameters
    ----------
    sensitive_features : array-like, or Dask series or array, of shape (n,)
        Group of each row.
    rows : int or tuple of int
        Number of rows; of a Dask table the rows of each block.
    notion : Notion
        Which groups must look alike.
    tolerance : float or array-like of shape (n_measures,)
        tau, for all measures or one by one.

    Returns
    -------
    codes : ndarray, or dask.array.Array, of int of shape (n, 1)
        The stratum of each row.
    comparison : Comparison
        Contrasts between the strata.
    """
    groups = Groups.of(sensitive_features, rows) if isinstance(rows, int) else groups_beside(sensitive_features, rows)
    strata = Strata(tuple(map(str, groups.labels)), groups.counts.astype(np.float64))
    return groups.codes, Comparison.of(strata.sizes, notion.contrasts(strata), tolerance)
