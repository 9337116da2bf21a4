"""Tilting a frame towards null axes, which shrinks what it projects to."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation

LEAST = math.sqrt(0.5)
"""Least factor by which projections are shrunk: half of the variance stays."""

BISECTIONS = 20


@dataclass(frozen=True)
class Tilt:
    """Frames whose first m columns are s v_j + sqrt(1 - s^2) n_j with null axes n_j.

    Attributes
    ----------
    frame : ndarray of shape (p, k)
        Columns v_j on the live axes, those whose shrinking lowers h most first.
    rank : int
        Number of live axes; null ones follow.
    n_tilted : int
        m.
    """

    frame: FloatArray
    rank: int
    n_tilted: int

    @classmethod
    def of(cls, here: Evaluation, weights: FloatArray, rank: int, n_free: int) -> "Tilt":
        """Turn a frame so that its most unfair columns come first.

        Parameters
        ----------
        here : Evaluation
            The frame, on the live axes.
        weights : ndarray of shape (n_measures,)
            How much each h_j is to be lowered.
        rank : int
            Number of live axes.
        n_free : int
            Number of null axes that may be used.
        """
        inside = here.point.T @ here.weighted_gradient(weights)
        rotation = np.linalg.eigh(inside + inside.T)[1][:, ::-1]
        return cls(here.point @ rotation, rank, max(0, min(here.point.shape[1], n_free)))

    def at(self, s: float) -> FloatArray:
        """Return the frame for a factor s."""
        tilted = self.frame.copy()
        columns = np.arange(self.n_tilted)
        tilted[:, columns] *= s
        tilted[self.rank + columns, columns] = math.sqrt(1.0 - s * s)
        return tilted

    def until(self, is_enough: Callable[[FloatArray], bool]) -> FloatArray | None:
        """Return the least tilted frame that is tilted enough; None where half of the variance would not be left."""
        if self.n_tilted == 0 or not is_enough(self.at(LEAST)):
            return None
        enough, too_little = LEAST, 1.0
        for _ in range(BISECTIONS):
            middle = (enough + too_little) / 2
            if is_enough(self.at(middle)):
                enough = middle
            else:
                too_little = middle
        return self.at(enough)
