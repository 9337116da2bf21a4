"""The rows of a fit as keyed hashes, and how many rows of another table are among them."""
# SPDX-License-Identifier: MIT

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.stats import chi2

from fairpca._utils.typing import AnyArray, FloatArray, IntArray
from fairpca.rows._dask import DaskRows, number_blocks
from fairpca.rows._rows import ArrayRows, Rows, compressed, is_dask, is_sparse

MOST_SEEN = 0.01
"""Share of rows of the fit, beyond those that coincide by themselves, that is let pass: a bound moves by as much."""

N_DEVIATIONS = 4.0
"""Deviations from the expected that coincidences are allowed: new rows are refused once in ten thousand times."""

MOST_KEPT = 10_000_000
"""Hashes at most, 80 MB; of longer tables those are kept that fall below a limit, of any table the same rows."""

DROPPED_BITS = np.uint64(29)
"""Of the 53 binary digits of a number, those that float32 does not have."""


@dataclass(frozen=True)
class Overlap:
    """How many rows of a table were in a fit.

    Attributes
    ----------
    n_rows : int
        Rows that were looked for.
    found : int
        How many of them equal a row of the fit.
    by_chance : float
        How many would if none of them had been in it: as many rows of the fit equal another of its rows.
    share : float
        Estimated share of the rows that were in the fit; nan where nearly all rows are equal to others.
    least : float
        What the share is at least, beyond what chance can do in all but one of ten thousand tables.
    """

    n_rows: int
    found: int
    by_chance: float
    share: float
    least: float

    @property
    def is_known(self) -> bool:
        """Whether rows differ enough to tell those of the fit from new ones."""
        return not math.isnan(self.share)

    @property
    def too_many(self) -> bool:
        """Whether so many rows were in the fit that they do not speak for new people."""
        return self.least > MOST_SEEN

    def __str__(self) -> str:
        if not self.found:
            return f"none of these {self.n_rows:,} rows equals one of the fit"
        counted = (
            f"{self.found:,} of these {self.n_rows:,} rows equal one of the fit, where about {self.by_chance:,.0f} new "
            "ones would by chance"
        )
        if not self.is_known:
            return f"{counted}: they are alike so often that it cannot be told how many were in the fit"
        return f"{counted}: about {100 * self.share:.{1 if self.share < 0.1 else 0}f} % of them were in the fit"


@dataclass(frozen=True, eq=False)
class SeenRows:
    r"""The rows of a fit as keyed 64-bit hashes, 8 bytes a row: whoever has them can test guesses, and nothing else.

    Numbers are rounded to the 24 binary digits that float32 has, so that a table has the same hashes in float32, in
    float64 and after a round trip through text. A row with the numbers b_j is hashed to :math:`\sum_j b_j k_j` modulo
    2^64 with random odd k_j: different rows coincide with a probability of at most 2^-29, and mostly 2^-64.

    Attributes
    ----------
    key : bytes
        From which the k_j are drawn.
    hashes : ndarray of uint64
        Increasing, with repetitions.
    n_rows : int
        Rows of the fit.
    """

    key: bytes
    hashes: AnyArray
    n_rows: int

    @classmethod
    def of(cls, rows: Rows, key: bytes) -> "SeenRows":
        """Remember rows.

        Parameters
        ----------
        rows : Rows
            The rows of a fit, wherever they are.
        key : bytes
            Other keys give other hashes.
        """
        hashes = _hashes_of(rows, key)
        return cls(key, np.sort(hashes[hashes <= _limit(len(hashes))]), len(hashes))

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """How many rows of the fit were kept, and how many different ones occur in them once and twice."""
        edges = np.flatnonzero(np.diff(self.hashes, prepend=self.hashes[:1] - np.uint64(1)))
        times = np.diff(edges, append=len(self.hashes))
        return len(self.hashes), int(np.sum(times == 1)), int(np.sum(times == 2))

    def is_all_of(self, X: Any) -> bool:
        """Tell whether a table has these rows and no others, in any order.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
            The table.
        """
        own = _hashes_of(table_rows(X), self.key)
        return len(own) == self.n_rows and np.array_equal(np.sort(own[own <= _limit(self.n_rows)]), self.hashes)

    def overlap(self, X: Any) -> Overlap:
        r"""Count how many rows of a table were in the fit.

        Rows that occur often prove nothing. Let N_1 and N_2 rows of the fit occur once and twice. Rows of the fit hit
        one that occurs once at the rate N_1 / N; new ones 2 N_2 / N, and none at all N_1 / N (Good and Turing). So of
        the rows found once or never, a part F found once says that of all

        .. math:: \pi = \frac{F (N_1 + 2 N_2) - 2 N_2}{N_1 - 2 N_2 (1 - F)}

        were in the fit. Where nearly all rows of the fit occur several times, only tables that are far more alike than
        two draws from one population can be recognised.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
            The table.
        """
        whole = _hashes_of(table_rows(X), self.key)
        own = whole[whole <= _limit(self.n_rows)]
        starts, ends = (np.searchsorted(self.hashes, own, side=side) for side in ("left", "right"))
        times = ends - starts
        n, once, _ = self.counts
        part = len(whole) / max(len(own), 1)
        found, chance = part * np.sum(times > 0), 1.0 - once / n
        share, least = self._share(own, times)
        if math.isnan(share) and self._too_alike(own):
            share = least = 1.0
        return Overlap(len(whole), round(found), chance * len(whole), share, least)

    def _share(self, own: AnyArray, times: IntArray) -> tuple[float, float]:
        """Return the share of rows that were in the fit, and what it is at least."""
        _, once, twice = self.counts
        rare = int(np.sum(times <= 1))
        # As if one more had been seen: none may be seen where several were to be expected.
        most_twice = twice + N_DEVIATIONS * math.sqrt(twice + 1.0)
        if not rare or 2.0 * most_twice >= once:
            return math.nan, 0.0
        found = np.sum(times == 1) / rare
        share = (found * (once + 2 * twice) - 2 * twice) / (once - 2 * twice * (1.0 - found))
        by_chance = 2.0 * most_twice / (once + 2.0 * most_twice)
        # Equal rows coincide with one of the fit together, or not at all.
        alike = np.unique(own[times == 1], return_counts=True)[1]
        together = float(np.sum(alike**2)) / max(int(np.sum(alike)), 1)
        by_chance += N_DEVIATIONS * math.sqrt(by_chance * (1.0 - by_chance) * max(together, 1.0) / rare)
        least = 0.0 if by_chance >= 1.0 else (found - by_chance) / (1.0 - by_chance)
        return float(np.clip(share, 0.0, 1.0)), float(max(0.0, least))

    def _too_alike(self, own: AnyArray) -> bool:
        """Tell whether rows are spread as in the fit, more closely than one draw in ten thousand of the same people."""
        n, m = len(self.hashes), len(own)
        together, places = np.unique(np.concatenate([self.hashes, own]), return_inverse=True)
        there, here = (np.bincount(part, minlength=len(together)) for part in (places[:n], places[n:]))
        # Counts are whole: half a step more keeps few cells from agreeing by luck.
        squares = np.sum(((here * n - there * m) ** 2 + ((n + m) / 2) ** 2) / (here + there)) / (n * m)
        return bool(len(together) > 1 and chi2.cdf(squares, len(together) - 1) < 1e-4)


def key_of(mean: FloatArray) -> bytes:
    """Return the key of a fit: by the means of its columns, which its model has.

    Parameters
    ----------
    mean : ndarray of shape (p,)
        The means.
    """
    return hashlib.blake2b(np.asarray(mean, dtype="<f8").tobytes(), digest_size=16).digest()


def table_rows(X: Any) -> Rows:
    """Return the rows of a table of numbers.

    Parameters
    ----------
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        The table. No copy is made of arrays of float32 and float64, which may be mapped from a file.
    """
    if is_dask(X):
        blocks = number_blocks(X)
        return DaskRows(blocks, blocks[:, :0])
    rows = compressed(X) if is_sparse(X) else np.asarray(X)
    if not is_sparse(rows) and rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    return ArrayRows(rows, np.empty((rows.shape[0], 0)))


def _hashes_of(rows: Rows, key: bytes) -> AnyArray:
    drawn = np.frombuffer(hashlib.shake_256(key).digest(8 * rows.n_columns), dtype="<u8").astype(np.uint64)
    made, _ = rows.mapped(partial(_hashes, multipliers=drawn | np.uint64(1))).sample(slice(None))  # type: ignore[arg-type]
    return made[:, 0]


def _hashes(block: AnyArray, multipliers: AnyArray) -> AnyArray:
    """Return the hash of each row of a block, of shape (n_block, 1)."""
    # Zeros of both signs are equal.
    bits = np.add(block, 0.0, dtype=np.float64).view(np.uint64)
    # Half to even, as numbers are rounded to float32, but without its limits.
    carry = bits >> DROPPED_BITS
    carry &= np.uint64(1)
    carry += np.uint64(2**28 - 1)
    bits += carry
    bits >>= DROPPED_BITS
    return (bits @ multipliers)[:, None]


def _limit(n_rows: int) -> np.uint64:
    """Return the largest hash that is kept of a table of so many rows."""
    return np.uint64(min(1.0, MOST_KEPT / max(n_rows, 1)) * (2**64 - 2**11))
