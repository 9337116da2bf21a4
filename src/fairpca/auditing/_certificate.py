"""Certificates: what an audit has shown of a model, in JSON files of plain numbers and texts."""
# SPDX-License-Identifier: MIT

import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairpca._utils.files import writing
from fairpca._utils.schema import (
    ATTRIBUTE_KIND,
    LABEL,
    NUMBER,
    POSITIVE,
    TABLE,
    TEXT,
    TEXT_OR_TEXTS,
    TEXTS,
    Kind,
    check_fields,
    is_number,
    parse,
    whole,
)
from fairpca.comparison import Terms
from fairpca.inference import LEAST_ROWS
from fairpca.versions import environment

if TYPE_CHECKING:
    from fairpca.auditing._result import AuditResult

FORMAT, PROMISE = "fairpca certificate", "fairpca promise"
"""What was shown of a projection by a kernel, and of a release for every classifier."""


SCHEMA = 1
"""Grows with every change of the fields."""

MOST_BYTES = 10 * 2**20
"""A certificate has a few thousand."""

PACKAGES = ("fairpca", "numpy", "scipy", "scikit-learn")


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


DIGEST = Kind("a SHA-256 in hexadecimal digits", _is_digest)
DIGEST_OR_NULL = Kind(f"{DIGEST.words} or null", lambda value: value is None or _is_digest(value))
NUMBER_OR_NULL = Kind("a finite number or null", lambda value: value is None or is_number(value))
PROBABILITY = Kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
CONFIDENCE = Kind("a number from 0.5 to less than 1", lambda value: is_number(value) and 0.5 <= value < 1)
TABLES = Kind(
    "a list of tables", lambda v: isinstance(v, list) and v != [] and all(isinstance(each, dict) for each in v)
)
COUNTS = Kind(
    "a list of whole numbers", lambda v: isinstance(v, list) and all(type(each) is int and each >= 0 for each in v)
)

CERTIFICATE: dict[str, Kind] = {
    "model": DIGEST,
    "n_components": whole(1),
    "terms": TABLE,
    "measures": TABLES,
    "p_value": PROBABILITY,
    "bandwidth": POSITIVE,
    "confidence": CONFIDENCE,
    "n_rows": whole(1),
    "rows": DIGEST_OR_NULL,
    "seed": whole(0, 2**31 - 1),
    "n_permutations": whole(19, 10**7),
    "versions": TEXTS,
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
    "finite_sample_bound": NUMBER_OR_NULL,
}

TERMS: dict[str, Kind] = {
    "fairness": TEXT,
    "favourable": LABEL,
    "sensitive": TEXT,
    "sensitive_kind": TEXT_OR_TEXTS,
    "min_group_size": whole(2),
    "small_groups": TEXT,
    "missing": TEXT,
}


PROMISE_FIELDS: dict[str, Kind] = {
    "promise": TEXT,
    "chosen": TEXT,
    "release": DIGEST,
    "kind": TEXT,
    "target": PROBABILITY,
    "n_cells": whole(1),
    "n_levels": whole(1),
    "against": TEXT,
    "terms": TABLE,
    "measures": TABLES,
    "confidence": CONFIDENCE,
    "slack_kind": TEXT,
    "n_rows": whole(1),
    "rows": DIGEST_OR_NULL,
    "versions": TEXTS,
}

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


def check_promise(where: str, record: Mapping[str, Any]) -> None:
    """Refuse anything but the fields of what is promised of a release.

    Parameters
    ----------
    where : str
        Where they come from, in words.
    record : mapping
        The fields.
    """
    check_fields(where, record, PROMISE_FIELDS)
    check_fields(f"{where}, terms,", record["terms"], TERMS)
    for number, measure in enumerate(record["measures"]):
        check_fields(f"{where}, measure {number},", measure, PROMISED)


def check_certificate(where: str, record: Mapping[str, Any]) -> None:
    """Refuse anything but the fields of a certificate.

    Parameters
    ----------
    where : str
        Where they come from, in words.
    record : mapping
        The fields.
    """
    check_fields(where, record, CERTIFICATE)
    check_fields(f"{where}, terms,", record["terms"], TERMS)
    for number, measure in enumerate(record["measures"]):
        check_fields(f"{where}, measure {number},", measure, MEASURE)


def write(path: str | os.PathLike[str], fields: dict[str, Any], kind: str = FORMAT) -> None:
    """Write a file in one step.

    Parameters
    ----------
    path : path
        Where to.
    fields : dict
        Plain types.
    kind : str, default="fairpca certificate"
        What it is.
    """
    text = json.dumps({"format": kind, "schema": SCHEMA} | fields, indent=2, allow_nan=False)
    with writing(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def read(path: str | os.PathLike[str]) -> tuple[str, dict[str, Any]]:
    """Return what a file is and its fields, those of this schema only.

    Parameters
    ----------
    path : path
        Of the file.
    """
    with Path(path).open("rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES >> 20} MB: a certificate has a few thousand bytes.")
    try:
        found = parse(content)
    except ValueError as error:
        raise ValueError(f"{path} is no certificate: its text cannot be read as JSON ({error}).") from None
    kind = found.pop("format", None) if isinstance(found, dict) else None
    if kind not in (FORMAT, PROMISE):
        raise ValueError(f"{path} is no certificate: it does not say that its format is {FORMAT!r}.")
    schema = found.pop("schema", None)
    if type(schema) is not int or schema != SCHEMA:
        raise ValueError(f"{path} has the schema {schema!r}; this version of fairpca reads schema {SCHEMA} only.")
    return kind, found


@dataclass(frozen=True)
class Certificate:
    """What was shown of a model on rows that it had not seen, and all that is needed to show it again.

    It holds nothing of any single row. Nobody signs it: what it says is worth as much as `fairpca.verify` finds.

    Attributes
    ----------
    model : str
        SHA-256 of components, means, scales and which of them count.
    n_components : int
        d.
    terms : dict
        How people were compared.
    measures : list of dict
        What was compared, and what was found, as in `AuditResult.measures`: among others the `upper_bound` U.
    p_value : float
        Of all measures and scales together.
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
    """

    model: str
    n_components: int
    terms: dict[str, Any]
    measures: list[dict[str, Any]]
    p_value: float
    bandwidth: float
    confidence: float
    n_rows: int
    rows: str | None
    seed: int
    n_permutations: int
    versions: dict[str, str]

    @classmethod
    def of(cls, audit: "AuditResult") -> "Certificate":
        """Take the findings of an audit, or refuse to.

        Parameters
        ----------
        audit : AuditResult
            The findings.
        """
        origin = audit.origin
        if origin.training_rows:
            raise ValueError(
                "these look like the rows that the model was fitted to, and what they show says nothing of new people: "
                "no certificate. Audit rows that were held out."
            )
        if origin.model is None:
            raise ValueError(
                "a certificate names its model by a fingerprint, which fitted projections of this package, PCA, "
                "IncrementalPCA and arrays of components have; audit one of these."
            )
        for measure in audit.measures:
            _check_rows(measure)
        return cls(
            model=origin.model,
            n_components=audit.n_components,
            terms=plain_terms(origin.terms),
            measures=[
                {name: measure[name] for name in MEASURE} | {"sides": list(measure["sides"])}
                for measure in audit.measures
            ],
            p_value=audit.p_value,
            bandwidth=audit.bandwidth,
            confidence=audit.confidence,
            n_rows=audit.n_rows,
            rows=origin.rows,
            seed=origin.seed,
            n_permutations=audit.n_permutations,
            versions=installed(),
        )

    @property
    def upper_bound(self) -> float:
        """U of the worst measure: with the given confidence no measure of the population is larger."""
        return max(float(measure["upper_bound"]) for measure in self.measures)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write JSON, in one step.

        Parameters
        ----------
        path : path
            Where to.
        """
        fields = asdict(self)
        for measure in fields["measures"]:
            measure.update({name: None for name, value in measure.items() if _is_nan(value)})
        write(path, fields)

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
            _check_rows(measure)
            measure.update({name: math.nan for name, value in measure.items() if value is None})
        return cls(**fields)

    def __str__(self) -> str:
        lines = [
            f"Certificate for the model {self.model[:12]} of {self.n_components} components, from {self.n_rows} rows "
            f"that were not used to fit, as the auditor says. With {100 * self.confidence:g} % confidence the MMD^2 of "
            "people like them is at most:"
        ]
        for measure in self.measures:
            rows = " and ".join(map(str, measure["sides"] or [measure["n_rows"]]))
            lines.append(f"  {measure['name']} ({rows} rows): {measure['upper_bound']:.2g}")
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
    same_model : bool
        Whether it is the model that was certified.
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
    """

    holds: bool
    differences: list[str]
    same_model: bool
    same_rows: bool | None
    upper_bound: float
    mmd2: float | None
    certified: float
    confidence: float
    n_rows: int

    def __str__(self) -> str:
        which = {True: "the audited rows", False: "other rows than the audited", None: "whether audited is not known"}
        rows = f"{self.n_rows} rows ({which[self.same_rows]})"
        if not self.holds:
            return "\n".join([f"NOT confirmed by {rows}:", *(f"  - {sentence}" for sentence in self.differences)])
        what = "a distance between groups" if self.mmd2 is None else "an MMD^2"
        return (
            f"The certificate holds: it is this model, and {rows} show {what} of at most {self.upper_bound:.2g} with "
            f"{100 * self.confidence:g} % confidence, where {self.certified:.2g} was certified."
        )


def installed() -> dict[str, str]:
    """Return the versions of the packages that numbers depend on."""
    versions = environment()["versions"]
    return {package: str(versions[package]) for package in PACKAGES}


def _check_rows(measure: dict[str, Any]) -> None:
    rows = measure["sides"] or [measure["n_rows"]]
    if min(rows) < LEAST_ROWS:
        raise ValueError(
            f"{measure['name']} compares {' and '.join(map(str, rows))} rows, and fewer than {LEAST_ROWS} on a side "
            "say nothing of the population: no certificate. Audit more rows, or leave out or merge small groups "
            "(small_groups=)."
        )


def check_terms(where: str, terms: dict[str, Any]) -> None:
    """Refuse comparisons that this version does not know.

    Parameters
    ----------
    where : str
        The file.
    terms : dict
        How people are compared.
    """
    try:
        Terms.named(**terms)
    except ValueError as error:
        raise ValueError(f"{where} asks for a comparison that is unknown here: {error}") from None


def plain_terms(terms: dict[str, Any]) -> dict[str, Any]:
    """Return how people are compared in plain types, or refuse what has no name.

    Parameters
    ----------
    terms : dict
        How they are compared.
    """
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
    return terms | {"favourable": label, "sensitive_kind": plain, "min_group_size": int(terms["min_group_size"])}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
