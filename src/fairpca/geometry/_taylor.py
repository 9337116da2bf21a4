"""Checking derivatives by the slope of the Taylor remainder."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable

import numpy as np

from fairpca._utils.typing import FloatArray


def taylor_slope(remainder: Callable[[float], float], steps: FloatArray | None = None) -> float:
    """Return the order of decay of a Taylor remainder.

    When a model of a function is exact up to order k, its error at distance t falls like t^(k + 1): the slope
    of log error against log t is k + 1. A wrong derivative shows as a slope lower by one or more.

    Parameters
    ----------
    remainder : callable
        The absolute error of the model at distance t.
    steps : ndarray of shape (n_steps,), default=None
        Distances at which to look; by default from 1e-4 to 1e-1. The slope is the median over neighbouring
        steps, so rounding at the short end does not count.

    Returns
    -------
    slope : float
        The median slope.
    """
    lengths = np.logspace(-4, -1, 16) if steps is None else steps
    errors = np.array([abs(remainder(float(t))) for t in lengths])
    visible = errors > 0
    return float(np.median(np.diff(np.log(errors[visible])) / np.diff(np.log(lengths[visible]))))
