"""The median heuristic for the kernel bandwidth."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.spatial.distance import pdist

from fairpca._typing import FloatArray

EXACT_ROWS = 4096
"""Up to this many rows all pairs are used (64 MB of distances); above, a random subsample of as many."""


def median_bandwidth(Z: FloatArray, generator: np.random.Generator) -> float:
    """Return sigma = sqrt(median of |z_i - z_j|^2 over pairs / 2).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows after plain PCA.
    generator : numpy.random.Generator
        Draws the subsample when n is above `EXACT_ROWS`.

    Returns
    -------
    bandwidth : float
        sigma. When more than half of the pairs coincide, the median of the positive distances is taken, and 1
        when all rows are equal.
    """
    if len(Z) > EXACT_ROWS:
        Z = Z[generator.choice(len(Z), EXACT_ROWS, replace=False)]
    squares = pdist(Z, "sqeuclidean")
    median = float(np.median(squares, overwrite_input=True)) if squares.size else 0.0
    if median <= 0.0:
        positive = squares[squares > 0]
        median = float(np.median(positive)) if positive.size else 2.0
    return float(np.sqrt(median / 2.0))
