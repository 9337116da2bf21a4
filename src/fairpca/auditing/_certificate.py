"""Certificates: what an audit has shown of a model, in JSON files of plain numbers and texts."""
# SPDX-License-Identifier: MIT

import math
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from fairpca.auditing._fields import (
    ADVERSARY,
    ANY_CLASSIFIER,
    MEASURE,
    OF_AMOUNTS,
    OF_GROUPS,
    OVERLAP,
    check_certificate,
    check_rows,
    check_terms,
    digest_of,
    installed,
    plain_terms,
    write,
)

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult

UNCHECKED = (
    "it could not be checked whether these rows were in the fit: {} does not know its rows. Pass fitted_rows=, "
    "the rows of the fit or the file that lies beside the model, or trust_rows=True if you know that they were not"
)


@dataclass(frozen=True)
class Certificate:
    """What was shown of a model on rows that it had not seen, and all that is needed to show it again.

    It holds nothing of any single row. Nobody signs it: what it says is worth as much as `fairpca.verify` finds. Its
    digest tells that somebody has edited the file, not that somebody has written another.

    Attributes
    ----------
    model : str or None
        SHA-256 of components, means, scales and which of them count, or of whatever the reduction has learned; None of
        what is known by its name only.
    name : str or None
        What the auditor calls it.
    n_components : int
        d.
    terms : dict
        How people were compared.
    measures : list of dict
        What was compared, and what was found, as in `AuditResult.measures`: among others the `upper_bound` U.
    adversaries : list of dict
        What models that try to predict attributes have found, as in `AuditResult.adversaries`.
    any_classifier : dict or None
        The `upper_bound` on the gap of any decision and the `balanced_accuracy` of any classifier, where there is one.
    p_value : float
        Of all measures and scales together.
    overlap : dict or None
        How many of the rows equal one of the fit (`found`), how many would `by_chance`, and the `share` that was in the
        fit; None where the auditor was trusted.
    bandwidth : float
        sigma.
    confidence : float
        Of the bounds.
    n_rows : int
        Rows of the audit.
    rows : str or None
        SHA-256 of these rows, where they were a table of numbers in memory.
    seed, n_permutations : int
        With which permutations and frequencies were drawn.
    versions : dict of str to str
        Of the packages.
    digest : str
        SHA-256 of all of this.
    """

    model: str | None
    name: str | None
    n_components: int
    terms: dict[str, Any]
    measures: list[dict[str, Any]]
    adversaries: list[dict[str, Any]]
    any_classifier: dict[str, Any] | None
    p_value: float
    overlap: dict[str, Any] | None
    bandwidth: float
    confidence: float
    n_rows: int
    rows: str | None
    seed: int
    n_permutations: int
    versions: dict[str, str]
    digest: str = ""

    @classmethod
    def of(cls, audit: "AuditResult", name: str | None = None, trust_rows: bool = False) -> "Certificate":
        """Take the findings of an audit, or refuse to.

        Parameters
        ----------
        audit : AuditResult
            The findings.
        name : str, default=None
            What the reduction is called.
        trust_rows : bool, default=False
            Whether rows are taken for new ones where that cannot be checked.
        """
        origin = audit.origin
        if origin.model is None and not name:
            raise ValueError(
                "a certificate names its model by a fingerprint, which arrays of components and fitted estimators that "
                "have learned numbers and texts have; name= certifies anything else, such as an embedding, by its name."
            )
        check_overlap(origin.overlap, trust_rows, "the reduction")
        for measure in audit.measures:
            check_rows(measure)
        bound, overlap = audit.any_classifier, origin.overlap
        found = cls(
            model=origin.model,
            name=name,
            n_components=audit.n_components,
            terms=plain_terms(origin.terms),
            measures=[_chosen(measure, MEASURE) | {"sides": list(measure["sides"])} for measure in audit.measures],
            adversaries=[
                _chosen(each, ADVERSARY | (OF_AMOUNTS if "r2" in each else OF_GROUPS)) for each in audit.adversaries
            ],
            any_classifier=None if bound is None else {each: float(getattr(bound, each)) for each in ANY_CLASSIFIER},
            p_value=audit.p_value,
            overlap=None if overlap is None else {each: getattr(overlap, each) for each in OVERLAP},
            bandwidth=audit.bandwidth,
            confidence=audit.confidence,
            n_rows=audit.n_rows,
            rows=origin.rows,
            seed=origin.seed,
            n_permutations=audit.n_permutations,
            versions=installed(),
        )
        return replace(found, digest=digest_of(asdict(found)))

    @property
    def upper_bound(self) -> float:
        """U of the worst measure: with the given confidence no measure of the population is larger."""
        return max(float(measure["upper_bound"]) for measure in self.measures)

    @property
    def is_edited(self) -> bool:
        """Whether it says something else than when its digest was made."""
        return self.digest != digest_of(asdict(self))

    @property
    def failed(self) -> str:
        """That and how groups could be told apart in the audit, or nothing."""
        return told_apart(self.p_value, self.adversaries, self.confidence)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, in one step.

        Parameters
        ----------
        path : path
            Where to.
        """
        write(path, asdict(self))

    @classmethod
    def from_fields(cls, where: str, fields: dict[str, Any]) -> "Certificate":
        """Take the fields of a file, and refuse any others.

        Parameters
        ----------
        where : str
            The file.
        fields : dict
            What it says.
        """
        check_certificate(where, fields)
        check_terms(where, fields["terms"])
        for measure in fields["measures"]:
            check_rows(measure)
            measure.update({name: math.nan for name, value in measure.items() if value is None})
        return cls(**fields)

    def __str__(self) -> str:
        called = f"{self.name!r}" if self.model is None else f"the model {self.model[:12]}"
        trusted = " as the auditor says" if self.overlap is None else _words_on_overlap(self.overlap)
        lines = [
            f"Certificate for {called} of {self.n_components} components, from {self.n_rows} rows that were not used "
            f"to fit,{trusted}. With {100 * self.confidence:g} % confidence the MMD^2 of people like them is at most:"
        ]
        for measure in self.measures:
            rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
            lines.append(f"  {measure['name']} ({rows} rows): {measure['upper_bound']:.2g}")
        if self.any_classifier is not None:
            lines.append(
                f"No decision made from it alone has a gap above {self.any_classifier['upper_bound']:.3g}, and no "
                f"classifier a balanced accuracy above {self.any_classifier['balanced_accuracy']:.3g}."
            )
        if "attribute_error" in self.terms:
            lines.append("It speaks of the true groups: the recorded are wrong at the rates in its terms.")
        lines += [self.failed] if self.failed else []
        lines.append(f"Bandwidth {self.bandwidth:.4g}. Check it with fairpca.verify, on these rows or on others.")
        return "\n".join(lines)


@dataclass(frozen=True)
class Verification:
    """What rows say of a certificate.

    Attributes
    ----------
    holds : bool
        Whether these rows, with this model, show what was certified.
    differences : list of str
        Why not: a sentence for each reason.
    same_model : bool or None
        Whether it is the model that was certified; None of what is known by its name only.
    same_rows : bool or None
        Whether they are the rows that were audited, in their order; None where that is unknown.
    upper_bound : float
        U of the worst measure, from these rows; of the audited rows of a release, which chose its level, the target.
    mmd2 : float or None
        MMD^2 of the same measure; None of a release.
    certified : float
        The U of the certificate, or the target of a release.
    confidence : float
        Of both.
    n_rows : int
        Rows that were looked at.
    overlap : Overlap or None
        How many of them were in the fit; None where that could not be checked.
    failed : str
        That and how groups can be told apart, by the certificate or on these rows; empty where they cannot.
    audit : AuditResult or None
        The audit of these rows; None of a release.
    """

    holds: bool
    differences: list[str]
    same_model: bool | None
    same_rows: bool | None
    upper_bound: float
    mmd2: float | None
    certified: float
    confidence: float
    n_rows: int
    overlap: Any = None
    failed: str = ""
    audit: "AuditResult | None" = None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain types, without the audit."""
        return asdict(replace(self, audit=None)) | {"audit": None if self.audit is None else self.audit.to_dict()}

    def __str__(self) -> str:
        which = {True: "the audited rows", False: "other rows than the audited", None: "whether audited is not known"}
        rows = f"{self.n_rows} rows ({which[self.same_rows]})"
        if not self.holds:
            reasons = [*self.differences, *([self.failed] if self.failed else [])]
            return "\n".join([f"NOT confirmed by {rows}:", *(f"  - {sentence}" for sentence in reasons)])
        what = "a distance between groups" if self.mmd2 is None else "an MMD^2"
        whose = "it is of this name, as the caller says" if self.same_model is None else "it is this model"
        trusted = "" if self.overlap is not None else " That they were not in the fit is what the caller says."
        failed = f" But {self.failed[0].lower()}{self.failed[1:]}" if self.failed else ""
        return (
            f"The certificate holds: {whose}, and {rows} show {what} of at most {self.upper_bound:.2g} with "
            f"{100 * self.confidence:g} % confidence, where {self.certified:.2g} was certified.{trusted}{failed}"
        )


def told_apart(p_value: float, adversaries: Iterable[dict[str, Any]], confidence: float) -> str:
    """Return a sentence that says how groups can be told apart, or nothing where no test has found it.

    Parameters
    ----------
    p_value : float
        Of all measures and scales together.
    adversaries : iterable of dict
        As in `AuditResult.adversaries`.
    confidence : float
        1 minus the level of the tests.
    """
    tried = list(adversaries)
    found = [f"they differ by more than random groups (p = {p_value:.2g})"] if p_value < 1.0 - confidence else []
    for record in tried:
        if record["p_value"] * len(tried) < 1.0 - confidence:
            score = f"R^2 {record['r2']:.2f}" if "r2" in record else f"AUC {record['auc']:.2f}"
            found.append(f"{record['adversary']} predicts {record['attribute'] or 'the attribute'} ({score})")
    return f"The audit failed, for groups can be told apart: {'; '.join(found)}." if found else ""


def check_overlap(overlap: Any, trust_rows: bool, who: str) -> None:
    """Refuse rows of the fit, and rows of which it is not known and not said that they are none.

    Parameters
    ----------
    overlap : Overlap or None
        How many were in the fit.
    trust_rows : bool
        Whether the caller is trusted where that is not known.
    who : str
        The reduction, in words.
    """
    if overlap is not None and overlap.too_many:
        raise ValueError(f"{overlap}, and what they show says nothing of new people: no certificate.")
    if not trust_rows and (overlap is None or not overlap.is_known):
        raise ValueError(f"{why_unchecked(overlap, who)}; no certificate.")


def why_unchecked(overlap: Any, who: str) -> str:
    """Return why it is not known whether rows were in the fit, and the way out.

    Parameters
    ----------
    overlap, who
        See `check_overlap`.
    """
    return UNCHECKED.format(who) if overlap is None else f"{overlap}; trust_rows=True says that none were"


def _words_on_overlap(overlap: dict[str, Any]) -> str:
    if not overlap["found"]:
        return " none of which equals one of the fit"
    return f" of which {overlap['found']} equal one of the fit, as {overlap['by_chance']:.0f} would by chance"


def _chosen(record: dict[str, Any], kinds: dict[str, Any]) -> dict[str, Any]:
    return {name: record[name] for name in kinds}
