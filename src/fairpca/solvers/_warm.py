"""What the answer to one problem is worth to a similar one."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The answer to a similar problem.

    Attributes
    ----------
    frame : ndarray of shape (p, d)
        Its frame; live columns first.
    n_live : int
        How many of them carry variance.
    multipliers : ndarray of shape (n_measures,), default=None
        Its multipliers, from a solver that has them.
    is_local : bool, default=False
        Whether the answer is wanted in the basin of the frame alone, without restarts.
    is_doubtful : bool, default=False
        Whether a search from other starts, or with fewer live components, may keep more.
    """

    frame: FloatArray
    n_live: int
    multipliers: FloatArray | None = None
    is_local: bool = False
    is_doubtful: bool = False

    @property
    def live(self) -> FloatArray:
        """The live columns: null ones, which come last, add nothing to h."""
        return self.frame[:, : self.n_live]

    def for_tolerances(self, discrepancies: FloatArray, tolerances: FloatArray) -> "WarmStart | None":
        """Return a start for the same rows with other tolerances, or None where no tolerance limited the answer.

        Parameters
        ----------
        discrepancies : ndarray of shape (n_measures,)
            The vector h of the answer.
        tolerances : ndarray of shape (n_measures,)
            The new tau.
        """
        if self.multipliers is None or not np.any(self.multipliers > 0):
            return None
        # On the data we know h falls about like 1 / mu.
        return replace(self, multipliers=self.multipliers * discrepancies / tolerances, is_doubtful=False)

    def on_other_rows(self) -> "WarmStart":
        """Return a start for more rows of the same table, where no other start needs to be tried."""
        return replace(self, is_local=True)
