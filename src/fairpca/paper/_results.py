"""What tasks return, and how runs are selected and summarised."""
# SPDX-License-Identifier: MIT

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairpca._utils.typing import AnyArray

Row = dict[str, Any]
"""One line of a CSV file: text, numbers, booleans, or None where a quantity does not exist."""


@dataclass(frozen=True)
class Outcome:
    """What one task found.

    Attributes
    ----------
    row : dict
        The line of the runs file; the same on every repetition.
    seconds : float
        Wall time of the fit, which is not.
    arrays : dict of ndarray
        What figures need beside the row.
    """

    row: Row
    seconds: float
    arrays: Mapping[str, AnyArray] = field(default_factory=dict)


@dataclass(frozen=True)
class Results:
    """The outcomes of an experiment, in the order of its tasks.

    Attributes
    ----------
    outcomes : tuple of Outcome
        The outcomes.
    """

    outcomes: tuple[Outcome, ...]

    @property
    def rows(self) -> list[Row]:
        """The lines of the runs file."""
        return [outcome.row for outcome in self.outcomes]

    def where(self, **values: Any) -> "Results":
        """Keep the outcomes whose rows have these values.

        Examples
        --------
        >>> runs = Results((Outcome({"p": 20, "mmd2": 0.1}, 1.0), Outcome({"p": 30, "mmd2": 0.2}, 1.0)))
        >>> runs.where(p=30).column("mmd2")
        [0.2]
        """
        return Results(
            tuple(
                outcome
                for outcome in self.outcomes
                if all(outcome.row.get(name) == value for name, value in values.items())
            )
        )

    def column(self, name: str) -> list[Any]:
        """Return one quantity of every run."""
        return [outcome.row[name] for outcome in self.outcomes]

    def distinct(self, name: str) -> list[Any]:
        """Return the different values of a column, in order of appearance."""
        return list(dict.fromkeys(self.column(name)))

    def seconds(self) -> list[float]:
        """Return the wall time of every run."""
        return [outcome.seconds for outcome in self.outcomes]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of some runs.

    Attributes
    ----------
    n : int
        How many.
    mean : float
        Their mean.
    deviation : float or None
        Their standard deviation (divisor n - 1); None for a single run.
    """

    n: int
    mean: float
    deviation: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Summarise numbers.

        Examples
        --------
        >>> Spread.of([1.0, 3.0]).mean
        2.0
        """
        deviation = statistics.stdev(values) if len(values) > 1 else None
        return cls(len(values), statistics.fmean(values), deviation)


def summarise(rows: Iterable[Row], keys: Sequence[str], quantities: Sequence[str]) -> list[Row]:
    """Return mean and standard deviation of each quantity for each combination of keys.

    Parameters
    ----------
    rows : iterable of dict
        Runs.
    keys : sequence of str
        Columns that tell settings apart.
    quantities : sequence of str
        Columns to summarise; a setting without any value of one is left out.

    Returns
    -------
    summary : list of dict
        The keys, then quantity, n, mean, standard_deviation; in order of appearance.

    Examples
    --------
    >>> summarise([{"p": 20, "mmd2": 0.1}, {"p": 20, "mmd2": 0.3}], ["p"], ["mmd2"])[0]["n"]
    2
    """
    settings: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        settings.setdefault(tuple(row[key] for key in keys), []).append(row)
    summary = []
    for setting, members in settings.items():
        for quantity in quantities:
            values = [float(row[quantity]) for row in members if row.get(quantity) is not None]
            if values:
                spread = Spread.of(values)
                summary.append(
                    {
                        **dict(zip(keys, setting, strict=True)),
                        "quantity": quantity,
                        "n": spread.n,
                        "mean": spread.mean,
                        "standard_deviation": spread.deviation,
                    }
                )
    return summary
