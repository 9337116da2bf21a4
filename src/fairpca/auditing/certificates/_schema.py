"""Which fields a certificate has, and what may stand in each."""
# SPDX-License-Identifier: MIT

import re
from collections.abc import Mapping
from typing import Any

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
    whole,
)


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


PROMISE: dict[str, Kind] = {
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
    check_fields(where, record, PROMISE)
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
