"""The figures of an audit that a gate can limit, and which of them are above their limits."""
# SPDX-License-Identifier: MIT

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairpca._utils.checks import check_number

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult

OF_MEASURES = ("mmd2", "unbiased", "excess", "upper_bound", "finite_sample_bound")
OF_ADVERSARIES = ("auc", "balanced_accuracy", "r2")
OF_TASKS = ("demographic_parity", "equal_opportunity", "equalized_odds")
FIGURES = ("promise", *OF_MEASURES, *OF_ADVERSARIES, *OF_TASKS, "overlap")
"""All names; which of them an audit has depends on what was asked of it."""


@dataclass(frozen=True)
class Figure:
    """A number of an audit that should be small.

    Attributes
    ----------
    name : str
        By which it is asked for.
    of : str
        What it is of, in words.
    value : float
        nan where it is not known.
    """

    name: str
    of: str
    value: float


@dataclass(frozen=True)
class Breach:
    """A figure above its limit.

    Attributes
    ----------
    figure : Figure
        The figure.
    limit : float
        What it must not exceed.
    """

    figure: Figure
    limit: float

    def __str__(self) -> str:
        figure = self.figure
        of = f" of {figure.of}" if figure.of else ""
        if math.isnan(figure.value):
            return f"{figure.name}{of} is not known, and must be at most {self.limit:g}"
        return f"{figure.name}{of} is {figure.value:.4g}, above {self.limit:g}"


def figures_of(audit: "AuditResult") -> list[Figure]:
    """Return all numbers of an audit that should be small.

    Parameters
    ----------
    audit : AuditResult
        The findings.
    """
    bound, overlap = audit.any_classifier, audit.overlap
    promise = Figure("promise", "any decision", math.nan if bound is None else bound.upper_bound)
    seen = [] if overlap is None else [Figure("overlap", "these rows and those of the fit", overlap.share)]
    return [
        promise,
        *_of(OF_MEASURES, audit.measures, lambda measure: measure["name"]),
        *_of(OF_ADVERSARIES, audit.adversaries, lambda r: f"{r['attribute'] or 'the attribute'} by {r['adversary']}"),
        *_of(OF_TASKS, audit.parity, lambda record: record["attribute"]),
        *seen,
    ]


def _of(names: tuple[str, ...], records: Iterable[dict[str, Any]], called: Any) -> Iterator[Figure]:
    for record in records:
        yield from (Figure(name, called(record), float(record[name])) for name in names if name in record)


def breaches(figures: Iterable[Figure], limits: Mapping[str, float]) -> list[Breach]:
    """Return the figures that are above their limits, or not known.

    Parameters
    ----------
    figures : iterable of Figure
        Of an audit.
    limits : mapping of str to float
        By the names of figures.
    """
    listed = list(figures)
    names = list(dict.fromkeys(figure.name for figure in listed))
    for name, limit in limits.items():
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            meant = f"; did you mean {near[0]}?" if near else "."
            raise ValueError(f"this audit has no figure {name!r}; it has {', '.join(names)}{meant}")
        check_number(name, limit, above=-math.inf)
    return [
        Breach(each, limits[each.name])
        for each in listed
        if each.name in limits and not each.value <= limits[each.name]
    ]
