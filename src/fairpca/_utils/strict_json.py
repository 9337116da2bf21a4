"""JSON from strangers: each field once, finite numbers, no depth that ends a program."""
# SPDX-License-Identifier: MIT

import json
import math
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
