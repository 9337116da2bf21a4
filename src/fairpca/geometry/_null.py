"""Frames split into columns with variance and columns without."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray

NULL = 1e-8
"""Length of the live part of a unit vector below which it counts as null: rounding in a frame is far shorter."""


def split_null(frame: FloatArray, rank: int, shortest: float = NULL) -> tuple[FloatArray, FloatArray]:
    """Split a frame into columns with variance and columns that lie in the null axes exactly.

    A column of which 1e-9 is left outside the null axes has no variance that anyone could want, but what is left tells
    groups apart once somebody scales it up.

    Parameters
    ----------
    frame : ndarray of shape (p_kept, d)
        Orthonormal columns, in principal axes.
    rank : int
        Number of live axes, the first ones.
    shortest : float, default=1e-8
        Length of the live part of a unit vector of the subspace up to which it is made null.

    Returns
    -------
    live : ndarray of shape (p_kept, k)
        Orthonormal columns with variance.
    null : ndarray of shape (p_kept, d - k)
        Orthonormal columns that are 0 on the live axes, orthogonal to the others.
    """
    _, sizes, rotation = np.linalg.svd(frame[:rank], full_matrices=rank < frame.shape[1])
    n_live = int(np.sum(sizes > shortest))
    turned = frame @ rotation.T
    live, all_but_null = turned[:, :n_live], turned[:, n_live:]
    null = np.zeros_like(all_but_null)
    if null.shape[1] == 0:
        return frame, null
    null[rank:] = np.linalg.qr(all_but_null[rank:])[0]
    live = live - null @ (null.T @ live)
    return np.linalg.qr(live)[0], null
