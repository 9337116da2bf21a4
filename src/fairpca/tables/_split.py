"""Which rows are fitted to, and which are held out."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.utils.validation import check_random_state

from fairpca._utils.typing import AnyArray, BoolArray, IntArray

FEW_VALUES = 20
"""Distinct numbers up to which an attribute counts as groups."""

N_BINS = 4
"""Parts of a continuous attribute, each of which has its share of rows held out."""


def held_out_rows(share: float, attributes: Iterable[AnyArray], random_state: Any) -> BoolArray:
    """Draw the rows that are held out: the same share of all who have the same attributes.

    Parameters
    ----------
    share : float
        The share, from 0 to less than 1.
    attributes : iterable of ndarray of shape (n,)
        Protected attributes.
    random_state : int, RandomState instance or None
        Draws them.
    """
    random = check_random_state(random_state)
    strata = _strata(attributes)
    steps = np.floor(share * np.arange(len(strata) + 1) + random.random_sample())
    held_out = np.zeros(len(strata), dtype=bool)
    held_out[np.lexsort([random.random_sample(len(strata)), strata])] = np.diff(steps) > 0
    return held_out


def codes_of(values: AnyArray) -> IntArray:
    """Return the number of the group of each row; a missing value is a group of its own.

    Parameters
    ----------
    values : ndarray of shape (n,)
        An attribute.
    """
    if values.dtype == object:
        table = {text: number for number, text in enumerate(sorted({text for text in values if text is not None}))}
        return np.fromiter((table.get(text, len(table)) for text in values.tolist()), dtype=np.int64, count=len(values))
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def is_continuous(values: AnyArray) -> bool:
    """Tell whether an attribute is a number of many values.

    Parameters
    ----------
    values : ndarray of shape (n,)
        An attribute.
    """
    return values.dtype.kind in "if" and len(np.unique(values)) > FEW_VALUES


def _strata(attributes: Iterable[AnyArray]) -> IntArray:
    columns = [_binned(values) if is_continuous(values) else codes_of(values) for values in attributes]
    return np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _binned(values: AnyArray) -> IntArray:
    missing = np.isnan(values.astype(np.float64))
    bins = np.full(len(values), N_BINS)
    bins[~missing] = (rankdata(values[~missing]) - 1) * N_BINS // max(1, (~missing).sum())
    return bins
