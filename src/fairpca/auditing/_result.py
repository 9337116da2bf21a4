"""The findings of an audit."""
# SPDX-License-Identifier: MIT

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from fairpca._utils.extras import require
from fairpca.auditing._settings import Origin
from fairpca.auditing._words import text_of, verdict
from fairpca.auditing.certificates import Certificate
from fairpca.plots import AuditDisplay
from fairpca.release import AnyClassifierBound


@dataclass(frozen=True)
class AuditResult:
    """What a projection of new people tells of their attributes.

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
        """What chance shows of the worst measure."""
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
        """What follows from all findings, in a sentence."""
        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as plain numbers, lists and dicts."""
        summary = {name: getattr(self, name) for name in ("mmd2", "chance_level", "excess", "upper_bound")}
        bound = {"any_classifier": None if self.any_classifier is None else self.any_classifier.to_dict()}
        return {name: value for name, value in asdict(self).items() if name != "origin"} | bound | summary

    def certificate(self) -> Certificate:
        """Return what was shown of the model, in a form that can be saved and verified by others.

        It is refused where a side has fewer than 10 rows, where the rows look like those of the fit, and for
        reductions that have no fingerprint.
        """
        return Certificate.of(self)

    def to_frame(self, what: str = "measures") -> Any:
        """Return a table of pandas.

        Parameters
        ----------
        what : {"measures", "adversaries", "parity"}, default="measures"
            Of what.
        """
        return require("pandas", "frame").DataFrame(getattr(self, what))

    def plot(self, ax: Any = None) -> Any:
        """Draw each measure beside what chance shows, with its upper bound.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; new axes by default.
        """
        return AuditDisplay(self.measures).plot(ax=ax)

    def __str__(self) -> str:
        return text_of(self)
