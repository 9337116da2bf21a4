"""Names and numbers as a page shows them: in one line, of bounded length, in plain digits."""
# SPDX-License-Identifier: MIT

import math
import re
from typing import Any

MOST_CHARACTERS = 200
"""Of any name that a report holds."""

SHORT = 60
"""Characters of a name in a table."""

IN_A_SENTENCE = 40
"""Characters of a name in a sentence."""

UNKNOWN = "not known"

# What no file can hold, no browser shows, or what would turn the text around it.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"


def plain(value: Any, most: int = MOST_CHARACTERS) -> str:
    r"""Return a text in one line that can be shown anywhere, cut where it is long.

    Examples
    --------
    >>> plain("two\nlines"), plain("long name", most=5), plain("\x00")
    ('two lines', 'long…', '�')
    """
    text = _INVISIBLE.sub("\N{REPLACEMENT CHARACTER}", " ".join(str(value)[: 20 * MOST_CHARACTERS].split()))
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def comparison_name(name: str) -> str:
    """Return what is compared with what, both sides visible however long they are.

    Examples
    --------
    >>> comparison_name("f" * 500 + " against m")[-12:]
    'f… against m'
    """
    sides = name.split(" against ")
    if len(sides) != 2:
        return plain(name)
    return " against ".join(plain(side, MOST_CHARACTERS // 2 - 5) for side in sides)


def quoted(value: Any, most: int = IN_A_SENTENCE) -> str:
    """Return a name for the middle of a sentence, whose direction it cannot change."""
    text = plain(value, most)
    return text if text.isascii() else f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"


def small(value: float | None) -> str:
    r"""Return a number with two digits that count.

    Examples
    --------
    >>> small(0.00878), small(3.4e-6), small(None), small(0.0)
    ('0.0088', '3.4\xa0·\xa010⁻⁶', 'not known', '0')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    if value == 0.0 or 1e-4 <= abs(value) < 1e5:
        return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}10{str(int(power)).translate(_SUPERSCRIPTS)}"


def percent(share: float | None) -> str:
    """Return a share in percent.

    Examples
    --------
    >>> percent(0.1234), percent(None)
    ('12.3 %', 'not known')
    """
    return UNKNOWN if share is None or math.isnan(share) else f"{100 * share:.1f} %"


def thousandths(value: float | None) -> str:
    """Return a score with three digits behind the point."""
    return UNKNOWN if value is None or math.isnan(value) else f"{value:.3f}"


def probability(value: float | None) -> str:
    """Return a p-value.

    Examples
    --------
    >>> probability(0.0314), probability(1e-5)
    ('0.031', 'below 0.001')
    """
    if value is None or math.isnan(value):
        return UNKNOWN
    return f"{value:.3f}" if value >= 1e-3 else "below 0.001"


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def as_plain_data(value: Any) -> Any:
    """Return nested dicts and sequences as JSON has them; numbers that are none become None."""
    if isinstance(value, dict):
        return {str(key): as_plain_data(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain_data(each) for each in value]
    if hasattr(value, "tolist"):
        return as_plain_data(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value
