"""Certificates: what was shown of a model, or is promised of a release, in JSON files of plain numbers and texts."""
# SPDX-License-Identifier: MIT

import hashlib
import json
import math
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fairpca._utils.files import writing
from fairpca._utils.schema import (
    ATTRIBUTE_KIND,
    LABEL,
    NUMBER,
    POSITIVE,
    PROBABILITY,
    TABLE,
    TABLES,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    Kind,
    check_fields,
    is_number,
    list_of,
    or_null,
    parse,
    whole,
)
from fairpca.comparison import Terms, plain_errors
from fairpca.inference import LEAST_ROWS
from fairpca.release import AnyClassifierBound
from fairpca.rows import Overlap
from fairpca.versions import environment

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult

SCHEMA = 2
"""Grows with every change of the fields."""

MOST_BYTES = 10 * 2**20
"""A file beyond is refused; a certificate has a few thousand."""

DIGEST = Kind(
    "a SHA-256 in hexadecimal digits",
    lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
)
CONFIDENCE = Kind("a number from 0.5 to less than 1", lambda value: is_number(value) and 0.5 <= value < 1)
SOME_TABLES, COUNTS = list_of("tables", TABLE, least=1), list_of("whole numbers", whole(0))

TERMS: dict[str, Kind] = {
    "fairness": TEXT,
    "favourable": LABEL,
    "sensitive": TEXT,
    "sensitive_kind": TEXT_OR_TEXTS,
    "min_group_size": whole(2),
    "small_groups": TEXT,
    "missing": TEXT,
}

MEASURE: dict[str, Kind] = {
    "name": TEXT,
    "attribute": TEXT,
    "among": TEXT,
    "kind": ATTRIBUTE_KIND,
    "n_rows": whole(1),
    "sides": COUNTS,
    "weight": POSITIVE,
    "mmd2": NUMBER,
    "mmd2_error": NUMBER,
    "chance_level": NUMBER,
    "unbiased": NUMBER,
    "p_value": PROBABILITY,
    "p_value_scales": PROBABILITY,
    "upper_bound": NUMBER,
    "finite_sample_bound": or_null(NUMBER),
}

ADVERSARY: dict[str, Kind] = {"attribute": TEXT, "adversary": TEXT, "n_rows": whole(1), "p_value": PROBABILITY}
OVERLAP: dict[str, Kind] = {"found": whole(0), "by_chance": NUMBER, "share": or_null(NUMBER)}
ANY_CLASSIFIER: dict[str, Kind] = {"upper_bound": PROBABILITY, "balanced_accuracy": PROBABILITY}

PROMISED: dict[str, Kind] = {
    "name": TEXT,
    "attribute": TEXT,
    "among": TEXT,
    "n_rows": whole(1),
    "sides": COUNTS,
    "distance": PROBABILITY,
    "slack": POSITIVE,
    "upper_bound": PROBABILITY,
    "accuracy": PROBABILITY,
}

CHOSEN = (
    "The level is the finest of those that were passed: from the coarsest to finer ones, as long as the bound was at "
    "most the target, which was fixed before. The rows were used neither to fit nor to choose anything else."
)


def only(kind: Kind) -> dict[str, Kind]:
    """Return what a field of a certificate has to know: in its place in a file only values of a kind may stand."""
    return {"kind": kind}


class CertificateFile:
    """A certificate as a file of its fields, with a digest of all of them."""

    _format: ClassVar[str]
    _measure: ClassVar[dict[str, Kind]]
    _in_words: ClassVar[tuple[str, ...]] = ()
    terms: dict[str, Any]
    measures: list[dict[str, Any]]
    digest: str

    def with_digest(self) -> Self:
        """Return it with the digest of what it says now."""
        return type(self)(**(vars(self) | {"digest": self._digest()}))

    @property
    def is_edited(self) -> bool:
        """Whether it says something else than when its digest was made."""
        return self.digest != self._digest()

    def _digest(self) -> str:
        said = {name: value for name, value in vars(self).items() if name != "digest"}
        return hashlib.sha256(json.dumps(plain_numbers(said), sort_keys=True, allow_nan=False).encode()).hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, in one step.

        Parameters
        ----------
        path : path
            Where to.
        """
        content = {"format": self._format, "schema": SCHEMA} | self._words() | plain_numbers(vars(self))
        with writing(Path(path)) as temporary:
            temporary.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")

    @classmethod
    def from_fields(cls, where: str, found: dict[str, Any]) -> Self:
        """Take the fields of a file, and refuse any others.

        Parameters
        ----------
        where : str
            The file.
        found : dict
            What it says.
        """
        kinds = {each.name: each.metadata["kind"] for each in fields(cls)}  # type: ignore[arg-type]
        check_fields(where, found, dict.fromkeys(cls._in_words, TEXT) | kinds)
        check_terms(where, found["terms"])
        for number, measure in enumerate(found["measures"]):
            check_fields(f"{where}, measure {number},", measure, cls._measure)
        words = {name: found.pop(name) for name in cls._in_words}
        certificate = cls(**found)
        if words != certificate._words():
            raise ValueError(f"{where} was edited: it says in words what its numbers do not say.")
        return certificate

    def _words(self) -> dict[str, str]:
        """Return what stands in the file beside the fields, for those who read it."""
        return {}


@dataclass(frozen=True)
class Certificate(CertificateFile):
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

    _format = "fairpca certificate"
    _measure = MEASURE

    model: str | None = field(metadata=only(or_null(DIGEST)))
    name: str | None = field(metadata=only(or_null(TEXT)))
    n_components: int = field(metadata=only(whole(1)))
    terms: dict[str, Any] = field(metadata=only(TABLE))
    measures: list[dict[str, Any]] = field(metadata=only(SOME_TABLES))
    adversaries: list[dict[str, Any]] = field(metadata=only(TABLES))
    any_classifier: dict[str, Any] | None = field(metadata=only(or_null(TABLE)))
    p_value: float = field(metadata=only(PROBABILITY))
    overlap: dict[str, Any] | None = field(metadata=only(or_null(TABLE)))
    bandwidth: float = field(metadata=only(POSITIVE))
    confidence: float = field(metadata=only(CONFIDENCE))
    n_rows: int = field(metadata=only(whole(1)))
    rows: str | None = field(metadata=only(or_null(DIGEST)))
    seed: int = field(metadata=only(whole(0, 2**31 - 1)))
    n_permutations: int = field(metadata=only(whole(19, 10**7)))
    versions: dict[str, str] = field(metadata=only(TEXTS))
    digest: str = field(default="", metadata=only(TEXT))

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
        if why := why_not_new(origin.overlap, trust_rows, "the reduction"):
            raise ValueError(f"{why}{':' if origin.training_rows else ';'} no certificate.")
        for measure in audit.measures:
            check_rows(measure)
        bound, overlap = audit.any_classifier, origin.overlap
        return cls(
            model=origin.model,
            name=name,
            n_components=audit.n_components,
            terms=plain_terms(origin.terms),
            measures=[_chosen(measure, MEASURE) | {"sides": list(measure["sides"])} for measure in audit.measures],
            adversaries=[_chosen(each, kinds_of_adversary(each)) for each in audit.adversaries],
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
        ).with_digest()

    @property
    def upper_bound(self) -> float:
        """U of the worst measure: with the given confidence no measure of the population is larger."""
        return max(float(measure["upper_bound"]) for measure in self.measures)

    @property
    def failed(self) -> str:
        """That and how groups could be told apart in the audit, or nothing."""
        return told_apart(self.p_value, self.adversaries, self.confidence)

    @classmethod
    def from_fields(cls, where: str, found: dict[str, Any]) -> Self:
        """Take the fields of a file, and refuse any others.

        Parameters
        ----------
        where : str
            The file.
        found : dict
            What it says.
        """
        certificate = super().from_fields(where, found)
        for number, each in enumerate(certificate.adversaries):
            check_fields(f"{where}, adversary {number},", each, kinds_of_adversary(each))
        for name, kinds in (("overlap", OVERLAP), ("any_classifier", ANY_CLASSIFIER)):
            if found[name] is not None:
                check_fields(f"{where}, {name},", found[name], kinds)
        if certificate.model is None and certificate.name is None:
            raise ValueError(f"{where} names no model.")
        for measure in certificate.measures:
            check_rows(measure)
            measure.update({name: math.nan for name, value in measure.items() if value is None})
        return certificate

    def __str__(self) -> str:
        called = repr(self.name) if self.model is None else f"the model {self.model[:12]}"
        trusted = " as the auditor says" if self.overlap is None else _words_on_overlap(self.overlap)
        lines = [
            f"Certificate for {called} of {self.n_components} components, from {self.n_rows} rows that were not used "
            f"to fit,{trusted}. With {100 * self.confidence:g} % confidence the MMD^2 of people like them is at most:"
        ]
        lines += [f"  {each['name']} ({rows_of(each)} rows): {each['upper_bound']:.2g}" for each in self.measures]
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
class PromiseCertificate(CertificateFile):
    """What is promised of a release, and all that is needed to show it again.

    It holds nothing of any single row. Nobody signs it: what it says is worth as much as `fairpca.verify` finds.

    Attributes
    ----------
    release : str
        SHA-256 of all that released data depend on: of the reduction, the places, and how they are merged.
    kind : str
        Of the release: "cells" or "task".
    target : float
        The total variation distance between groups that is not exceeded.
    n_cells, n_levels : int
        Cells that are told apart, and levels that were looked at until they were found.
    against : str
        Of more than two groups, who is compared with whom.
    terms : dict
        How people were compared.
    measures : list of dict
        What was compared, see `AnyClassifierBound.measures`.
    confidence : float
        Of the promise.
    slack_kind : str
        For which kind of weights it holds.
    n_rows : int
        Rows that it was shown on.
    rows : str or None
        SHA-256 of these rows, where they were a table of numbers in memory.
    versions : dict of str to str
        Of the packages.
    digest : str
        SHA-256 of all of this.
    """

    _format = "fairpca promise"
    _measure = PROMISED
    _in_words = ("promise", "chosen")

    release: str = field(metadata=only(DIGEST))
    kind: str = field(metadata=only(TEXT))
    target: float = field(metadata=only(PROBABILITY))
    n_cells: int = field(metadata=only(whole(1)))
    n_levels: int = field(metadata=only(whole(1)))
    against: str = field(metadata=only(TEXT))
    terms: dict[str, Any] = field(metadata=only(TABLE))
    measures: list[dict[str, Any]] = field(metadata=only(SOME_TABLES))
    confidence: float = field(metadata=only(CONFIDENCE))
    slack_kind: str = field(metadata=only(TEXT))
    n_rows: int = field(metadata=only(whole(1)))
    rows: str | None = field(metadata=only(or_null(DIGEST)))
    versions: dict[str, str] = field(metadata=only(TEXTS))
    digest: str = field(default="", metadata=only(TEXT))

    @property
    def bound(self) -> AnyClassifierBound:
        """What follows: no decision has a larger gap, and no classifier tells groups better."""
        return AnyClassifierBound(
            upper_bound=self.target,
            confidence=self.confidence,
            measures=self.measures,
            slack_kind=self.slack_kind,
            notion=self.terms["fairness"],
            n_rows=self.n_rows,
            n_levels=self.n_levels,
        )

    def _words(self) -> dict[str, str]:
        return {"promise": str(self), "chosen": CHOSEN}

    def __str__(self) -> str:
        return str(self.bound)


def load_certificate(path: str | os.PathLike[str]) -> Certificate | PromiseCertificate:
    """Read a certificate; nothing in the file is run.

    Parameters
    ----------
    path : path
        A file that `save` of a certificate, or `fairpca fit`, has written.

    Returns
    -------
    certificate : Certificate or PromiseCertificate
        What it says of a projection, or of a release. `fairpca.verify` tells whether it holds.
    """
    with Path(path).open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES >> 20} MB: a certificate has a few thousand bytes.")
    try:
        found = parse(content)
    except ValueError as error:
        raise ValueError(f"{path} is no certificate: its text cannot be read as JSON ({error}).") from None
    kinds: dict[Any, type[Certificate | PromiseCertificate]]
    kinds = {each._format: each for each in (Certificate, PromiseCertificate)}
    kind = kinds.get(found.pop("format", None)) if isinstance(found, dict) else None
    if kind is None:
        raise ValueError(f"{path} is no certificate: it does not say that its format is {Certificate._format!r}.")
    schema = found.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"{path} has the schema {schema!r}; this version of fairpca reads schema {SCHEMA} only.")
    return kind.from_fields(str(path), found)


def plain_numbers(value: Any) -> Any:
    """Return plain types with null in place of nan, which JSON does not have."""
    if isinstance(value, dict):
        return {name: plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_numbers(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def installed() -> dict[str, str]:
    """Return the versions of the packages that numbers depend on."""
    versions = environment()["versions"]
    return {package: str(versions[package]) for package in ("fairpca", "numpy", "scipy", "scikit-learn")}


def rows_of(measure: dict[str, Any]) -> str:
    """Return the numbers of rows on each side of a measure, or of all where there are no sides, in words."""
    return " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))


def check_rows(measure: dict[str, Any]) -> None:
    """Refuse a measure of which so few rows say nothing."""
    if min(measure["sides"] or [measure["n_rows"]]) < LEAST_ROWS:
        raise ValueError(
            f"{measure['name']} compares {rows_of(measure)} rows, and fewer than {LEAST_ROWS} on a side say nothing of "
            "the population: no certificate. Audit more rows, or leave out or merge small groups (small_groups=)."
        )


def check_terms(where: str, terms: dict[str, Any]) -> None:
    """Refuse comparisons that this version does not know."""
    # That groups are recorded wrongly is said only where they are.
    kinds = {"attribute_error": TABLE} if "attribute_error" in terms else {}
    check_fields(f"{where}, terms,", terms, TERMS | kinds)
    try:
        Terms.named(**terms)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} asks for a comparison that is unknown here: {error}") from None


def plain_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """Return how people are compared in plain types, or refuse what has no name."""
    if not isinstance(terms["fairness"], str):
        raise ValueError(
            f"fairness={terms['fairness']!r} cannot travel, for whoever verifies the certificate does not have it; "
            "only notions that have a name can."
        )
    label, kinds = terms["favourable"], terms["sensitive_kind"]
    label = label.item() if hasattr(label, "item") else label
    if not (label is None or isinstance(label, str | bool | int | float)):
        raise ValueError(f"favourable={label!r} cannot be written as plain text; labels that are texts or numbers can.")
    plain = kinds if isinstance(kinds, str) else {str(name): kind for name, kind in kinds.items()}
    found = terms | {"favourable": label, "sensitive_kind": plain, "min_group_size": int(terms["min_group_size"])}
    errors = plain_errors(found.pop("attribute_error"))
    return found | ({"attribute_error": errors} if errors else {})


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


def why_not_new(overlap: Overlap | None, trust_rows: bool, who: str) -> str:
    """Return why rows do not count as new people, and the way out; nothing where they do.

    Parameters
    ----------
    overlap : Overlap or None
        How many were in the fit; None where that could not be checked.
    trust_rows : bool
        Whether the caller is trusted where that is not known.
    who : str
        The reduction, in words.
    """
    if overlap is not None and overlap.too_many:
        return f"{overlap}, and what they show says nothing of new people"
    if trust_rows or (overlap is not None and overlap.is_known):
        return ""
    if overlap is not None:
        return f"{overlap}; trust_rows=True says that none were"
    return (
        f"it could not be checked whether these rows were in the fit: {who} does not know its rows. Pass fitted_rows=, "
        "the rows of the fit or the file that lies beside the model, or trust_rows=True if you know that they were not"
    )


def kinds_of_adversary(record: dict[str, Any]) -> dict[str, Kind]:
    """Return what is said of an adversary, with how well it predicts amounts or groups."""
    scores = {"r2": NUMBER} if "r2" in record else {"balanced_accuracy": PROBABILITY, "auc": PROBABILITY}
    return ADVERSARY | scores


def _words_on_overlap(overlap: dict[str, Any]) -> str:
    if not overlap["found"]:
        return " none of which equals one of the fit"
    return f" of which {overlap['found']} equal one of the fit, as {overlap['by_chance']:.0f} would by chance"


def _chosen(record: dict[str, Any], kinds: dict[str, Kind]) -> dict[str, Any]:
    return {name: record[name] for name in kinds}
