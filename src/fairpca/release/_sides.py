"""The two sides of each comparison, and how far a difference between them can lie below that of the population."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr

from fairpca._utils.checks import check_name
from fairpca._utils.typing import FloatArray, IntArray
from fairpca.comparison import (
    LARGEST_MMD2,
    Among,
    Compared,
    Contrast,
    Correction,
    Notion,
    People,
    Strata,
    Terms,
    compare,
    masses_of,
)
from fairpca.exceptions import OutOfReachError

AGAINST = ("each other", "all others")

BERRY_ESSEEN = 0.5606
"""|P(S <= x s) - Phi(x)| <= C sum E|X_i|^3 / s^3 for independent centred X_i that need not have one law.

I. Tyurin, "New estimates of the convergence rate in the Lyapunov theorem", arXiv:0912.0726, abstract.
"""

EQUAL_GROUPS = 1.0 / math.sqrt(2.0 * math.pi)
"""T of groups that do not differ is about this times q sqrt(C - 1) for C cells that are about as large: E|x| of a
normal variable is sqrt(2 / pi), and half of the sum of |differences| is taken."""

VARIANCES = np.append(0.0, np.geomspace(1e-4, 0.25, 1500))
"""Ends of the intervals of variances that are looked at; Bernstein's inequality settles the first. Finer changes c by
less than a thousandth."""


@dataclass(frozen=True)
class EachPair(Notion):
    """A notion of fairness that compares every two groups, where it would compare each with all others together."""

    notion: Notion

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        """Whether the notion speaks of labels."""
        return self.notion.needs_labels

    def among(self, labels: Any, favourable: Any) -> list[Among]:
        """Return whom groups are compared among."""
        return self.notion.among(labels, favourable)

    def contrasts(self, strata: Strata) -> list[Contrast]:
        """Return a measure for every two groups."""
        eye = np.eye(len(strata.labels))
        return [
            Contrast(f"{strata.labels[a]} against {strata.labels[b]}", (eye[a] - eye[b])[:, None])
            for a, b in combinations(range(len(eye)), 2)
        ]


@dataclass(frozen=True, eq=False)
class Sides:
    """Two sides that are compared: weights of rows that sum to 1 on the one and to -1 on the other.

    Attributes
    ----------
    record : dict
        What is compared: `name`, `attribute`, `among`, `n_rows`, `sides`.
    weights : ndarray of shape (n,)
        w_i, 0 for rows that take no part.
    masses : ndarray of shape (2,)
        The mass of each side.
    squares : float
        q^2, the sum of w_i^2: 1/m + 1/n where rows count alike.
    heaviest : float
        The largest |w_i|.
    correction : Correction
        What follows from groups that are recorded wrongly, for distances and what is added to them.
    """

    record: dict[str, Any]
    weights: FloatArray
    masses: FloatArray
    squares: float
    heaviest: float
    correction: Correction

    @classmethod
    def of(cls, record: dict[str, Any], weights: FloatArray, masses: FloatArray, correction: Correction) -> "Sides":
        """Take the weights of one measure.

        Parameters
        ----------
        record : dict
            What is compared.
        weights : ndarray of shape (n,)
            w_i.
        masses : ndarray of shape (n,)
            Masses of rows.
        correction : Correction
            What follows from groups that are recorded wrongly.
        """
        both = weights > 0, weights < 0
        if not all(abs(abs(weights[side].sum()) - 1.0) < 1e-9 for side in both):
            raise ValueError(
                f"{record['name']} is no comparison of two sides, each a mean over its rows, which alone can be "
                "bounded for every classifier; use a notion of fairness whose contrasts sum to 1 and -1."
            )
        totals = np.array([masses[side].sum() for side in both])
        return cls(record, weights, totals, float(weights @ weights), float(np.abs(weights).max()), correction)

    @property
    def true_share(self) -> float:
        """The share of the people who are in the first group, of those that are possible the one furthest from 1/2."""
        shares = self.correction.shares or (float(self.masses[0] / self.masses.sum()),)
        return max(shares, key=lambda share: abs(share - 0.5))

    def distances(self, codes: IntArray, n_codes: int) -> FloatArray:
        """Return the difference of the shares of the two groups in each cell."""
        return np.bincount(codes, self.correction.scale * self.weights, minlength=n_codes).astype(np.float64)

    def distance_of_equals(self, n_cells: int) -> float:
        """Return about what T is over cells where the released groups do not differ."""
        return self.correction.scale * _distance_of_equals(self.squares, n_cells)

    def slack(self, alpha: float, largest_weight: float | None = None) -> float:
        """Return what has to be added to T for a bound with confidence 1 - alpha.

        Parameters
        ----------
        alpha : float
            The probability that the bound fails, at most.
        largest_weight : float, default=None
            The largest weight that anybody can have, where weights are drawn with the people.
        """
        left = alpha - self.correction.doubt
        if left <= 0.0:
            return 1.0  # no distance is larger
        if largest_weight is not None:
            return self.correction.scale * self._slack_of_ratios(left, largest_weight)
        return self.correction.scale * _slack(self.squares, self.heaviest, left)

    def _slack_of_ratios(self, alpha: float, largest_weight: float) -> float:
        """Return the slack where means are ratios: w (f - r) has mean 0 and a range of B, on each side at alpha / 2."""
        counts = np.array([np.sum(self.weights > 0), np.sum(self.weights < 0)])
        return float(np.sum(largest_weight / self.masses * np.sqrt(counts * math.log(2.0 / alpha) / 2.0)))

    def rows_needed(self, alpha: float, bound: float, largest_weight: float | None = None) -> int:
        """Return how many rows, divided as these are, it takes until the slack is no larger than a bound."""
        factor, bound, alpha = 1.0, bound / self.correction.scale, alpha - self.correction.doubt
        if largest_weight is not None:
            factor = (self._slack_of_ratios(alpha, largest_weight) / bound) ** 2
        while largest_weight is None and _slack(self.squares / factor, self.heaviest / factor, alpha) > bound:
            factor *= 1.05
        return math.ceil(factor * self.record["n_rows"])


def _slack(squares: float, heaviest: float, alpha: float) -> float:
    q = math.sqrt(squares)
    return q * constant(heaviest / q, alpha)


def least_bound(m: int, n: int, confidence: float, n_cells: int = 1) -> float:
    """Return what rows of two groups can show of cells, about, where the released groups do not differ.

    Parameters
    ----------
    m, n : int
        Rows of the two.
    confidence : float
        Of the bound.
    n_cells : int, default=1
        Cells; of one no T is added: nothing can be shown below.
    """
    squares = 1.0 / m + 1.0 / n
    slack = _slack(squares, 1.0 / min(m, n), 1.0 - confidence)
    return slack + _distance_of_equals(squares, n_cells)


def _distance_of_equals(squares: float, n_cells: int) -> float:
    return EQUAL_GROUPS * math.sqrt((n_cells - 1) * squares)


def constant(heaviest: float, alpha: float) -> float:
    r"""Return c: with probability 1 - alpha a weighted mean difference D of rows in [0, 1] is above its mean - c q.

    With v the mean of the variances of rows, weighted by w_i^2, and b the largest |w_i| / q, the probability that
    D lies further below is at most each of

    .. math:: e^{-2 c^2}, \qquad e^{-c^2 / (2 v + 2 b c / 3)}, \qquad
              \Phi(-c / \sqrt v) + C b \frac{1 + \sqrt{1 - 4 v}}{2 \sqrt v}

    by Hoeffding, Bernstein, and Tyurin with E|f - Ef|^3 <= v (1 + \sqrt{1 - 4 v}) / 2 for f in [0, 1], which is concave
    in v. c is the least for which the smallest of them is at most alpha, whatever v in [0, 1/4] is.

    Parameters
    ----------
    heaviest : float
        b, at most 1.
    alpha : float
        The probability.
    """
    low, high = 0.0, math.sqrt(-math.log(alpha) / 2.0)
    below, above = VARIANCES[:-1], VARIANCES[1:]
    with np.errstate(divide="ignore"):
        # Decreasing in v: taken at the lower end of each interval, the others at the upper end.
        error = BERRY_ESSEEN * heaviest * (1.0 + np.sqrt(1.0 - 4.0 * below)) / (2.0 * np.sqrt(below))

    def exceeds(c: float) -> bool:
        bernstein = np.exp(-c * c / (2.0 * above + 2.0 * heaviest * c / 3.0))
        return bool(np.any(np.minimum(bernstein, ndtr(-c / np.sqrt(above)) + error) > alpha))

    if exceeds(high):
        return high
    while high - low > 1e-6:
        middle = (low + high) / 2.0
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high


def sides_of(people: People, n_rows: int, terms: Terms, against: str) -> tuple[list[Sides], Compared]:
    """Return the two sides of each comparison, and what was compared.

    Parameters
    ----------
    people : People
        What is known of the rows.
    n_rows : int
        Their number.
    terms : Terms
        How they are compared.
    against : {"each other", "all others"}
        Whether every two groups are compared, or each with all others together.
    """
    if people.sensitive_features is None:
        raise ValueError("sensitive_features=None: groups are needed to bound how well they can be told apart.")
    if check_name("against", against, AGAINST) == "each other":
        terms = Terms.named(**(vars(terms) | {"fairness": EachPair(terms.notion)}))
    compared = compare(people, n_rows, terms, LARGEST_MMD2)
    comparison = compared.comparison
    assert comparison is not None
    if comparison.dense:
        raise ValueError(
            "sensitive_features has a continuous attribute, and a classifier of groups is bounded for groups only: cut "
            "it into ranges."
        )
    columns = comparison.columns.of(compared.attached)
    found = masses_of(compared.attached)
    masses = np.ones(n_rows) if found is None else found
    sides = []
    for j, measure in enumerate(compared.measures):
        record = {name: measure.as_dict()[name] for name in ("name", "attribute", "among", "n_rows", "sides")}
        own = columns[:, comparison.owner == j] / measure.correction.scale
        sides.append(Sides.of(record, np.zeros(n_rows) if own.shape[1] != 1 else own[:, 0], masses, measure.correction))
    return sides, compared


def check_names(sides: list[Sides], names: tuple[str, ...] | None) -> None:
    """Refuse comparisons other than those of the fit.

    Parameters
    ----------
    sides : list of Sides
        What is compared.
    names : tuple of str, or None
        What was compared in the fit, if anything was.
    """
    own = {each.record["name"] for each in sides}
    if names is not None and own != set(names):
        raise ValueError(
            "these rows have other groups than those of the fit: "
            + "; ".join(f"{name} is {'new' if name in own else 'missing'}" for name in sorted(own ^ set(names)))
            + ". Bring the same groups, or merge them before the fit."
        )


def masses_of_rows(people: People, n_rows: int) -> FloatArray:
    """Return how much each row counts.

    Parameters
    ----------
    people : People
        What is known of the rows.
    n_rows : int
        Their number.
    """
    alone = compare(People(sample_weight=people.sample_weight), n_rows, Terms(), LARGEST_MMD2)
    found = masses_of(alone.attached)
    return np.ones(n_rows) if found is None else found


def slacks_below(target: float, sides: list[Sides], alpha: float, largest_weight: float | None = None) -> FloatArray:
    """Return what is added to each T, if the target leaves room for that.

    Parameters
    ----------
    target : float
        The promise.
    sides : list of Sides
        What is compared.
    alpha : float
        1 - confidence.
    largest_weight : float, default=None
        Where weights are drawn with the people.
    """
    slacks = np.array([each.slack(alpha, largest_weight) for each in sides])
    if slacks.max() >= target:
        worst = sides[int(np.argmax(slacks))]
        rows, needed = " and ".join(map(str, worst.record["sides"])), worst.rows_needed(alpha, target, largest_weight)
        raise OutOfReachError(
            f"target={target:g} is out of reach: with {rows} rows ({worst.record['name']}) nothing below "
            f"{slacks.max():.3f} can be shown, even of groups that do not differ. It takes at least {needed:,} rows in "
            "these shares, and more where groups differ."
        )
    return slacks


def finest_level(
    levels: Iterable[FloatArray], target: float, sides: list[Sides], alpha: float, largest_weight: float | None = None
) -> tuple[int, FloatArray, int]:
    """Return the last level before the first that fails, its distances, and how many were looked at.

    Parameters
    ----------
    levels : iterable of ndarray of shape (n_measures,)
        T of each comparison, on one level after the other.
    target, sides, alpha, largest_weight
        See `slacks_below`.
    """
    slacks, passed, n_levels = slacks_below(target, sides, alpha, largest_weight), None, 0
    for n_levels, distances in enumerate(levels, start=1):
        if np.max(distances + slacks) > target:
            break
        passed = n_levels - 1, distances
    if passed is not None:
        return *passed, n_levels
    if n_levels == 0:
        raise ValueError(
            "these rows lie further apart than a grid reaches, even with the most noise of this release: leave "
            'far rows out, or use kind="cells".'
        )
    j = int(np.argmax(distances + slacks))
    raise OutOfReachError(_too_different(sides[j], target, distances[j], slacks[j]))


def _too_different(sides: Sides, target: float, distance: float, slack: float) -> str:
    q = sides.correction.scale * math.sqrt(sides.squares)
    # What chance adds to T of two cells is left to shrink with the rows.
    own = max(0.0, distance - EQUAL_GROUPS * q)
    room = target - own
    more = "more rows do not help, for its groups differ by about as much"
    if room > 0.1 * target:
        needed = math.ceil(sides.record["n_rows"] * ((distance + slack - own) / room) ** 2)
        more = f"about {needed:,} rows may reach it"
    rows = " and ".join(map(str, sides.record["sides"]))
    return (
        f"target={target:g} is out of reach: with {rows} rows ({sides.record['name']}) the coarsest level of the "
        f"release shows no less than {min(1.0, distance + slack):.3f}; {more}. Ask for a larger target, on other rows."
    )
