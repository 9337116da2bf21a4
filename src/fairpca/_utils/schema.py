"""Records in files: strict JSON, which fields there are, and what may stand in each."""
# SPDX-License-Identifier: MIT

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def parse(content: bytes) -> Any:
    """Return what a text in UTF-8 says; anything but strict JSON is a ValueError.

    Parameters
    ----------
    content : bytes
        The text.
    """
    try:
        return json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refuse, parse_float=_finite)
    except UnicodeDecodeError:
        raise ValueError("it is no text") from None
    except RecursionError:
        raise ValueError("lists in lists in lists, too deep to be read") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def plain_data(value: Any) -> Any:
    """Return nested dicts and sequences as strict JSON has them; numbers that it does not have become None.

    Parameters
    ----------
    value : Any
        Plain types; arrays and scalars of numpy are taken for their values.
    """
    if isinstance(value, dict):
        return {str(name): plain_data(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_data(each) for each in value]
    if hasattr(value, "tolist"):
        return plain_data(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


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


def is_number(value: Any) -> bool:
    """Tell whether a value is a finite number that a double can hold."""
    return (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < 2**63)


def is_texts(value: Any) -> bool:
    """Tell whether a value is a table of texts."""
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def whole(least: int, most: int = 2**63 - 1) -> Kind:
    """Return the kind of whole numbers in a range."""
    return Kind(f"a whole number of at least {least}", lambda value: type(value) is int and least <= value <= most)


def or_null(kind: Kind) -> Kind:
    """Return a kind beside which null may stand."""
    return Kind(f"{kind.words} or null", lambda value: value is None or kind.fits(value))


def list_of(words: str, kind: Kind, least: int = 0) -> Kind:
    """Return the kind of lists of so many values of a kind, or more."""
    return Kind(
        f"a list of {words}",
        lambda value: isinstance(value, list) and len(value) >= least and all(map(kind.fits, value)),
    )


TEXT = Kind("a text", lambda value: isinstance(value, str))
FLAG = Kind("true or false", lambda value: isinstance(value, bool))
NUMBER = Kind("a finite number", is_number)
POSITIVE = Kind("a number above 0", lambda value: is_number(value) and value > 0)
TEXTS = Kind("a table of texts", is_texts)
LABEL = Kind("a text, a number, true, false or null", lambda v: v is None or isinstance(v, str | bool) or is_number(v))
TEXT_OR_TEXTS = Kind("a text or a table of texts", lambda value: isinstance(value, str) or is_texts(value))
ATTRIBUTE_KIND = Kind('"groups" or "continuous"', lambda value: value in ("groups", "continuous"))
TABLE = Kind("a table", lambda value: isinstance(value, dict))
PROBABILITY = Kind("a number from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)
NAMES, TABLES = list_of("texts", TEXT), list_of("tables", TABLE)


def check_fields(
    where: str, record: Mapping[str, Any], kinds: Mapping[str, Kind], optional: Mapping[str, Kind] | None = None
) -> None:
    """Refuse fields that are missing, unknown or of the wrong kind.

    Parameters
    ----------
    where : str
        What the fields are of, in words.
    record : mapping
        The fields.
    kinds : mapping of str to Kind
        What they must be.
    optional : mapping of str to Kind, default=None
        Fields that may be there, too.
    """
    kinds = {**kinds, **{name: kind for name, kind in (optional or {}).items() if name in record}}
    missing, unknown = [name for name in kinds if name not in record], [name for name in record if name not in kinds]
    if missing:
        raise ValueError(f"{where} lacks {', '.join(map(repr, missing))}.")
    if unknown:
        raise ValueError(f"{where} has fields that nobody knows: {', '.join(map(repr, unknown))}.")
    for name, kind in kinds.items():
        if not kind.fits(record[name]):
            raise ValueError(f"{where} has {short(record[name])} in {name!r}, which must be {kind.words}.")


def short(value: Any) -> str:
    """Return what a value looks like, in a few letters."""
    words = " ".join(repr(value).split())
    return words if len(words) <= 40 else f"{words[:37]}..."
