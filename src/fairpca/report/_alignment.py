"""Projections along a path turned so that points move, and do not jump."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence

import numpy as np

from fairpca._utils.typing import FloatArray


def aligned(projections: Sequence[FloatArray]) -> list[FloatArray]:
    """Turn and mirror each picture of the rows so that it is closest to the one before.

    Distances between rows, and so every MMD^2, stay what they are (Procrustes).

    Parameters
    ----------
    projections : sequence of ndarray of shape (n, d)
        Rows after one model after the other.

    Returns
    -------
    turned : list of ndarray of shape (n, d)
        The first as it was.

    Examples
    --------
    >>> Z = np.random.default_rng(0).normal(size=(20, 2))
    >>> turned = aligned([Z, Z[:, ::-1] * [1.0, -1.0]])
    >>> bool(np.allclose(turned[1], Z))
    True
    """
    turned = [projections[0]]
    for Z in projections[1:]:
        left, _, right = np.linalg.svd(Z.T @ turned[-1])
        turned.append(Z @ (left @ right))
    return turned
