"""Counts and generators that the loaders and the samplers share."""
# SPDX-License-Identifier: MIT

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fairpca._utils.typing import IntArray


def check_count(argument: str, value: Any, most: int | None = None, otherwise: str = "") -> int:
    """Return a count, an integer in 1..most.

    Parameters
    ----------
    argument : str
        Name of the argument, for the message.
    value : int
        What came.
    most : int, default=None
        The largest count allowed, by default any.
    otherwise : str, default=""
        The way out, for the message.

    Returns
    -------
    count : int
        The value.
    """
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{argument} must be an integer; got {value!r}.")
    count = int(value)
    if count < 1 or (most is not None and count > most):
        allowed = "at least 1" if most is None else f"between 1 and {most}"
        raise ValueError(f"{argument}={count} must be {allowed}{otherwise}.")
    return count


def generator_from(random_state: Any) -> np.random.Generator:
    """Return a generator for a seed, a RandomState instance or None."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def sample_rows(n_rows: int, n_samples: int, random_state: Any) -> IntArray:
    """Draw rows without replacement, in the order of the table.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    n_samples : int
        How many to draw, at most `n_rows`.
    random_state : int, RandomState instance or None
        Draws them.

    Returns
    -------
    rows : ndarray of shape (n_samples,)
        Increasing indices.

    Examples
    --------
    >>> sample_rows(3, 3, random_state=0)
    array([0, 1, 2])
    """
    return np.sort(generator_from(random_state).choice(n_rows, size=n_samples, replace=False))
