"""What the budget solver can use of an answer."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.solvers._warm import WarmStart
from fairpca.solvers.budget._curvature import View


@dataclass(frozen=True, eq=False)
class BudgetWarmStart(WarmStart):
    """The answer to a similar problem, whose tolerances plain PCA did not meet either.

    Attributes
    ----------
    multipliers : ndarray of shape (n_measures,)
        A guess of the multipliers here.
    pca : ndarray of shape (n_measures,)
        The vector h of plain PCA.
    view : View, default=None
        The frame in a chart with the second-order model there, where both are known.
    settled : bool, default=False
        Whether neither other starts nor other numbers of live components need to be tried.
    rugged : bool, default=False
        Whether the way to the answer was not smooth, or fewer live components may keep more.
    """

    multipliers: FloatArray
    pca: FloatArray
    view: View | None = None
    settled: bool = False
    rugged: bool = False

    @property
    def doubtful(self) -> bool:
        """Whether a search from other starts may end higher."""
        return self.rugged

    def for_tolerances(self, discrepancies: FloatArray, tolerances: FloatArray) -> "BudgetWarmStart | None":
        """Return a start for other tolerances; None where no tolerance limited the answer."""
        if not np.any(self.multipliers > 0):
            return None
        # On the data we know h falls about like 1 / mu.
        return replace(self, multipliers=self.multipliers * discrepancies / tolerances, rugged=False)

    def on_other_rows(self, pca: FloatArray | None) -> "BudgetWarmStart":
        """Return a start for more rows, whose Hessian is another."""
        return replace(self, pca=self.pca if pca is None else pca, view=None, settled=True)

    def worth_of(self, slack: FloatArray) -> float:
        """Return the variance share that the multipliers promise for more tolerance."""
        return float(self.multipliers @ slack)
