"""Which rows of a table are used, and for what."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray
from fairpca.exceptions import TableError
from fairpca.tables._split import held_out_rows
from fairpca.tables._survey import Survey


@dataclass(frozen=True, eq=False)
class RowPlan:
    """Which rows are used, and which of them are held out.

    Attributes
    ----------
    train, new : ndarray of bool of shape (n_rows,)
        Rows to fit, and rows that are held out.
    people : dict of str to ndarray of shape (n_rows,)
        What is known of them.
    n_dropped : dict of str to int
        Rows that are neither, by reason.
    """

    train: BoolArray
    new: BoolArray
    people: dict[str, AnyArray]
    n_dropped: dict[str, int]

    @classmethod
    def of(cls, found: Survey, share: float, random_state: Any) -> "RowPlan":
        """Draw the rows that are held out.

        Parameters
        ----------
        found : Survey
            The table.
        share : float
            The share that is held out.
        random_state : int, RandomState instance or None
            Draws them.
        """
        people, kept = found.people(), found.rows_kept()
        n_dropped = {"missing": int((~kept).sum())}
        if found.roles.weight is not None:
            weightless = kept & (people[found.roles.weight] == 0)
            kept &= ~weightless
            n_dropped["zero weight"] = int(weightless.sum())
        if kept.sum() < 2:
            raise TableError(f"{found.table.label} has {int(kept.sum())} usable rows; at least 2 are needed.")
        new = np.zeros(len(kept), dtype=bool)
        new[kept] = held_out_rows(share, [people[name][kept] for name in found.roles.sensitive], random_state)
        train = kept & ~new
        if not train.any():
            raise TableError(f"held_out={share} leaves no row to fit; hold out fewer.")
        return cls(train, new, people, {reason: count for reason, count in n_dropped.items() if count})
