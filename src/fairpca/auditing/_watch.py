"""Bets against one claim, whose wealth is evidence at any time: witnesses from the past, blocks of people, bets."""
# SPDX-License-Identifier: MIT

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.metrics.pairwise import rbf_kernel

from fairpca._utils.typing import FloatArray, IntArray

FRACTIONS = (0.0, 0.25, 0.5, 1.0)
"""Bets are these parts of the largest. The wealth is divided among them equally at first."""

LARGEST_BLOCK = 32
"""People of a block at most: of larger ones the means are hardly better, and the best bet is the largest anyway."""


class KernelFeatures:
    """Kernels around landmarks, whose combinations of norm 1 are witnesses of MMD.

    Parameters
    ----------
    landmarks : ndarray of shape (k, d)
        People of the past.
    sigma : float
        The bandwidth.
    """

    memory = 20.0
    """So many people, over c^2, tell the direction of a difference as large as c."""

    def __init__(self, landmarks: FloatArray, sigma: float) -> None:
        self.landmarks, self.sigma = landmarks, sigma
        values, vectors = eigh(self.of(landmarks))
        # Combinations that are orthonormal in the space of the kernel; those that are left out would be rounding.
        kept = values > 1e-6 * values[-1]
        self._basis = vectors[:, kept] / np.sqrt(values[kept])

    def __len__(self) -> int:
        return len(self.landmarks)

    def of(self, Z: FloatArray) -> FloatArray:
        """Return k(z, c) for each row and landmark."""
        return np.asarray(rbf_kernel(Z, self.landmarks, gamma=0.5 / self.sigma**2))

    def witness(self, difference: FloatArray) -> FloatArray:
        """Return the coefficients of the function of norm 1 whose means differ most, from the difference of means."""
        along = self._basis.T @ difference
        length = float(np.linalg.norm(along))
        return np.asarray(self._basis @ along / length) if length > 0.0 else np.zeros(len(self))

    def error(self, n: int, alpha: float) -> float:
        """Return by how much the mean of n people is wrong, with probability alpha more.

        The expectation is at most 1/sqrt(n), and one other person changes it by at most sqrt(2)/n (McDiarmid).
        """
        return (1.0 + math.sqrt(-math.log(alpha))) / math.sqrt(n)

    def shares(self, witness: FloatArray, difference: FloatArray) -> FloatArray:
        """Return which part of the squared slope of a witness at the landmarks is along each component."""
        weighted = self.of(self.landmarks) * witness
        slopes = weighted @ self.landmarks - weighted.sum(axis=1)[:, None] * self.landmarks
        squares = np.sum(slopes**2, axis=0)
        return np.asarray(squares / max(float(squares.sum()), 1e-300))


class CellFeatures:
    """Indicators of cells, whose sums are witnesses of total variation.

    Parameters
    ----------
    values : ndarray of shape (k, d)
        What is released of each cell.
    """

    def __init__(self, values: FloatArray) -> None:
        self.values, self._rows = values, np.eye(len(values))
        self.memory = float(len(values))

    def __len__(self) -> int:
        return len(self.values)

    def of(self, codes: IntArray) -> FloatArray:
        """Return a row of indicators for each code."""
        return np.asarray(self._rows[codes])

    def witness(self, difference: FloatArray) -> FloatArray:
        """Return the indicator of the cells of which the first side has more."""
        return (difference > 0.0).astype(np.float64)

    def error(self, n: int, alpha: float) -> float:
        """Return by how much shares of n people are wrong, with probability alpha more.

        The expectation is at most sqrt((k - 1)/n) / 2, and one other person changes it by at most 1/n (McDiarmid).
        """
        return 0.5 * math.sqrt((len(self) - 1) / n) + math.sqrt(-math.log(alpha) / (2.0 * n))

    def shares(self, witness: FloatArray, difference: FloatArray) -> FloatArray:
        """Return how the squared difference of the means of what is released is divided among components."""
        squares = (difference @ self.values) ** 2 / np.maximum(np.var(self.values, axis=0), 1e-300)
        return np.asarray(squares / max(float(squares.sum()), 1e-300))


class Watch:
    r"""Wealth of bets that two sides differ by more than a claim allows.

    People who are compared are put into blocks in their order. A block is closed as soon as it has enough people, and
    some of each side. With the m and n people of its sides, and a witness g that was chosen before the first of them
    came, of norm 1 in the space of the kernel, or with values in [0, 1] on cells,

    .. math:: y = \frac1m \sum g(z_i) - \frac1n \sum g(z'_i) - c, \qquad
              K \leftarrow K \sum_k w_k (1 + l_k y),

    where c is the square root of U, or the target, the w_k sum to 1, and the bets l_k lie in [0, 1/(2 + c)]. Both
    follow from the past, and from m and n.

    *Why the wealth K is evidence.* Given everybody's sides, people are independent draws from their groups, so
    E g(Z) - E g(Z') is at most MMD, or TV, and at most c if the claim holds. Which people make up a block, and so m and
    n, depend on sides alone. So E[y | earlier blocks] <= 0, whatever the witness is, and y >= -(2 + c) keeps K above 0:
    K is a supermartingale over blocks that begins at 1, and by Ville's inequality it ever reaches 1/alpha with
    probability at most alpha. Who looks at any time sees some of these blocks, and no others. An exact function of the
    kernel is what makes it true of the claim's own kernel: its norm is exact, where features drawn at random would know
    it with an error only. Means of blocks in place of pairs leave nobody out where groups are of unequal size.

    Parameters
    ----------
    features : KernelFeatures or CellFeatures
        Of which witnesses are combined.
    claim : float
        c.
    limit : float
        The logarithm of the wealth that is an alarm.
    reference : ndarray of shape (k,), default=None
        Means of features that the people of side 0 are compared with, in place of side 1.
    """

    def __init__(
        self, features: KernelFeatures | CellFeatures, claim: float, limit: float, reference: FloatArray | None = None
    ) -> None:
        self.features, self.claim, self.limit, self.reference = features, claim, limit, reference
        self._largest_bet = 1.0 / (2.0 + claim)
        # At this size the best bet against a claim that fails by half is about the largest.
        self._block = max(2, min(LARGEST_BLOCK, int(0.6 / max(claim, 1e-9))))
        # People who came before so many are forgotten by and by: groups may begin to differ in other ways.
        self._horizon = features.memory / max(claim, 1e-9) ** 2
        # Numbers of Python: blocks are many, and arrays of a few entries slow.
        self.log_wealth, self.shares, self.n_bets = 0.0, [1.0 / len(FRACTIONS)] * len(FRACTIONS), 0
        self.open_sums, self.open_counts = [0.0, 0.0], [0, 0]
        self.witness, self.due = np.zeros(len(features)), 0.0
        self.sums, self.counts = np.zeros((2, len(features))), np.zeros(2)
        self._listen()

    @property
    def difference(self) -> FloatArray:
        """The difference of the means of features, as far as they are known."""
        means = self.sums / np.maximum(self.counts, 1.0)[:, None]
        return np.asarray(means[0] - (means[1] if self.reference is None else self.reference))

    def add(self, F: FloatArray, sides: IntArray) -> int | None:
        """Take people in their order, and return which of them closed the first block at the limit, if one did.

        Parameters
        ----------
        F : ndarray of shape (n, k)
            Their features.
        sides : ndarray of int of shape (n,)
            0 or 1.
        """
        of_side = [np.flatnonzero(sides == side).tolist() for side in (0, 1)]
        needed = [side for side in (0, 1) if side == 0 or self.reference is None]
        n, start, first, crossed = len(F), 0, 0, None
        totals, known = self._totals(F, sides), float(self.counts.sum())
        while start < n:
            if not any(self.open_counts) and known + start - first >= self.due:
                self._learn(F[first:start], sides[first:start])
                self._choose()
                first, totals, known = start, self._totals(F[start:], sides[start:]), float(self.counts.sum())
            stop = start + max(1, self._block - sum(self.open_counts))
            for side in needed:
                if not self.open_counts[side]:
                    next_one = bisect_left(of_side[side], start)
                    stop = max(stop, of_side[side][next_one] + 1 if next_one < len(of_side[side]) else n + 1)
            end = min(stop, n)
            for side in (0, 1):
                self.open_sums[side] += totals[side][end - first] - totals[side][start - first]
                self.open_counts[side] += bisect_left(of_side[side], end) - bisect_left(of_side[side], start)
            start = end
            if stop <= n:
                self._bet()
                if crossed is None and self.log_wealth >= self.limit:
                    crossed = end - 1
        self._learn(F[first:], sides[first:])
        return crossed

    def _totals(self, F: FloatArray, sides: IntArray) -> list[list[float]]:
        """Return the sums of the witness over the first 0, 1, ... people, on each side."""
        values = (sides == [[0], [1]]) * (F @ self.witness)
        return [[0.0, *own] for own in np.cumsum(values, axis=1).tolist()]

    def _learn(self, F: FloatArray, sides: IntArray) -> None:
        on_sides = (sides == [[0], [1]]).astype(np.float64)
        self.sums += on_sides @ F
        self.counts += on_sides.sum(axis=1)

    def _choose(self) -> None:
        if self.counts.sum() > 2.0 * self._horizon:
            self.sums *= 0.5
            self.counts *= 0.5
        total = float(self.counts.sum())
        self.due = total + max(1.0, 0.1 * total)
        if self.counts[0] and (self.counts[1] or self.reference is not None):
            self.witness = self.features.witness(self.difference)
        self._listen()

    def _listen(self) -> None:
        self._silent = not self.witness.any()
        self._compared_with = 0.0 if self.reference is None else float(self.reference @ self.witness)

    def _bet(self, settled: int = 1000) -> None:
        """Close a block: after bet t a part 1 / (t + settled) of the wealth is divided anew, so that no bet is lost."""
        (first, second), (m, n) = self.open_sums, self.open_counts
        self.open_sums, self.open_counts = [0.0, 0.0], [0, 0]
        if self._silent:
            return
        if self.reference is None:
            payoff, size = first / m - second / n - self.claim, m * n / (m + n)
        else:
            payoff, size = first / m - self._compared_with - self.claim, float(m)
        # The best bet grows as the variance of the means falls.
        largest, scale = self._largest_bet, 4.0 * size / self._block
        grown = [
            share * (1.0 + largest * min(1.0, fraction * scale) * payoff)
            for share, fraction in zip(self.shares, FRACTIONS, strict=True)
        ]
        total, anew = sum(grown), 1.0 / (self.n_bets + settled)
        self.log_wealth += math.log(total)
        self.shares = [(1.0 - anew) * each / total + anew / len(FRACTIONS) for each in grown]
        self.n_bets += 1

    def state(self) -> dict[str, Any]:
        """Return all that changes, as plain types."""
        return {name: getattr(self, name) for name in PLAIN} | {name: getattr(self, name).tolist() for name in ARRAYS}

    def restore(self, state: dict[str, Any]) -> None:
        """Take what `state` has returned.

        Parameters
        ----------
        state : dict
            Plain types.
        """
        for name in PLAIN:
            setattr(self, name, state[name])
        for name in ARRAYS:
            setattr(self, name, np.array(state[name], dtype=np.float64))
        self._listen()


ARRAYS = ("witness", "sums", "counts")
PLAIN = ("log_wealth", "shares", "n_bets", "due", "open_sums", "open_counts")
