"""Whether rows are those of a fit: keyed hashes of rows, and how many new rows would coincide by themselves."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SeenRows:
    """The rows of a fit, as numbers from which nobody gets them back without the key.

    Attributes
    ----------
    key : ndarray of uint64 of shape (d,)
        Odd random numbers.
    scales : ndarray of shape (d,)
        Deviations of columns.
    hashes, counts : ndarray of shape (k,)
        Hashes of distinct rows, increasing, and how often each occurs.
    """

    key: AnyArray
    scales: FloatArray
    hashes: AnyArray
    counts: IntArray

    @classmethod
    def of(cls, Z: FloatArray, generator: np.random.Generator) -> "SeenRows":
        """Remember rows.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            The rows.
        generator : numpy.random.Generator
            Draws the key.
        """
        scales = Z.std(axis=0)
        scales = np.where(scales > 0, scales, 1.0)
        key = np.asarray(generator.integers(0, 2**63, size=Z.shape[1], dtype=np.uint64)) * np.uint64(2) + np.uint64(1)
        return cls(key, scales, *np.unique(_hashes(Z, key, scales), return_counts=True))

    def share(self, Z: FloatArray, deviations: float = 4.0) -> float:
        r"""Return the share of rows that were in the fit, about 0 for new ones.

        Rows that occur often prove nothing. Of new rows about 2 N_2 / n equal one that occurs once among the n of the
        fit, where N_2 of them occur twice (Good and Turing); of rows of the fit N_1 / n do.

        Parameters
        ----------
        Z : ndarray of shape (m, d)
            Rows.
        deviations : float, default=4.0
            From the expected, that coincidences are allowed: new rows are refused once in ten thousand times.
        """
        own = _hashes(Z, self.key, self.scales)
        n, once, twice = self.counts.sum(), np.sum(self.counts == 1), np.sum(self.counts == 2)
        places = np.minimum(np.searchsorted(self.hashes, own), len(self.hashes) - 1)
        found = np.mean((self.hashes[places] == own) & (self.counts[places] == 1))
        by_chance = 2.0 * (twice + deviations * math.sqrt(twice)) / n
        by_chance += deviations * math.sqrt(by_chance / len(Z))
        if len(own) == n and np.array_equal(np.sort(own), np.repeat(self.hashes, self.counts)):
            return 1.0
        return float(max(0.0, found - by_chance) / max(once / n - by_chance, 1.0 / n))

    def check_new(self, Z: FloatArray, most: float = 0.01) -> None:
        """Refuse rows of which too many were in the fit.

        Parameters
        ----------
        Z : ndarray of shape (m, d)
            Rows.
        most : float, default=0.01
            Share of rows of the fit that is let pass beyond those that coincide: a bound moves by as much.
        """
        share = self.share(Z)
        if share > most:
            raise ValueError(
                f"about {100 * share:.0f} % of these rows were in the fit, and what they show says nothing of new "
                "people: certify rows that were used neither to fit nor to choose."
            )


def _hashes(Z: FloatArray, key: AnyArray, scales: FloatArray) -> AnyArray:
    # Rows that agree to a millionth of a deviation are the same: a projection of other blocks has other last bits.
    whole = np.rint(Z / scales * 1e6).astype(np.int64).view(np.uint64)
    total = np.zeros(len(Z), dtype=np.uint64)
    for column, multiplier in zip(whole.T, key, strict=True):
        # Mixed between columns: a sum of products alone would be the same for some rows that differ in two of them.
        total = (total + column) * multiplier
        total ^= total >> np.uint64(29)
    return total
