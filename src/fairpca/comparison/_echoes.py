"""Columns of the table that tell a protected attribute outright."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.comparison._attribute import Standing
from fairpca.rows import dense, is_sparse

LOOKED_AT = 4096
"""Rows, evenly spaced, that are looked at."""

BLOCK_NUMBERS = 2**20
"""Numbers that are looked at together, 8 MB."""


@dataclass(frozen=True, eq=False)
class KnownAttribute:
    """A protected attribute, row by row.

    Attributes
    ----------
    name : str
        Its name, or empty.
    values : ndarray of shape (n,)
        The number of the group of each row, -1 where it has none; or where it stands, NaN where it does not.
    is_continuous : bool
        Which of the two.
    labels : tuple of str, default=()
        What the groups are called, in the order of their numbers.
    """

    name: str
    values: AnyArray
    is_continuous: bool
    labels: tuple[str, ...] = ()

    def echoes(self, X: Any) -> BoolArray:
        """Tell which columns of the table are a function of the groups, or rise or fall with the numbers throughout.

        Parameters
        ----------
        X : ndarray or compressed sparse rows, of shape (n, p)
            Rows.
        """
        known = ~np.isnan(self.values) if self.is_continuous else self.values >= 0
        chosen = np.flatnonzero(known)
        chosen = chosen[:: max(1, len(chosen) // LOOKED_AT)]
        rows = X[chosen].tocsc() if is_sparse(X) else X
        width = max(1, BLOCK_NUMBERS // max(1, len(chosen)))
        parts = [slice(start, start + width) for start in range(0, X.shape[1], width)]
        blocks = (dense(rows[:, part]) if is_sparse(X) else rows[chosen, part] for part in parts)
        values = self.values[chosen]
        return np.concatenate([self._told_by(block.astype(np.float64, copy=False), values) for block in blocks])

    def _told_by(self, rows: FloatArray, values: AnyArray) -> BoolArray:
        """Tell the same of some columns of the chosen rows."""
        if self.is_continuous:
            varies = rows.min(axis=0) < rows.max(axis=0)
            return varies & np.array([_rises_or_falls(column, values) for column in rows.T])
        _, first, index = np.unique(values, return_index=True, return_inverse=True)
        by_group = rows[first]
        return np.any(by_group != by_group[:1], axis=0) & np.all(rows == by_group[index], axis=0)


def _rises_or_falls(column: FloatArray, values: FloatArray) -> bool:
    one, other = Standing.among(column).of(column), Standing.among(values).of(values)
    return bool(np.allclose(one, other, atol=1e-9) or np.allclose(1 - one, other, atol=1e-9))
