"""Parity gaps of a classifier between two groups."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from fairpca._utils.typing import AnyArray, BoolArray
from fairpca.comparison import check_two_groups


def demographic_parity_difference(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Return |P(prediction = 1 | group 0) - P(prediction = 1 | group 1)|.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, 0 or 1; not used, present for the common signature.
    y_pred : array-like of shape (n_samples,)
        Predicted labels, 0 or 1.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.

    Returns
    -------
    gap : float
        Between 0, parity, and 1.

    Examples
    --------
    >>> demographic_parity_difference([0, 1, 0, 1], [1, 1, 0, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    _, positive, groups = _checked(y_true, y_pred, sensitive_features)
    return _rate_gap(positive, np.ones_like(positive), groups)


def equal_opportunity_difference(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Return the gap between the groups' true positive rates.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, 0 or 1.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.

    Returns
    -------
    gap : float
        Between 0 and 1; nan when a group has no row with true label 1.

    Examples
    --------
    >>> equal_opportunity_difference([1, 1, 1, 0], [1, 0, 1, 1], sensitive_features=["a", "a", "b", "b"])
    0.5
    """
    truth, positive, groups = _checked(y_true, y_pred, sensitive_features)
    return _rate_gap(positive, truth, groups)


def equalized_odds_difference(y_true: Any, y_pred: Any, *, sensitive_features: Any) -> float:
    """Return the larger of the gaps between the groups' true positive and false positive rates.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, 0 or 1.
    sensitive_features : array-like of shape (n_samples,)
        Group of each row: two distinct labels.

    Returns
    -------
    gap : float
        Between 0 and 1; nan when one of the rates does not exist.

    Examples
    --------
    >>> equalized_odds_difference([1, 0, 1, 0], [1, 1, 1, 0], sensitive_features=["a", "a", "b", "b"])
    1.0
    """
    truth, positive, groups = _checked(y_true, y_pred, sensitive_features)
    return float(np.maximum(_rate_gap(positive, truth, groups), _rate_gap(positive, ~truth, groups)))


def _checked(y_true: Any, y_pred: Any, sensitive_features: Any) -> tuple[BoolArray, BoolArray, AnyArray]:
    truth, prediction = _binary("y_true", y_true), _binary("y_pred", y_pred)
    if len(truth) != len(prediction):
        raise ValueError(f"y_true has {len(truth)} entries but y_pred has {len(prediction)}.")
    return truth, prediction, check_two_groups(sensitive_features, len(truth))


def _binary(argument: str, labels: Any) -> BoolArray:
    values = column_or_1d(labels)
    unknown = sorted(set(np.unique(values).tolist()) - {0, 1})
    if unknown:
        raise ValueError(f"{argument} must hold 0 and 1 only (1 is the favoured outcome); got also {unknown[:5]}.")
    return values.astype(bool)


def _rate_gap(positive: BoolArray, among: BoolArray, groups: AnyArray) -> float:
    rates = []
    for group in np.unique(groups):
        rows = among & (groups == group)
        rates.append(float(positive[rows].mean()) if rows.any() else float("nan"))
    return abs(rates[0] - rates[1])
