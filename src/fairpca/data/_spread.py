"""How much rows vary, and how much of it components keep, in two passes."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.comparison import masses_of
from fairpca.data._columns import sums_of_block
from fairpca.rows import Rows


@dataclass(frozen=True)
class Spread:
    """Variances (divisor n) of scaled rows, summed over directions.

    Attributes
    ----------
    total : float
        tr S; exactly 0 where no column varies.
    kept : float
        tr V'SV.
    """

    total: float
    kept: float

    def __add__(self, other: "Spread") -> "Spread":
        return Spread(self.total + other.total, self.kept + other.kept)

    @classmethod
    def of(cls, rows: Rows, scale: FloatArray, components: FloatArray) -> "Spread":
        """Measure rows.

        Parameters
        ----------
        rows : Rows
            Raw rows, with their strata and, where they have them, their masses attached.
        scale : ndarray of shape (p,)
            What divides the columns.
        components : ndarray of shape (d, p)
            V', orthonormal rows, in the scaled columns.
        """
        sums = rows.total(sums_of_block)
        if not np.isfinite(sums.smallest + sums.largest).all():
            rows.check_finite()
        if np.all(sums.smallest == sums.largest):
            return cls(0.0, 0.0)
        squares = rows.total(squares_of_block, sums.total / sums.mass, scale, components)
        return cls(squares.total / sums.mass, squares.kept / sums.mass)


def squares_of_block(
    X: AnyArray, attached: AnyArray, mean: FloatArray, scale: FloatArray, components: FloatArray
) -> Spread:
    """Return the squares of the centred, scaled rows of a block, and of their projections.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Has their masses.
    mean, scale : ndarray of shape (p,)
        What is subtracted and what divides.
    components : ndarray of shape (d, p)
        V'.
    """
    centred = np.subtract(X, mean, dtype=np.float64)
    centred /= scale
    masses = masses_of(attached)
    if masses is not None:
        centred *= np.sqrt(masses)[:, None]
    projected = centred @ components.T
    return Spread(float(np.vdot(centred, centred)), float(np.vdot(projected, projected)))
