"""Numbers whose squares are numbers."""
# SPDX-License-Identifier: MIT

import math

import numpy as np

from fairpca._utils.typing import AnyArray, FloatArray

SMALLEST, LARGEST = 1e-150, 1e150
"""Squares of smaller numbers vanish, sums of squares of larger ones overflow."""


def check_magnitude(X: AnyArray, largest: float = LARGEST) -> None:
    """Refuse rows whose largest entry is so large or so small that sums of squares are no longer right.

    Parameters
    ----------
    X : ndarray
        Finite numbers.
    largest : float, default=1e150
        Largest size allowed.
    """
    size = float(max(-X.min(), X.max(), 0.0))
    if size > largest or 0.0 < size < SMALLEST:
        happen = "overflow" if size > largest else "vanish"
        raise ValueError(
            f"the largest entry of X has the size {size:.3g}, and squares {happen}; it must be between {SMALLEST:.0e} "
            f"and {largest:.0e}. Change the units of X, for example to X / np.abs(X).max()."
        )


def in_own_units(X: FloatArray) -> FloatArray:
    """Return rows divided by a power of two, so that the largest entry is about 1: no digit changes.

    Parameters
    ----------
    X : ndarray
        Finite numbers.
    """
    size = float(np.abs(X).max()) if X.size else 0.0
    return np.ldexp(X, -math.frexp(size)[1])
