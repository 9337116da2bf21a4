"""Which fields a certificate has, and what may stand in each."""
# SPDX-License-Identifier: MIT

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What may stand in a field.

    Attributes
    ----------
    words : str
        In words.
    fits : callable
        Tells whether a value may.
    """

    words: str
    fits: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    # A whole number too large for a double is no number here.
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63)


def _is_digest(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def whole(least: int, most: int = 2**63 - 1) -> Kind:
    """Return the kind of whole numbers in a range."""
    return Kind(f"a whole number of at least {least}", lambda value: type(value) is int and least <= value <= most)


TEXT = Kind("a text", lambda value: isinstance(value, str))
DIGEST = Kind("a SHA-256 in hexadecimal digits", _is_digest)
DIGEST_OR_NULL = Kind(f"{DIGEST.words} or null", lambda value: value is None or _is_digest(value))
NUMBER = Kind("a finite number", _is_number)
NUMBER_OR_NULL = Kind("a finite number or null", lambda value: value is None or _is_number(value))
POSITIVE = Kind("a number above 0", lambda value: _is_number(value) and value > 0)
PROBABILITY = Kind("a number from 0 to 1", lambda value: _is_number(value) and 0 <= value <= 1)
CONFIDENCE = Kind("a number from 0.5 to less than 1", lambda value: _is_number(value) and 0.5 <= value < 1)
TEXTS = Kind("a table of texts", _is_texts)
LABEL = Kind("a text, a number, true, false or null", lambda v: v is None or isinstance(v, str | bool) or _is_number(v))
TEXT_OR_TEXTS = Kind("a text or a table of texts", lambda value: isinstance(value, str) or _is_texts(value))
ATTRIBUTE_KIND = Kind('"groups" or "continuous"', lambda value: value in ("groups", "continuous"))
TABLE = Kind("a table", lambda value: isinstance(value, dict))
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


def check_fields(where: str, record: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    """Refuse fields that are missing, unknown or of the wrong kind.

    Parameters
    ----------
    where : str
        What the fields are of, in words.
    record : mapping
        The fields.
    kinds : mapping of str to Kind
        What they must be.
    """
    missing, unknown = [name for name in kinds if name not in record], [name for name in record if name not in kinds]
    if missing:
        raise ValueError(f"{where} lacks {', '.join(map(repr, missing))}.")
    if unknown:
        raise ValueError(f"{where} has fields that nobody knows: {', '.join(map(repr, unknown))}.")
    for name, kind in kinds.items():
        if not kind.fits(record[name]):
            raise ValueError(f"{where} has {_short(record[name])} in {name!r}, which must be {kind.words}.")


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


def _short(value: Any) -> str:
    words = repr(value)
    return words if len(words) <= 40 else f"{words[:37]}..."
