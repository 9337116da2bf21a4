"""What classifiers that see only the projection can predict, how evenly, and a projection judged on a split."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.utils.validation import check_array, check_random_state, column_or_1d

from fairpca._utils.checks import check_name, in_own_units
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray
from fairpca.comparison import check_same_rows, check_two_groups
from fairpca.metrics._discrepancy import mmd2
from fairpca.metrics._variance import explained_variance

PROTOCOLS = ("holdout", "paper")


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
        Between 0, no threshold separates the groups, and 1, one threshold does so without error.

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
    # Thirty rounds bring the best direction within a hundredth.
    for spread in np.geomspace(0.5, 0.01, 30 if d > 1 else 0):
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


@dataclass(frozen=True)
class Split:
    """Training and held-out rows, standardised with the training mean and deviation.

    Attributes
    ----------
    X_train, X_test : ndarray of shape (n_rows, n_features)
        Rows.
    y_train, y_test : ndarray of shape (n_rows,)
        Labels.
    a_train, a_test : ndarray of shape (n_rows,)
        Protected attribute.
    """

    X_train: FloatArray
    X_test: FloatArray
    y_train: AnyArray
    y_test: AnyArray
    a_train: AnyArray
    a_test: AnyArray

    @classmethod
    def random(cls, X: Any, y: Any, a: Any, *, seed: int, test_size: float = 0.3) -> "Split":
        """Split rows at random and standardise them.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows.
        y, a : array-like of shape (n_rows,)
            Labels and protected attribute.
        seed : int
            Seed of the split.
        test_size : float, default=0.3
            Share of the rows that is held out.
        """
        parts = train_test_split(np.asarray(X, dtype=float), y, a, test_size=test_size, random_state=seed)
        X_train, X_test, y_train, y_test, a_train, a_test = parts
        mean, deviation = X_train.mean(axis=0), X_train.std(axis=0)
        scale = np.where(np.ptp(X_train, axis=0) == 0, 1.0, deviation)
        return cls((X_train - mean) / scale, (X_test - mean) / scale, y_train, y_test, a_train, a_test)


@dataclass(frozen=True)
class ProjectionReport:
    """What a projection keeps and how fair it is.

    Attributes
    ----------
    variance_train, variance_test : float
        Share of the variance kept, each relative to the covariance of the same rows.
    mmd2_train, mmd2_test : float
        Plug-in MMD^2 with the bandwidth of the training rows.
    downstream : DownstreamReport
        A classifier's accuracy and parity gaps on the held-out rows.
    """

    variance_train: float
    variance_test: float
    mmd2_train: float
    mmd2_test: float
    downstream: DownstreamReport


def evaluate_projection(
    components: FloatArray, split: Split, *, bandwidth: float, protocol: str = "holdout"
) -> ProjectionReport:
    """Judge orthonormal components on a split.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        V', orthonormal rows, for the standardised features.
    split : Split
        The rows.
    bandwidth : float
        sigma, the same for all methods that are compared.
    protocol : {"holdout", "paper"}, default="holdout"
        How the classifier is trained; see `fairpca.metrics.downstream`.
    """
    Z_train, Z_test = split.X_train @ components.T, split.X_test @ components.T
    return ProjectionReport(
        variance_train=explained_variance(split.X_train, components),
        variance_test=explained_variance(split.X_test, components),
        mmd2_train=mmd2(Z_train, sensitive_features=split.a_train, bandwidth=bandwidth),
        mmd2_test=mmd2(Z_test, sensitive_features=split.a_test, bandwidth=bandwidth),
        downstream=downstream(
            Z_train, split.y_train, Z_test, split.y_test, sensitive_features=split.a_test, protocol=protocol
        ),
    )
