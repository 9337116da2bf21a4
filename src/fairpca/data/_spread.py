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
    """Squares of the centred, scaled rows, in a unit in which they neither overflow nor vanish.

    Attributes
    ----------
    total : float
        A multiple of tr S; exactly 0 where no column varies.
    kept : float
        The same multiple of tr V'SV.
    """

    total: float
    kept: float

    def __add__(self, other: "Spread") -> "Spread":
        return Spread(self.total + other.total, self.kept + other.kept)

    @classmethod
    def of(cls, rows: Rows, scale: FloatArray | float, components: FloatArray) -> "Spread":
        """Measure rows.

        Parameters
        ----------
        rows : Rows
            Raw rows, with their strata and, where they have them, their masses attached.
        scale : ndarray of shape (p,) or float
            What divides the columns.
        components : ndarray of shape (d, p)
            V', orthonormal rows, in the scaled columns.
        """
        sums = rows.total(sums_of_block)
        if not np.isfinite(sums.smallest + sums.largest).all():
            rows.check_finite()
        if np.all(sums.smallest == sums.largest):
            return cls(0.0, 0.0)
        ranges = sums.ranges
        if not np.isfinite(ranges.mean).all():
            ranges.check_size()
        unit = scale * float((ranges.units / scale).max())
        return rows.total(squares_of_block, ranges.mean, unit, components)


def squares_of_block(
    X: AnyArray, attached: AnyArray, mean: FloatArray, scale: FloatArray | float, components: FloatArray
) -> Spread:
    """Return the squares of the centred, scaled rows of a block, and of their projections.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    attached : ndarray of shape (n_block, k)
        Has their masses.
    mean : ndarray of shape (p,)
        What is subtracted.
    scale : ndarray of shape (p,) or float
        What divides.
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
