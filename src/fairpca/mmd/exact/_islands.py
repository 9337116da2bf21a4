"""Rows so far from each other that the kernel between them is 0, brought together so that they cost no digits."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

GAP = 40.0
"""Distance in bandwidths beyond which the kernel is 0: exp(-GAP^2 / 2) = 1e-348 is below the smallest number."""


@dataclass(frozen=True)
class Islands:
    r"""Rows in bandwidths, with every empty stretch of a coordinate that is wider than `GAP` cut down to `GAP`.

    Rows on two sides of such a stretch do not know of each other, before and after; rows that have none between them,
    those of one island, keep their differences. So the kernel and all its derivatives stay what they are, while no
    row is much further than `GAP` from the next: squares of coordinates neither overflow nor cost the other
    rows their digits. Sums that multiply kernel values with coordinates may take those of each island from an origin
    of its own.

    Attributes
    ----------
    positions : ndarray of shape (n, d)
        The rows, brought together and centred.
    origins : ndarray of shape (n,) or None
        For each row the number of a row of its island, the same for all of it; None when there is one island.
    """

    positions: FloatArray
    origins: IntArray | None

    @classmethod
    def of(cls, Z: FloatArray, bandwidth: float = 1.0) -> "Islands":
        """Find the islands.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            Rows, in any units.
        bandwidth : float, default=1.0
            sigma in these units.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            # The mean, without what numpy does around the sum, which takes longer.
            centred = Z - np.add.reduce(Z, axis=0) / len(Z)
            centred /= bandwidth
            # The usual case, told at the least cost.
            if max(centred.max(initial=0.0), -centred.min(initial=0.0)) <= GAP / 2:
                return cls(centred, None)
            wide = np.flatnonzero(np.ptp(Z, axis=0) > GAP * bandwidth)
            if not len(wide):
                return cls(centred, None)
            together, island = Z.astype(np.float64), np.zeros(len(Z), dtype=np.int64)
            for a in wide:
                together[:, a], parts = _without_gaps(Z[:, a], GAP * bandwidth)
                _, first, island = np.unique(island * len(Z) + parts, return_index=True, return_inverse=True)
        positions = (together - np.median(together, axis=0)) / bandwidth
        return cls(positions, first[island] if len(first) > 1 else None)

    @cached_property
    def local(self) -> FloatArray:
        """The positions, seen from the island of each row."""
        return self.positions if self.origins is None else self.seen_locally(self.positions)

    def seen_locally(self, values: AnyArray) -> AnyArray:
        """Return linear functions of the rows, minus those of an origin on the island of each row.

        Parameters
        ----------
        values : ndarray of shape (n, k)
            Other coordinates of the same rows.
        """
        if self.origins is None:
            return values - values.mean(axis=0)
        # A row, not a mean: differences of rows that are far and near each other lose nothing.
        return values - values[self.origins]


def _without_gaps(z: FloatArray, gap: float) -> tuple[FloatArray, IntArray]:
    """Return one coordinate with its wider gaps cut down, and the part between two of them that each row is in."""
    order = np.argsort(z)
    ordered = z[order]
    starts = np.concatenate([[0], 1 + np.flatnonzero(np.diff(ordered) > gap)])
    part_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(z))))
    inside = ordered - ordered[starts][part_of]
    lengths = inside[np.append(starts[1:], len(z)) - 1]
    bases = np.concatenate([[0.0], np.cumsum(lengths[:-1] + gap)])
    together, parts = np.empty_like(ordered), np.empty_like(part_of)
    together[order], parts[order] = inside + bases[part_of], part_of
    return together, parts
