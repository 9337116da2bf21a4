"""Distances between subspaces."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.linalg import subspace_angles

from fairpca._utils.typing import FloatArray


def principal_angles(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the principal angles between span(first) and span(second) in degrees, largest first.

    Parameters
    ----------
    first, second : ndarray of shape (p, d)
        Matrices whose columns span the two subspaces.
    """
    return np.degrees(subspace_angles(first, second))


def projection_distance(first: FloatArray, second: FloatArray) -> float:
    """Return |VV' - WW'|_F / sqrt(2), the root of the sum of squared sines of the principal angles.

    Parameters
    ----------
    first, second : ndarray of shape (p, d)
        Matrices whose columns span the two subspaces.
    """
    return float(np.linalg.norm(np.sin(subspace_angles(first, second))))
