"""Plans: how many people an audit or a promise about every classifier needs, before there is one."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from fairpca._utils.checks import check_bandwidth, check_confidence, check_integer, check_number
from fairpca._utils.typing import FloatArray, IntArray
from fairpca.auditing import projections
from fairpca.comparison import LARGEST_MMD2
from fairpca.planning._population import MOST_ROWS, Population, Sides
from fairpca.plots import PlanDisplay
from fairpca.release import least_bound


@dataclass(frozen=True, eq=False)
class Plan:
    """How many people show how little of a difference.

    Attributes
    ----------
    n_rows : ndarray of int of shape (k,)
        Rows of both groups together, increasing.
    epsilon : ndarray of shape (k,)
        The MMD^2 that as many can rule out.
    target : float or None
        The MMD^2 that is to be ruled out.
    needed : tuple of int or None
        Rows of each group that this takes.
    today : tuple of int or None
        Rows of each group that there are.
    supported : float or None
        The MMD^2 that these can rule out.
    power : float
        With which probability rows like these do, where the groups do not differ.
    confidence : float
        Of the bound.
    n_components : int
        d.
    bandwidth : float
        sigma, in the units of what the plan was made from.
    source : str
        What it was made from, in words.
    """

    n_rows: IntArray
    epsilon: FloatArray
    target: float | None
    needed: tuple[int, int] | None
    today: tuple[int, int] | None
    supported: float | None
    power: float
    confidence: float
    n_components: int
    bandwidth: float
    source: str

    def plot(self, ax: Any = None) -> Any:
        """Draw what can be ruled out against the rows that this takes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        marks = {}
        if self.needed is not None and self.target is not None:
            marks["needed"] = (sum(self.needed), self.target)
        if self.today is not None and self.supported is not None:
            marks["today"] = (sum(self.today), self.supported)
        return PlanDisplay(self.n_rows, self.epsilon, marks).plot(ax=ax)

    def __str__(self) -> str:
        lines = [
            f"Bounds on MMD^2 at {self.n_components} component{'s' if self.n_components > 1 else ''} with "
            f"{100 * self.confidence:g} % confidence, which rows that were used neither to fit nor to choose reach "
            f"with a probability of {100 * self.power:g} % where the groups do not differ:"
        ]
        if self.needed is not None:
            lines.append(f"  at most {self.target:.2g} takes {_rows(self.needed)} in the two groups.")
        if self.today is not None:
            lines.append(f"  {_rows(self.today)} show at most {self.supported:.2g}.")
        if self.needed is None and self.today is None:
            lines += [f"  {n:,} rows in all show at most {e:.2g}." for n, e in self._few()]
        lines += [f"Computed from {self.source}. Groups that differ a little need more rows than that.", self.advice]
        return "\n".join(lines)

    @property
    def advice(self) -> str:
        """What follows, in a sentence."""
        if self.needed is None or self.target is None:
            return "Next: name the bound that you need, and the plan says how many rows it takes."
        rows = sum(self.needed)
        if self.today is None:
            return f"Next: hold out {rows:,} rows for the audit, and fit on others."
        short = rows - sum(self.today)
        if short <= 0:
            return "Next: today's rows are enough. Hold them out for the audit, and fit on others."
        return (
            f"Next: hold out {short:,} rows more than today's, or plan for {self.supported:.2g}, which these can show."
        )

    def _few(self) -> list[tuple[int, float]]:
        step = max(1, (len(self.n_rows) - 1) // 4)
        return list(zip(self.n_rows[::step].tolist(), self.epsilon[::step].tolist(), strict=True))


def _rows(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]:,} and {sizes[1]:,} rows"


def plan(
    epsilon: float | None = None,
    *,
    n_components: int = 2,
    groups: Any = (0.5, 0.5),
    rows: int | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    Z: Any = None,
    reduction: Any = None,
    X: Any = None,
    bandwidth: str | float | None = None,
) -> Plan:
    r"""Say how many people an audit needs to certify that MMD^2 is at most epsilon.

    An audit certifies the upper bound U = e + 2 z^2 l + z \sqrt{s^2 + 4 l e + 4 z^2 l^2} of the population's MMD^2, see
    `fairpca.audit`. Where the groups do not differ e, s and l all are 1/m + 1/n times numbers that depend only on how
    projected people are spread, so that it can be said beforehand how large U will be.

    Parameters
    ----------
    epsilon : float, default=None
        The MMD^2 that is to be ruled out, less than 2; None asks what given numbers of rows can rule out.
    n_components : int, default=2
        d; of given projections their own number counts.
    groups : pair of numbers, default=(0.5, 0.5)
        Rows that each of the two groups has today, or shares, whose sum is 1. Of more groups each is compared with
        all others: plan for the smallest.
    rows : int, default=None
        Rows of both groups today, where `groups` are shares.
    power : float, default=0.8
        With which probability U must be at most epsilon if the groups do not differ.
    confidence : float, default=0.95
        Of U.
    Z : array-like of shape (n, d), default=None
        Projected rows, at least 100, from which it is learned how people are spread. Without them they are taken for
        normally distributed, with equal variances. Unequal ones act like fewer components, which need more rows.
    reduction, X : default=None
        In place of `Z`: what `fairpca.audit` takes.
    bandwidth : "median" or float, default=None
        sigma, in the units of the projections; by default that which the reduction was fitted with, or the median
        heuristic.

    Returns
    -------
    plan : Plan
        Rows needed, what today's rows support, and the curve; `print` it.

    Notes
    -----
    Bounds of simulated normal groups that do not differ, of 300 to 5,000 rows and as many or four times as many in the
    other, agree within 10 % at 2 and 10 components.

    Examples
    --------
    >>> import fairpca
    >>> found = fairpca.plan(0.01, groups=(200, 800))
    >>> found.needed[0] > 200, found.supported < 0.02
    (True, True)
    """
    sides = Sides.of(groups, rows)
    if epsilon is not None:
        check_number("epsilon", epsilon, above=0.0, below=LARGEST_MMD2)
    check_number("power", power, above=0.0, below=1.0)
    check_confidence(confidence)
    people, source = _people(n_components, Z, reduction, X, bandwidth)

    def shown(m: int, n: int) -> float:
        return people.bound(m, n, power, confidence)

    needed = None
    if epsilon is not None:
        needed = sides.least_showing("epsilon", epsilon, shown, ": no audit can certify it")
    supported = None if sides.today is None else shown(*sides.today)
    n_rows = _curve_rows(sides.least_rows, *filter(None, [needed, sides.today]))
    return Plan(
        n_rows=n_rows,
        epsilon=np.array([shown(*sides.split(n)) for n in n_rows.tolist()]),
        target=epsilon,
        needed=needed,
        today=sides.today,
        supported=supported,
        power=power,
        confidence=confidence,
        n_components=people.n_components,
        bandwidth=people.bandwidth,
        source=source,
    )


def _people(n_components: Any, Z: Any, reduction: Any, X: Any, bandwidth: Any) -> tuple[Population, str]:
    """Return whom the plan is about, and that in words."""
    chosen = None if bandwidth is None else check_bandwidth(bandwidth)
    if Z is not None and (reduction is not None or X is not None):
        raise ValueError("give Z, which holds projected rows, or reduction and X, which make them; not both.")
    if (reduction is None) != (X is None):
        raise ValueError("reduction and X go together: what reduces, and rows to be reduced; projected rows are Z.")
    if Z is None and X is None:
        check_integer("n_components", n_components, least=1, most=1000)
        sigma = chosen if isinstance(chosen, float) else None
        many = f" in {n_components} dimensions of equal variance; unequal ones act like fewer, which need more rows"
        return Population.normal(n_components, sigma), f"a normal distribution{many if n_components > 1 else ''}"
    rows = check_array(Z, dtype=np.float64, input_name="Z") if X is None else projections(reduction, X)
    if chosen is None:
        chosen = getattr(reduction, "bandwidth_", None)
    return _population_of(rows, chosen), f"the spread of {len(rows):,} projected rows"


def _population_of(Z: FloatArray, bandwidth: Any, least: int = 100) -> Population:
    """Return whom projected rows are a sample of; of fewer than `least` the spectrum is noise."""
    if len(Z) < least:
        raise ValueError(
            f"{len(Z)} projected rows are too few to know how people are spread; give at least {least}, or "
            "none to plan with a normal distribution."
        )
    if not np.ptp(Z, axis=0).any():
        raise ValueError("all projected rows are equal: groups cannot differ in them, and there is nothing to plan.")
    return Population.of(Z, None if isinstance(bandwidth, str) or bandwidth is None else float(bandwidth))


def _curve_rows(least: int, *marks: tuple[int, int]) -> Any:
    """Return numbers of rows from the least that make sense to well beyond those that matter, 65 for a smooth curve."""
    most = min(MOST_ROWS, max([10**5, 10 * least, *(4 * sum(mark) for mark in marks)]))
    return np.unique(np.rint(np.geomspace(least, max(most, 2 * least), 65)).astype(np.int64))


N_CELLS = (2, 16)
"""Cells of a release: the coarsest, and one that keeps something of two or three components."""


@dataclass(frozen=True)
class PromisePlan:
    """What can be promised with so many people, of groups that do not differ.

    Attributes
    ----------
    target : float or None
        The promise that is wanted.
    needed : dict of int to tuple of int, or None
        Rows of each group that it takes, by the number of cells of the release.
    today : tuple of int or None
        Rows of each group that there are.
    supported : dict of int to float, or None
        The smallest promise that these allow, by the number of cells.
    confidence : float
        Of the promise.
    """

    target: float | None
    needed: dict[int, tuple[int, int]] | None
    today: tuple[int, int] | None
    supported: dict[int, float] | None
    confidence: float

    def __str__(self) -> str:
        lines = []
        if self.needed is not None and self.target is not None:
            rows = "; ".join(f"{n} cells take about {m:,} and {k:,} rows" for n, (m, k) in self.needed.items())
            lines.append(
                f"To promise, with {100 * self.confidence:g} % confidence, that no decision has a gap above "
                f"{100 * self.target:g} points: {rows}, if the released groups do not differ; more where they do."
            )
        if self.supported is not None and self.today is not None:
            bounds = " and ".join(f"{100 * bound:.1f} points with {n} cells" for n, bound in self.supported.items())
            first, second = self.today
            lines.append(
                f"With {first:,} and {second:,} rows to certify, promises of about {bounds} are possible at best."
            )
        return "\n".join(lines)


def plan_promise(
    target: float | None = None, *, groups: Any = (0.5, 0.5), rows: int | None = None, confidence: float = 0.95
) -> PromisePlan:
    r"""Say how many rows to certify with a promise about every classifier takes.

    Where the released groups do not differ, T is about .4 \sqrt{(k - 1)(1/m + 1/n)} for k cells, and the promise is
    T + c \sqrt{1/m + 1/n}, see `fairpca.any_classifier_bound`.

    Parameters
    ----------
    target : float, default=None
        The promise: the largest gap of any decision.
    groups : pair of numbers, default=(0.5, 0.5)
        Held-out rows that each of the two groups has today, or shares, whose sum is 1.
    rows : int, default=None
        Held-out rows of both groups today, where `groups` are shares.
    confidence : float, default=0.95
        Of the promise.

    Returns
    -------
    plan : PromisePlan
        Rows needed, and what those of today allow; `print` it.

    Examples
    --------
    >>> from fairpca.planning import plan_promise
    >>> found = plan_promise(0.1, groups=(200, 800))
    >>> found.supported[2] > 0.1, sum(found.needed[2]) > 1000
    (True, True)
    """
    sides = Sides.of(groups, rows)
    check_confidence(confidence)
    if target is not None:
        check_number("target", target, above=0.0, below=1.0)
    shown = {n: partial(least_bound, confidence=confidence, n_cells=n) for n in N_CELLS}
    needed = supported = None
    if target is not None:
        needed = {n: sides.least_showing("target", target, of_cells) for n, of_cells in shown.items()}
    if (today := sides.today) is not None:
        supported = {n: min(1.0, of_cells(*today)) for n, of_cells in shown.items()}
    return PromisePlan(target, needed, today, supported, confidence)
