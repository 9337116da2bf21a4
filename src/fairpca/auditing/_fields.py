"""The files of certificates: their fields, what may stand in each, and a digest over all of them."""
# SPDX-License-Identifier: MIT

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
from fairpca.versions import environment

FORMAT, PROMISE = "fairpca certificate", "fairpca promise"
"""What was shown of a projection by a kernel, and of a release for every classifier."""

SCHEMA = 2
"""Grows with every change of the fields."""

PACKAGES = ("fairpca", "numpy", "scipy", "scikit-learn")


DIGEST = Kind(
    "a SHA-256 in hexadecimal digits",
    lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None,
)
CONFIDENCE = Kind("a number from 0.5 to less than 1", lambda value: is_number(value) and 0.5 <= value < 1)
SOME_TABLES, COUNTS = list_of("tables", TABLE, least=1), list_of("whole numbers", whole(0))

CERTIFICATE: dict[str, Kind] = {
    "model": or_null(DIGEST),
    "name": or_null(TEXT),
    "n_components": whole(1),
    "terms": TABLE,
    "measures": SOME_TABLES,
    "adversaries": TABLES,
    "any_classifier": or_null(TABLE),
    "p_value": PROBABILITY,
    "overlap": or_null(TABLE),
    "bandwidth": POSITIVE,
    "confidence": CONFIDENCE,
    "n_rows": whole(1),
    "rows": or_null(DIGEST),
    "seed": whole(0, 2**31 - 1),
    "n_permutations": whole(19, 10**7),
    "versions": TEXTS,
    "digest": TEXT,
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

TERMS: dict[str, Kind] = {
    "fairness": TEXT,
    "favourable": LABEL,
    "sensitive": TEXT,
    "sensitive_kind": TEXT_OR_TEXTS,
    "min_group_size": whole(2),
    "small_groups": TEXT,
    "missing": TEXT,
}
ERRORS: dict[str, Kind] = {"attribute_error": TABLE}
"""Stands in terms where groups are recorded wrongly."""

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
    "measures": SOME_TABLES,
    "confidence": CONFIDENCE,
    "slack_kind": TEXT,
    "n_rows": whole(1),
    "rows": or_null(DIGEST),
    "versions": TEXTS,
    "digest": TEXT,
}

ADVERSARY: dict[str, Kind] = {"attribute": TEXT, "adversary": TEXT, "n_rows": whole(1), "p_value": PROBABILITY}
OF_GROUPS: dict[str, Kind] = {"balanced_accuracy": PROBABILITY, "auc": PROBABILITY}
OF_AMOUNTS: dict[str, Kind] = {"r2": NUMBER}
"""What is said of an adversary, and how well it predicts groups or amounts."""

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
    check_fields(f"{where}, terms,", record["terms"], TERMS | (ERRORS if "attribute_error" in record["terms"] else {}))
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
    check_fields(f"{where}, terms,", record["terms"], TERMS | (ERRORS if "attribute_error" in record["terms"] else {}))
    for number, measure in enumerate(record["measures"]):
        check_fields(f"{where}, measure {number},", measure, MEASURE)
    for number, found in enumerate(record["adversaries"]):
        check_fields(f"{where}, adversary {number},", found, ADVERSARY | (OF_AMOUNTS if "r2" in found else OF_GROUPS))
    for name, kinds in (("overlap", OVERLAP), ("any_classifier", ANY_CLASSIFIER)):
        if record[name] is not None:
            check_fields(f"{where}, {name},", record[name], kinds)
    if record["model"] is None and record["name"] is None:
        raise ValueError(f"{where} names no model.")


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
    text = json.dumps({"format": kind, "schema": SCHEMA} | plain_numbers(fields), indent=2, allow_nan=False)
    with writing(Path(path)) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def digest_of(fields: dict[str, Any]) -> str:
    """Return the SHA-256 of all fields but the digest itself; numbers that are none are null, as in the file.

    Parameters
    ----------
    fields : dict
        Plain types.
    """
    others = {name: value for name, value in fields.items() if name != "digest"}
    return hashlib.sha256(json.dumps(plain_numbers(others), sort_keys=True, allow_nan=False).encode()).hexdigest()


def plain_numbers(value: Any) -> Any:
    """Return plain types with null in place of nan, which JSON does not have."""
    if isinstance(value, dict):
        return {name: plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [plain_numbers(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def read(path: str | os.PathLike[str], most_bytes: int = 10 * 2**20) -> tuple[str, dict[str, Any]]:
    """Return what a file is and its fields, those of this schema only.

    Parameters
    ----------
    path : path
        Of the file.
    most_bytes : int, default=10 MB
        Refused beyond; a certificate has a few thousand.
    """
    with Path(path).open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"{path} has more than {most_bytes >> 20} MB: a certificate has a few thousand bytes.")
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


def installed() -> dict[str, str]:
    """Return the versions of the packages that numbers depend on."""
    versions = environment()["versions"]
    return {package: str(versions[package]) for package in PACKAGES}


def check_rows(measure: dict[str, Any]) -> None:
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
    except (TypeError, ValueError) as error:
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
    found = terms | {"favourable": label, "sensitive_kind": plain, "min_group_size": int(terms["min_group_size"])}
    errors = plain_errors(found.pop("attribute_error"))
    return found | ({"attribute_error": errors} if errors else {})
