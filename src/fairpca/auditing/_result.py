"""The findings of an audit: what is said of each measure, as numbers and in plain words."""
# SPDX-License-Identifier: MIT

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from fairpca._utils.checks import check_number
from fairpca._utils.extras import require
from fairpca.auditing._certificate import Certificate, rows_of
from fairpca.auditing._reduction import Origin
from fairpca.auditing._verdict import Verdict, brief, judge
from fairpca.exceptions import LimitExceededError
from fairpca.plots import AuditDisplay
from fairpca.release import AnyClassifierBound
from fairpca.rows import Overlap

OF_TASK = {
    "demographic_parity": "in positive predictions",
    "equal_opportunity": "among those of the positive label",
    "equalized_odds": "at most within a label",
}
"""Gaps of a task, in words."""


OF_MEASURES = ("mmd2", "unbiased", "excess", "upper_bound", "finite_sample_bound")
OF_ADVERSARIES = ("auc", "balanced_accuracy", "r2")
FIGURES = ("promise", *OF_MEASURES, *OF_ADVERSARIES, *OF_TASK, "overlap")
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


@dataclass(frozen=True)
class AuditResult:
    """What a projection of new people reveals of their attributes.

    Attributes
    ----------
    any_classifier : AnyClassifierBound or None
        What no classifier can do with these data, however it is built; None where next to nothing follows, as of
        projections that differ from person to person, and for continuous attributes.
    measures : list of dict
        One for each measure: what is compared (`name`, `attribute`, `among`, `kind`, `n_rows`, `sides`, `weight`), the
        plug-in `mmd2` (and `mmd2_error` where rows are too many for all pairs), the `chance_level`, their difference
        `excess`, the `unbiased` estimate, p-values at the bandwidth (`p_value`), over scales (`p_value_scales`), with
        all measures counted (`p_value_adjusted`), and by the limit law (`p_value_moments`, beyond 5,000 rows); the
        `upper_bound` U of the population's MMD^2, and the `finite_sample_bound`, which is wider and needs no limit.
        Where groups are recorded wrongly, `correction` is how many times further apart the true ones are taken to be,
        and `doubt` the probability, part of that of the bounds, that it is more; else 1 and 0.
    adversaries : list of dict
        One for each adversary and attribute: `attribute`, `adversary`, `n_rows`, `auc` and `balanced_accuracy` or `r2`,
        and `p_value`.
    parity : list of dict
        Where labels were given, one for each attribute: accuracy of a logistic regression of them, and its gaps.
    p_value : float
        Of all measures and scales together (Westfall and Young).
    bandwidth : float
        sigma.
    confidence : float
        Of the bounds.
    n_rows, n_components, n_permutations : int
        Sizes.
    origin : Origin
        Fingerprints, terms and seed: what has to be the same for the same numbers.
    remedies : sequence of str, default=()
        What would help where groups differ too much, as far as that was tried on these rows.
    """

    any_classifier: AnyClassifierBound | None
    measures: list[dict[str, Any]]
    adversaries: list[dict[str, Any]]
    parity: list[dict[str, Any]]
    p_value: float
    bandwidth: float
    confidence: float
    n_rows: int
    n_components: int
    n_permutations: int
    origin: Origin = field(repr=False, compare=False)
    remedies: Sequence[str] = ()

    @property
    def worst(self) -> dict[str, Any]:
        """The measure with the largest upper bound, or the largest excess where nothing can be bounded."""

        def size(measure: dict[str, Any]) -> tuple[float, float]:
            bound = measure["upper_bound"]
            return (-math.inf if math.isnan(bound) else bound, measure["excess"])

        return max(self.measures, key=size)

    @property
    def mmd2(self) -> float:
        """MMD^2 of the worst measure."""
        return float(self.worst["mmd2"])

    @property
    def chance_level(self) -> float:
        """The chance level of the worst measure."""
        return float(self.worst["chance_level"])

    @property
    def excess(self) -> float:
        """By how much the worst measure exceeds it."""
        return float(self.worst["excess"])

    @property
    def upper_bound(self) -> float:
        """U: with the given confidence no measure of the population is larger.

        The largest of several needs no correction: were the largest measure of the population above it, that measure
        would be above its own bound.
        """
        return float(self.worst["upper_bound"])

    @property
    def verdict(self) -> str:
        """Is it fair enough, how sure, for whom, and what next, in words."""
        return str(judge(self))

    def judge(self, limit: float = 0.1) -> Verdict:
        """Say whether gaps between groups are small enough, and how sure that is, as fields that `str` puts in words.

        Parameters
        ----------
        limit : float, default=0.1
            The largest gap that is fair enough: of rates, or of means of smooth scores with values between -1 and 1.
        """
        return judge(self, limit)

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as plain numbers, lists and dicts."""
        summary = {name: getattr(self, name) for name in ("mmd2", "chance_level", "excess", "upper_bound")}
        bound = {"any_classifier": None if self.any_classifier is None else self.any_classifier.to_dict()}
        overlap = {"overlap": None if self.overlap is None else asdict(self.overlap)}
        return {name: value for name, value in asdict(self).items() if name != "origin"} | bound | overlap | summary

    @property
    def overlap(self) -> Overlap | None:
        """How many of the rows were in the fit; None where that could not be checked."""
        return self.origin.overlap

    def certificate(self, name: str | None = None, *, trust_rows: bool = False) -> Certificate:
        """Return what was shown of the model, in a form that can be saved and verified by others.

        It is refused where a side has fewer than 10 rows, and where rows of the fit are among the audited ones.

        Parameters
        ----------
        name : str, default=None
            What the reduction is called; needed where it has no fingerprint, as an embedding.
        trust_rows : bool, default=False
            Where it could not be checked that the rows were not in the fit, take your word for it. The certificate says
            so.
        """
        return Certificate.of(self, name, trust_rows)

    @property
    def figures(self) -> list[Figure]:
        """All numbers that can be required to be small, see `require`."""
        bound, overlap = self.any_classifier, self.overlap
        promise = Figure("promise", "any decision", math.nan if bound is None else bound.upper_bound)
        seen = [] if overlap is None else [Figure("overlap", "these rows and those of the fit", overlap.share)]
        return [
            promise,
            *_figures(OF_MEASURES, self.measures, lambda measure: measure["name"]),
            *_figures(
                OF_ADVERSARIES, self.adversaries, lambda r: f"{r['attribute'] or 'the attribute'} by {r['adversary']}"
            ),
            *_figures(OF_TASK, self.parity, lambda record: record["attribute"]),
            *seen,
        ]

    def require(self, **limits: float) -> None:
        """Raise an error where a figure is above its limit.

        Parameters
        ----------
        **limits : float
            By the names of figures: of measures `mmd2`, `unbiased`, `excess`, `upper_bound`, `finite_sample_bound`; of
            adversaries `auc`, `balanced_accuracy`, `r2`; of a task `demographic_parity`, `equal_opportunity`,
            `equalized_odds`; `promise`, the largest gap of any decision, which is above any limit where no such bound
            was found; `overlap`, the share of the rows that were in the fit. Every one of that name must be at most the
            limit; one that is not known is not.

        Raises
        ------
        fairpca.exceptions.LimitExceededError
            With a line for each figure that is above its limit.
        """
        if found := breaches(self.figures, limits):
            raise LimitExceededError("\n".join(map(str, found)))

    def to_frame(self, what: str = "measures") -> Any:
        """Return a table of pandas.

        Parameters
        ----------
        what : {"measures", "adversaries", "parity"}, default="measures"
            Of what.
        """
        return require("pandas", "frame").DataFrame(getattr(self, what))

    def report(self, file: Any = None, *, title: str | None = None) -> Any:
        """Return a page on the verdict, what it rests on, and the certificate, whatever was audited.

        `FairPCA.report` draws the groups, too.

        Parameters
        ----------
        file : path, default=None
            Where to write the page; by default it is only returned.
        title : str, default=None
            Of the page.

        Returns
        -------
        report : Report
            As of `fairpca.report.make_report`.
        """
        from fairpca.report import report_of_audit

        return report_of_audit(self, file, title)

    def plot(self, ax: Any = None) -> Any:
        """Draw each measure beside its chance level, with its upper bound.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        return AuditDisplay(self.measures).plot(ax=ax)

    def __str__(self) -> str:
        lines = [] if self.any_classifier is None else [str(self.any_classifier), ""]
        lines += [
            f"Audit of {self.n_rows} rows{_on_fit(self.overlap)}: {self.n_components} components, bandwidth "
            f"{self.bandwidth:.4g}.",
            "",
        ]
        for measure in self.measures:
            lines += [*_of_measure(measure, self.confidence), ""]
        if self.adversaries:
            lines += ["Adversaries, trained on half of the rows and scored on the others:"]
            lines += [f"  {_of_adversary(record)}" for record in self.adversaries] + [""]
        for record in self.parity:
            lines += [_of_task(record, self.origin.terms["fairness"]), ""]
        return "\n".join([self.verdict, "", *lines]).rstrip()


def _figures(names: Iterable[str], records: Iterable[dict[str, Any]], called: Any) -> Iterator[Figure]:
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


def _on_fit(overlap: Overlap | None) -> str:
    return " that were not used to fit, as the caller says" if overlap is None else f" ({overlap})"


def _of_measure(measure: dict[str, Any], confidence: float) -> list[str]:
    lines = [
        f"{measure['name']} ({rows_of(measure)} rows): MMD^2 is {measure['mmd2']:.2g}; random groups of "
        f"this size would differ by about {measure['chance_level']:.2g}; excess {measure['excess']:.2g}.",
        f"  p = {brief(measure['p_value'])} at this bandwidth, {brief(measure['p_value_scales'])} over scales from a "
        f"quarter to twice of it, {brief(measure['p_value_adjusted'])} with all measures counted.",
    ]
    percent = f"{100 * confidence:g} %"
    if math.isnan(measure["upper_bound"]):
        lines.append(
            f"  Fewer than 10 rows on a side: nothing can be said of the population with {percent} confidence."
        )
    else:
        always = measure["finite_sample_bound"]
        beside = "" if math.isnan(always) else f" ({always:.2g} by a bound that holds for any number of rows)"
        lines.append(
            f"  With {percent} confidence the MMD^2 of the population is at most {measure['upper_bound']:.2g}{beside}."
        )
    return lines


def _of_adversary(record: dict[str, Any]) -> str:
    names = {"linear": "linear model", "svm": "RBF machine", "neighbours": "nearest neighbours"}
    attribute = f" of {record['attribute']}" if record["attribute"] else ""
    score = (
        f"R^2 {record['r2']:.3f}"
        if "r2" in record
        else f"AUC {record['auc']:.3f}, balanced accuracy {record['balanced_accuracy']:.3f}"
    )
    return (
        f"{names.get(record['adversary'], record['adversary'])}{attribute}: {score}, p = {brief(record['p_value'])} on "
        f"{record['n_rows']} rows"
    )


def _of_task(record: dict[str, Any], notion: Any) -> str:
    attribute = f" by {record['attribute']}" if record["attribute"] else ""
    own = notion if isinstance(notion, str) else "demographic_parity"
    rest = "; ".join(f"{record[name]:.3f} {words}" for name, words in OF_TASK.items() if name != own)
    return (
        f"A logistic regression of the labels is right on {100 * record['accuracy']:.1f} % of the rows; gaps"
        f"{attribute}: {record[own]:.3f} {OF_TASK[own]} (not limited here: {rest})."
    )
