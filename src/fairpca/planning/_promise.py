"""How many people a promise about every classifier takes."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

from fairpca._utils.checks import check_confidence, check_number
from fairpca.planning._population import MOST_ROWS, Sides
from fairpca.release import least_bound

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
            lines.append(f"{first:,} and {second:,} rows to certify with allow promises of about {bounds} at best.")
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
    needed = None if target is None else {n: _needed(target, sides, n, confidence) for n in N_CELLS}
    today = sides.today
    supported = None if today is None else {n: min(1.0, least_bound(*today, confidence, n)) for n in N_CELLS}
    return PromisePlan(target, needed, today, supported, confidence)


def _needed(target: float, sides: Sides, n_cells: int, confidence: float) -> tuple[int, int]:
    def shown(m: int, n: int) -> float:
        return least_bound(m, n, confidence, n_cells)

    needed = sides.least_showing(target, shown)
    if needed is None:
        least = shown(*sides.split(MOST_ROWS))
        raise ValueError(f"target={target!r} is less than {MOST_ROWS:.0e} rows could show, {least:.1e}.")
    return needed
