"""What a classifier that sees only the projection predicts, and how evenly."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.svm import SVC

from fairpca._utils.checks import check_name
from fairpca._utils.typing import AnyArray
from fairpca.comparison import check_two_groups
from fairpca.metrics._parity import (
    demographic_parity_difference,
    equal_opportunity_difference,
    equalized_odds_difference,
)

PROTOCOLS = ("holdout", "paper")


@dataclass(frozen=True)
class DownstreamReport:
    """Accuracy and parity gaps of one classifier.

    Attributes
    ----------
    accuracy : float
        Share of right predictions on the scored rows.
    demographic_parity, equal_opportunity, equalized_odds : float
        Gaps between the groups there.
    """

    accuracy: float
    demographic_parity: float
    equal_opportunity: float
    equalized_odds: float


def downstream(
    Z_train: Any,
    y_train: Any,
    Z_test: Any,
    y_test: Any,
    *,
    sensitive_features: Any,
    classifier: Any = None,
    protocol: str = "holdout",
) -> DownstreamReport:
    """Train a classifier on projections and score its accuracy and parity gaps.

    Parameters
    ----------
    Z_train, Z_test : array-like of shape (n_rows, n_components)
        Projections of training and test rows.
    y_train, y_test : array-like of shape (n_rows,)
        Labels, 0 or 1.
    sensitive_features : array-like of shape (n_test_rows,)
        Group of each test row.
    classifier : scikit-learn classifier, default=None
        What to train; None is an RBF support vector machine.
    protocol : {"holdout", "paper"}, default="holdout"
        "holdout" trains on the training rows and scores on the test rows. "paper" does as the published code did, for
        comparison only: the machine (kernel scale 1) is trained on the very test rows it is scored on, the equal
        opportunity gap divides by the group sizes instead of by the groups' positives, and equalized odds is the
        larger of that and the demographic parity gap. Its accuracy says nothing about new rows.

    Returns
    -------
    report : DownstreamReport
        Accuracy and gaps on the test rows.
    """
    check_name("protocol", protocol, PROTOCOLS)
    if protocol == "paper":
        machine = SVC(C=1.0, gamma=1.0) if classifier is None else clone(classifier)
        return _paper_report(y_test, machine.fit(Z_test, y_test).predict(Z_test), sensitive_features)
    machine = SVC() if classifier is None else clone(classifier)
    predictions = machine.fit(Z_train, y_train).predict(Z_test)
    return DownstreamReport(
        accuracy=float(accuracy_score(y_test, predictions)),
        demographic_parity=demographic_parity_difference(y_test, predictions, sensitive_features=sensitive_features),
        equal_opportunity=equal_opportunity_difference(y_test, predictions, sensitive_features=sensitive_features),
        equalized_odds=equalized_odds_difference(y_test, predictions, sensitive_features=sensitive_features),
    )


def _paper_report(y_test: Any, predictions: AnyArray, sensitive_features: Any) -> DownstreamReport:
    parity = demographic_parity_difference(y_test, predictions, sensitive_features=sensitive_features)
    groups = check_two_groups(sensitive_features, len(predictions))
    hits = np.asarray(y_test).astype(bool) & predictions.astype(bool)
    first, second = (float(hits[groups == group].mean()) for group in np.unique(groups))
    opportunity = abs(first - second)
    return DownstreamReport(
        accuracy=float(accuracy_score(y_test, predictions)),
        demographic_parity=parity,
        equal_opportunity=opportunity,
        equalized_odds=max(opportunity, parity),
    )
