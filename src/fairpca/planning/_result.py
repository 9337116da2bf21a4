"""The answer of a plan."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

from fairpca._utils.typing import FloatArray, IntArray
from fairpca.plots import PlanDisplay


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
        lines.append(f"Reckoned from {self.source}. Groups that differ a little need more rows than that.")
        return "\n".join(lines)

    def _few(self) -> list[tuple[int, float]]:
        step = max(1, (len(self.n_rows) - 1) // 4)
        return list(zip(self.n_rows[::step].tolist(), self.epsilon[::step].tolist(), strict=True))


def _rows(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]:,} and {sizes[1]:,} rows"
