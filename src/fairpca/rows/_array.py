"""Rows in an array, in memory or mapped from a file."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from fairpca._threads import run_lanes, single_threaded_blas
from fairpca._typing import AnyArray, FloatArray, IntArray
from fairpca.rows._protocol import Partial, Transform
from fairpca.rows._strata import StratifiedDraw, shares, strata

BLOCK_NUMBERS = 2**18
"""Numbers in a block: 2 MB in float64, a share of the cache of one core."""

LANES = 8
"""Partial sums. Fixed, so that the order of additions, hence the last bit, is the same for any thread count."""


class ArrayRows:
    """Rows of an array of shape (n, p), float32 or float64, used as they are: no copy of the whole is made.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        The rows, for example a `numpy.memmap`.
    weights : ndarray of shape (n, c)
        Their weights.
    """

    def __init__(self, X: AnyArray, weights: FloatArray) -> None:
        self._X = X
        self._weights = weights
        self.n_rows, self.n_columns = X.shape

    def total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return the sum over blocks, see `Rows.total`; runs in threads."""
        height = max(256, BLOCK_NUMBERS // self.n_columns)
        starts = range(0, self.n_rows, height)
        n_lanes = min(LANES, len(starts))
        sums: list[Any] = [None] * n_lanes

        def add_block(lane: int, start: int) -> None:
            block = slice(start, start + height)
            term = function(self._X[block], self._weights[block], *arguments)
            sums[lane] = term if sums[lane] is None else sums[lane] + term

        # Neighbouring blocks in a lane, so that a mapped file is read forwards.
        edges = [len(starts) * edge // n_lanes for edge in range(n_lanes + 1)]
        lanes = [
            [partial(add_block, lane, start) for start in starts[first:last]]
            for lane, (first, last) in enumerate(pairwise(edges))
        ]
        with single_threaded_blas():
            run_lanes(lanes)
        total: Partial = sums[0]
        for term in sums[1:]:
            total = total + term
        return total

    def sample(self, indices: AnyArray, transform: Transform | None = None) -> tuple[AnyArray, AnyArray]:
        """Return rows and weights, see `Rows.sample`."""
        if transform is None:
            return np.asarray(self._X[indices]), self._weights[indices]
        height = max(256, BLOCK_NUMBERS // self.n_columns)
        pieces = [indices[start : start + height] for start in range(0, len(indices), height)]
        return np.concatenate([transform(self._X[piece]) for piece in pieces]), self._weights[indices]

    def stratified_draw(self, size: int, generator: np.random.Generator) -> StratifiedDraw:
        """Choose random rows, see `Rows.stratified_draw`."""
        stratum = self._strata()
        codes, counts = np.unique(stratum, return_counts=True)
        wanted = shares(counts, size)
        chosen = [
            np.flatnonzero(stratum == code)[generator.choice(count, number, replace=False)]
            for code, count, number in zip(codes, counts, wanted, strict=True)
        ]
        return StratifiedDraw.of(np.concatenate(chosen), np.repeat(np.arange(len(codes)), wanted), counts)

    def _strata(self) -> IntArray:
        """Return the stratum of each row, in as few bytes as it takes."""
        stratum = np.empty(self.n_rows, dtype=np.min_scalar_type(3 ** self._weights.shape[1]))
        for start in range(0, self.n_rows, BLOCK_NUMBERS):
            block = slice(start, start + BLOCK_NUMBERS)
            stratum[block] = strata(self._weights[block])
        return stratum
