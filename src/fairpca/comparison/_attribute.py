"""A continuous attribute: where each value stands among all, and few features whose products are a kernel of that."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from fairpca._utils.typing import FloatArray

N_FEATURES = 11
"""Features of the attribute's kernel: what more of them would add to HSIC is `LEFT_OUT`."""

LEFT_OUT = 3e-6
"""What features leave of k(u, u) = 1, at most, for any u in [0, 1]."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """Where a value stands among all: the share of the rows below it, and half of those that equal it.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Distinct values, increasing; of very many a part, and what lies between is interpolated.
    places : ndarray of shape (k,)
        Where they stand, between 0 and 1.

    Examples
    --------
    >>> ranks = Ranks.among(np.array([3.0, 10.0, np.nan, 3.0, 5.0]))
    >>> ranks.of(np.array([10.0, 5.0, np.nan, 3.0]))
    array([0.875, 0.625,   nan, 0.25 ])
    """

    values: FloatArray
    places: FloatArray

    @classmethod
    def among(cls, values: FloatArray, masses: FloatArray | None = None, most: int = 2**16) -> "Ranks":
        """Find where values stand.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where there is none; one at least is there.
        masses : ndarray of shape (n,), default=None
            Their masses; by default all are equal.
        most : int, default=2**16
            Distinct values at most that are kept, each then exact to one in so many.
        """
        counts = ~np.isnan(values) if masses is None else ~np.isnan(values) & (masses > 0)
        distinct, index = np.unique(values[counts], return_inverse=True)
        sums = np.bincount(index.ravel(), None if masses is None else masses[counts], minlength=len(distinct))
        places = (np.cumsum(sums) - sums / 2) / sums.sum()
        if len(distinct) > most:
            chosen = np.linspace(0, len(distinct) - 1, most).round().astype(np.int64)
            distinct, places = distinct[chosen], places[chosen]
        return cls(distinct, places)

    def of(self, values: FloatArray) -> FloatArray:
        """Return where numbers stand; NaN stays."""
        return np.where(np.isnan(values), np.nan, np.interp(values, self.values, self.places))


def features_of(places: FloatArray) -> FloatArray:
    """Return features phi with phi(u)'phi(v) = exp(-(u - v)^2 / (2 s^2)) to within `LEFT_OUT`.

    They are the leading principal axes of the kernel on [0, 1], the same for every attribute. What they leave out can
    only lower the independence criterion, by `LEFT_OUT` at most: |C_xr|^2 <= tr C_xx tr C_rr for the covariance of
    rows x and what is left out r, and tr C_xx <= 1.

    Parameters
    ----------
    places : ndarray of shape (n,)
        u in [0, 1].

    Returns
    -------
    features : ndarray of shape (n, N_FEATURES)
        phi(u) of each.
    """
    landmarks, matrix = _landmarks()
    return _kernel(places, landmarks) @ matrix


@cache
def _landmarks(count: int = 20, n_points: int = 2048) -> tuple[FloatArray, FloatArray]:
    """Return u_l, denser near the ends, and the matrix with phi(u) = k(u, u_l) @ matrix.

    Twice as many landmarks as features span the kernel to rounding; the axes are those of evenly spaced points.
    """
    landmarks = (1.0 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2
    sizes, vectors = np.linalg.eigh(_kernel(landmarks, landmarks))
    kept = sizes > 1e-13 * sizes[-1]
    spanning = vectors[:, kept] / np.sqrt(sizes[kept])
    points = _kernel((np.arange(n_points) + 0.5) / n_points, landmarks) @ spanning
    axes = np.linalg.eigh(points.T @ points)[1][:, ::-1]
    return landmarks, spanning @ axes[:, :N_FEATURES]


def _kernel(places: FloatArray, landmarks: FloatArray) -> FloatArray:
    # By the median heuristic: of half of the pairs of numbers in [0, 1] the distance is below 1 - sqrt(1/2).
    bandwidth = (1.0 - math.sqrt(0.5)) / math.sqrt(2.0)
    return np.exp(-0.5 * ((places[:, None] - landmarks) / bandwidth) ** 2)
