"""How many Hermite features an accuracy takes."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray, IntArray
from fairpca.mmd._coordinates import Coordinates, spaced_indices
from fairpca.mmd._hermite import HermiteMMD
from fairpca.rows import ArrayRows, Rows

FEWEST = 250
"""The first number of features tried."""


@dataclass(frozen=True)
class FeatureChoice:
    """A number of features and how sure it is.

    Attributes
    ----------
    n_features : int
        D.
    difference : float
        Largest difference between the estimates of h with D and with D / 2 features, on a sample of rows.
    met : bool
        Whether that is within the accuracy asked for.
    """

    n_features: int
    difference: float
    met: bool


def features_for(
    rows: Rows,
    coordinates: Coordinates,
    owner: IntArray,
    n_measures: int,
    bandwidth: float,
    frames: Sequence[FloatArray],
    accuracy: float,
    most: int = 4000,
) -> FeatureChoice:
    """Double the number D of features until the estimates of h with D and D / 2 agree.

    The difference can be ten times smaller than the error when some rows are far away: a bound for all rows is
    `HermiteMMD.value_and_bound`.

    Parameters
    ----------
    rows, coordinates, owner, n_measures, bandwidth
        See `HermiteMMD`.
    frames : sequence of ndarray of shape (r, d)
        Where the estimates are compared, for example at PCA and at a fair frame.
    accuracy : float
        Largest difference allowed.
    most : int, default=4000
        No more than this many features are tried.
    """
    sample, weights = rows.sample(spaced_indices(rows.n_rows))
    # A sample of m rows stands for n: with weights n / m times as large its moments are those of all rows on average.
    few = ArrayRows(sample, np.asarray(weights, dtype=np.float64) * (rows.n_rows / len(sample)))

    def estimates(n_features: int) -> FloatArray:
        mmd = HermiteMMD(few, coordinates, owner, n_measures, bandwidth, n_features)
        return np.array([mmd.value_and_bound(V)[0] for V in frames])

    n_features = min(FEWEST, most)
    before, now = estimates(n_features // 2), estimates(n_features)
    while (difference := float(np.abs(now - before).max())) > accuracy and 2 * n_features <= most:
        n_features *= 2
        before, now = now, estimates(n_features)
    return FeatureChoice(n_features, difference, difference <= accuracy)
