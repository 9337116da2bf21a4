"""Delta_A: how well a linear classifier can tell the groups apart."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_array, check_random_state

from fairpca._utils.magnitude import in_own_units
from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.comparison import check_same_rows, check_two_groups

N_ROUNDS = 30


def delta_a(Z: Any, *, sensitive_features: Any, n_directions: int = 200, random_state: Any = None) -> float:
    r"""Estimate Delta_A of Olfat and Aswani for linear classifiers.

    .. math:: \widehat\Delta_A = \sup_{w, t} \left| \frac{1}{m} \sum_{i \in P} 1(w'z_i \le t)
              - \frac{1}{n} \sum_{i \in N} 1(w'z_i \le t) \right|,

    the largest Kolmogorov distance between the groups over all directions w. The supremum over t is exact; the one
    over w is searched from the axes, Fisher's discriminant and random directions, and by random refinement of the
    best, so for more than one dimension the value is a lower bound of the supremum.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_components)
        Rows, usually projections.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.
    n_directions : int, default=200
        How many random directions are tried at first.
    random_state : int, RandomState instance or None, default=None
        Draws the directions.

    Returns
    -------
    delta : float
        Between 0, no threshold tells the groups apart, and 1, one threshold does so without error.

    Examples
    --------
    >>> delta_a([[0.0], [1.0], [2.0], [3.0]], sensitive_features=["a", "a", "b", "b"])
    1.0
    """
    check_same_rows(Z, {"sensitive_features": sensitive_features})
    rows = in_own_units(check_array(Z, dtype=np.float64, input_name="Z"))
    groups = check_two_groups(sensitive_features, len(rows))
    generator = np.random.default_rng(check_random_state(random_state).randint(2**31))
    first: BoolArray = groups == np.unique(groups)[0]
    d = rows.shape[1]
    directions = np.vstack([np.eye(d), _discriminant(rows, first), generator.standard_normal((n_directions, d))])
    distances = kolmogorov_distances(rows, first, directions)
    best, value = directions[distances.argmax()], float(distances.max())
    for spread in np.geomspace(0.5, 0.01, N_ROUNDS if d > 1 else 0):
        best = best / np.linalg.norm(best)
        nearby = best + spread * generator.standard_normal((20, d)) / np.sqrt(d)
        distances = kolmogorov_distances(rows, first, nearby)
        if distances.max() > value:
            best, value = nearby[distances.argmax()], float(distances.max())
    return value


def kolmogorov_distances(rows: FloatArray, first: BoolArray, directions: FloatArray) -> FloatArray:
    """Return the Kolmogorov distance between the two groups' projections on each direction.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows.
    first : ndarray of shape (n,)
        True for rows of the first group.
    directions : ndarray of shape (n_directions, d)
        Directions w.
    """
    projections = rows @ directions.T
    order = projections.argsort(axis=0, kind="stable")
    ordered = np.take_along_axis(projections, order, axis=0)
    jumps = np.where(first, 1.0 / first.sum(), -1.0 / (~first).sum())[order]
    gaps = np.abs(jumps.cumsum(axis=0))
    # A threshold cannot fall between equal values: only the last of each run of ties counts.
    gaps[:-1][ordered[:-1] == ordered[1:]] = 0.0
    return gaps.max(axis=0)


def _discriminant(rows: FloatArray, first: BoolArray) -> FloatArray:
    if not np.ptp(rows, axis=0).all():
        return np.ones((1, rows.shape[1]))
    direction = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=1e-6).fit(rows, first).coef_
    return direction if np.any(direction) else np.ones((1, rows.shape[1]))
