"""The rows that features serve worst, found in a pass over all of them."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass, field

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray

MOST_HEAVY = 512
"""Rows at most whose residuals are treated exactly."""

ROUNDING = 1e-6
"""Share by which a weight must be above a level to count as above it, wherever it is computed."""


def heaviness(weights: FloatArray, residuals: FloatArray) -> FloatArray:
    r"""Return max_c \|w_ic\| sqrt(r_i) for each row: the most that it can add to what features leave out.

    Parameters
    ----------
    weights : ndarray of shape (n, n_columns)
        w.
    residuals : ndarray of shape (n,)
        r, what the features leave of the kernel at each row.
    """
    return np.abs(weights).max(axis=1) * np.sqrt(residuals)


@dataclass(frozen=True)
class HeavyRows:
    """Candidates for the heaviest rows of a table; a sum of two is what is left of both.

    Attributes
    ----------
    positions : ndarray of shape (k, d)
        In the axes of the basis.
    weights : ndarray of shape (k, n_columns)
        Their weights.
    strata : ndarray of int of shape (k,)
        Their strata.
    residuals, heaviness : ndarray of shape (k,)
        See `heaviness`; no more than one above `MOST_HEAVY` rows are kept.
    searched : bool
        Whether they were looked for: if not, others may be as heavy as can be.
    """

    positions: FloatArray
    weights: FloatArray
    strata: IntArray
    residuals: FloatArray
    heaviness: FloatArray
    searched: bool = field(default=True, kw_only=True)

    @classmethod
    def of(cls, positions: FloatArray, weights: FloatArray, strata: IntArray, residuals: FloatArray) -> "HeavyRows":
        """Choose among rows."""
        return cls(positions, weights, strata, residuals, heaviness(weights, residuals))._heaviest()

    @classmethod
    def none(cls, d: int, n_columns: int, searched: bool = True) -> "HeavyRows":
        """Return no rows."""
        no_strata = np.empty(0, dtype=np.int64)
        return cls(np.empty((0, d)), np.empty((0, n_columns)), no_strata, np.empty(0), np.empty(0), searched=searched)

    def __add__(self, other: "HeavyRows") -> "HeavyRows":
        pairs = zip(self._arrays, other._arrays, strict=True)
        return HeavyRows(*(np.concatenate(pair) for pair in pairs))._heaviest()

    @property
    def level(self) -> float:
        """Rows above it, `MOST_HEAVY` at most, are among the candidates, all of them."""
        if not self.searched:
            return math.inf
        return (1 + ROUNDING) * float(self.heaviness.min()) if len(self.heaviness) > MOST_HEAVY else 0.0

    def above_level(self) -> "HeavyRows":
        """Return the rows above the level."""
        return self._where(self.heaviness > self.level)

    def _heaviest(self) -> "HeavyRows":
        if len(self.heaviness) <= MOST_HEAVY + 1:
            return self
        return self._where(np.argpartition(-self.heaviness, MOST_HEAVY)[: MOST_HEAVY + 1])

    def _where(self, chosen: AnyArray) -> "HeavyRows":
        return HeavyRows(*(each[chosen] for each in self._arrays))

    @property
    def _arrays(self) -> tuple[AnyArray, ...]:
        return self.positions, self.weights, self.strata, self.residuals, self.heaviness
