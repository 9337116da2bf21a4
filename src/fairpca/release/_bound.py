"""What no classifier can do with released data."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from fairpca._utils.checks import check_confidence, check_number
from fairpca._utils.typing import IntArray
from fairpca.comparison import DOUBT, People, Terms, check_same_rows
from fairpca.release._sides import Sides, sides_of

GAPS = {
    "demographic_parity": "a demographic parity gap",
    "equal_opportunity": "an equal opportunity gap",
    "equalized_odds": "an equalized odds gap",
}

FIXED = "rows that count alike, or by weights that the design has fixed"
DRAWN = "weights drawn with the people, none above largest_weight"


@dataclass(frozen=True)
class AnyClassifierBound:
    r"""What no classifier and no decision can do with released data, with a stated confidence.

    Attributes
    ----------
    upper_bound : float
        U: the total variation distance between the groups' released data is at most U, in each of the comparisons. No
        decision made from these data, by anyone and whatever else they train on, has a larger parity gap. After a
        search over levels it is the target of that search.
    confidence : float
        1 - alpha, over the draw of the rows.
    measures : list of dict
        One for each comparison: what is compared (`name`, `attribute`, `among`, `n_rows`, `sides`), the `distance` T of
        the rows, the `slack` that is added, the `upper_bound` of this comparison, which hold all at once with the
        confidence, and the `accuracy` that no classifier of the two sides exceeds at their shares among the rows.
    slack_kind : str
        For which kind of weights it holds.
    notion : str
        The notion of fairness, or empty if it has no name.
    n_rows : int
        Rows that were compared.
    n_levels : int, default=1
        Levels of a nested release that were looked at. More than one: bounds are not those of the level that was
        chosen but the target.
    """

    upper_bound: float
    confidence: float
    measures: list[dict[str, Any]]
    slack_kind: str
    notion: str
    n_rows: int
    n_levels: int = 1

    @property
    def balanced_accuracy(self) -> float:
        """(1 + U) / 2, which no classifier of two compared groups exceeds."""
        return (1.0 + self.upper_bound) / 2.0

    @property
    def auc(self) -> float:
        """1/2 + U - U^2 / 2, which no score of two compared groups exceeds."""
        return 0.5 + self.upper_bound - self.upper_bound**2 / 2.0

    @property
    def accuracy(self) -> float:
        """Accuracy at the shares of the groups among the rows, which no classifier of two compared groups exceeds."""
        return max(float(measure["accuracy"]) for measure in self.measures)

    @property
    def promise(self) -> str:
        """What follows from the bound for every classifier and every decision, in a sentence."""
        whom = " from ".join(self.measures[0]["name"].split(" against ")) if len(self.measures) == 1 else "the groups"
        gap = GAPS.get(self.notion, "a gap between the compared groups")
        return (
            f"No classifier, however it is built, tells {whom} in these data with a balanced accuracy above "
            f"{_points(self.balanced_accuracy)} % or an AUC above {math.ceil(1000 * self.auc - 1e-9) / 1000:.3f}; no "
            f"decision made from them alone has {gap} above {_points(self.upper_bound)} points "
            f"({100 * self.confidence:g} % confidence)."
        )

    def after_search(self, target: float, n_levels: int) -> "AnyClassifierBound":
        """Return the bound after a search over levels: the target, for the level was not fixed beforehand.

        Parameters
        ----------
        target : float
            Of the search.
        n_levels : int
            Levels that were looked at.
        """
        measures = []
        for measure in self.measures:
            # accuracy = max(s, 1 - s) + min(s, 1 - s) U
            short = 1.0 - measure["upper_bound"]
            smaller = (1.0 - measure["accuracy"]) / short if short > 0.0 else 0.5
            measures.append(measure | {"upper_bound": target, "accuracy": 1.0 - smaller * (1.0 - target)})
        return replace(self, upper_bound=float(target), measures=measures, n_levels=n_levels)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain numbers, lists and dicts."""
        return asdict(self) | {name: getattr(self, name) for name in ("balanced_accuracy", "auc", "accuracy")}

    def __str__(self) -> str:
        sure = f"{100 * self.confidence:g} % confidence"
        if self.upper_bound >= 1.0:
            return (
                f"These {self.n_rows} rows promise nothing with {sure}: either the released data tell the groups "
                "apart, or the groups have too few rows."
            )
        lines = [self.promise]
        if len(self.measures) > 1 and self.n_levels == 1:
            lines += [f"  {m['name']}: at most {_points(m['upper_bound'])} points" for m in self.measures]
        lines.append(
            f"From {self.n_rows} rows, for {self.slack_kind}. It holds for people of the population that they are a "
            "sample of, for the released columns alone, and for averages over groups, not for single people."
        )
        return "\n".join(lines)


def any_classifier_bound(
    released: Any,
    *,
    sensitive_features: Any,
    y: Any = None,
    control_features: Any = None,
    sample_weight: Any = None,
    confidence: float = 0.95,
    largest_weight: float | None = None,
    against: str = "each other",
    **terms: Any,
) -> AnyClassifierBound:
    r"""Bound what every classifier, known or not, can tell of groups from released data.

    With T half the sum over cells of the differences of the groups' shares, m and n rows in the groups and
    q^2 = 1/m + 1/n, the total variation distance of the population is, with probability 1 - alpha,

    .. math:: TV \le U = T + c \, q, \qquad c \le \sqrt{\ln(1/\alpha) / 2},

    whatever the number of cells: Hoeffding's inequality for the one decision that tells the population's groups best.
    c is the smaller number that Bernstein's inequality and the theorem of Berry and Esseen give for all variances.

    Parameters
    ----------
    released : array-like or frame of shape (n_samples,) or (n_samples, k)
        What is released of each row, exactly: codes of cells, or columns of any kind with few distinct values. How
        rows become cells must not depend on these rows.
    sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
        Protected attributes with groups.
    y : array-like of shape (n_samples,), default=None
        Labels, for `fairness="equal_opportunity"` and `"equalized_odds"`.
    control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
        Segments: groups are compared within each.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, fixed by the design of the sample and not by what the people are like.
    confidence : float, default=0.95
        Of the bound.
    largest_weight : float, default=None
        Where weights are drawn with the people, as in surveys: the largest weight that anyone of the population can
        have. Means are then ratios, which have a wider bound of their own.
    against : {"each other", "all others"}, default="each other"
        Of more than two groups, compare every two, or each with all others together.
    **terms : dict
        How people are compared: `fairness`, `favourable`, `sensitive`, `min_group_size`, `small_groups`, `missing`,
        `attribute_error`, see `FairPCA`.

    Returns
    -------
    bound : AnyClassifierBound
        The bound and what follows from it; `print` it.

    Notes
    -----
    The largest of several comparisons needs no correction: were the largest distance of the population above
    `upper_bound`, that one comparison would be above its own bound. The bounds of single comparisons in `measures` hold
    all at once, each with alpha divided by their number, and may therefore be larger.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import any_classifier_bound
    >>> rng = np.random.default_rng(0)
    >>> group, cell = rng.integers(0, 2, 10_000), rng.integers(0, 8, 10_000)
    >>> bound = any_classifier_bound(cell, sensitive_features=group)
    >>> round(bound.upper_bound, 3), round(bound.balanced_accuracy, 3)
    (0.043, 0.521)
    """
    check_confidence(confidence)
    people = People(sensitive_features, y, control_features, sample_weight)
    check_same_rows(released, people.tables)
    codes = codes_of(released)
    chosen = Terms.named(**terms)
    chosen.check_confidence(confidence)
    sides, _ = sides_of(people, len(codes), chosen, against)
    if largest_weight is not None:
        check_largest_weight(largest_weight, sample_weight)
    n_codes = int(codes.max(initial=0)) + 1
    distances = [0.5 * float(np.abs(each.distances(codes, n_codes)).sum()) for each in sides]
    return bound_of(sides, distances, confidence, chosen, largest_weight)


def bound_of(
    sides: Sequence[Sides],
    distances: Sequence[float],
    confidence: float,
    terms: Terms,
    largest_weight: float | None = None,
) -> AnyClassifierBound:
    """Return the bound from what rows show.

    Parameters
    ----------
    sides : sequence of Sides
        What was compared.
    distances : sequence of float
        T of each.
    confidence, largest_weight
        See `any_classifier_bound`.
    terms : Terms
        How people were compared.
    """
    alpha, doubts = 1.0 - confidence, {each.record["attribute"]: each.correction.doubt for each in sides}
    # Rates are one event for all comparisons of an attribute, shares of groups one for each.
    sampling = (alpha - sum(doubts.values()) - (len(sides) - len(doubts)) * DOUBT * any(doubts.values())) / len(sides)
    measures = []
    for each, distance in zip(sides, distances, strict=True):
        slack = each.slack(sampling + each.correction.doubt, largest_weight)
        bound, share = min(1.0, distance + slack), each.true_share
        accuracy = max(share, 1.0 - share) + min(share, 1.0 - share) * bound
        found = {"distance": min(1.0, distance), "slack": slack, "upper_bound": bound, "accuracy": accuracy}
        measures.append(each.record | found)
    largest = max(d + each.slack(alpha, largest_weight) for each, d in zip(sides, distances, strict=True))
    return AnyClassifierBound(
        upper_bound=min(1.0, largest),
        confidence=confidence,
        measures=measures,
        slack_kind=FIXED if largest_weight is None else DRAWN,
        notion=terms.fairness if isinstance(terms.fairness, str) else "",
        n_rows=int(np.sum(np.any([each.weights != 0 for each in sides], axis=0))),
    )


def check_largest_weight(largest_weight: Any, sample_weight: Any) -> None:
    """Refuse a largest weight that some row exceeds, or that is of nothing."""
    check_number("largest_weight", largest_weight, above=0.0)
    if sample_weight is None:
        raise ValueError("largest_weight speaks of sample_weight: pass the weights too.")
    if float(np.max(np.asarray(sample_weight, dtype=np.float64))) > largest_weight:
        raise ValueError(
            f"largest_weight={largest_weight!r} is less than the weight {np.max(sample_weight)!r} of a row; it must be "
            "the largest that anyone of the population can have."
        )


def codes_of(released: Any) -> IntArray:
    """Return the number of the cell of each row: rows with the same entries in all columns share one.

    Parameters
    ----------
    released : array-like or frame of shape (n,) or (n, k)
        Columns of any kind.
    """
    if hasattr(released, "columns"):
        columns = [np.asarray(released[name]) for name in released.columns]
    else:
        table = np.asarray(released)
        if table.ndim not in (1, 2):
            raise ValueError(f"released has {table.ndim} dimensions; it must be one column or a table of columns.")
        columns = [table] if table.ndim == 1 else list(table.T)
    if not columns or not len(columns[0]):
        raise ValueError("released has no rows or no columns; pass what is released of each row.")
    codes = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        if codes.max() + 1 == len(codes):
            break  # every row is a cell of its own
        own = _codes_of_column(column)
        # Numbered anew after each column, so that products never overflow.
        codes = np.unique(codes * (own.max() + 1) + own, return_inverse=True)[1].ravel()
    return codes


def _codes_of_column(column: Any) -> IntArray:
    if column.dtype == object:
        # By type, too: whoever sees the release can tell 1 from "1", and None from NaN.
        column = np.array([f"{type(each).__name__} {each}" for each in column], dtype=str)
    return np.unique(column, return_inverse=True)[1].ravel()


def _points(share: float) -> str:
    """Return a bound in points of a percent, rounded upwards."""
    return f"{math.ceil(1000 * share - 1e-9) / 10:g}"
