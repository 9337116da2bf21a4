"""Names, numbers and sentences as a page shows them."""
# SPDX-License-Identifier: MIT

import re
from typing import Any

# Characters of any name that a report holds.
MOST_CHARACTERS = 200

UNKNOWN = "not known"

# What no file can hold, no browser shows, or what would turn the text around it.
_INVISIBLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff]")
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\u2068", "\u2069"

_NOTIONS = {
    "demographic_parity": "Groups must look alike among all people (demographic parity).",
    "equal_opportunity": "Groups must look alike among people with the favourable label (equal opportunity).",
    "equalized_odds": "Groups must look alike among the people of each label by itself (equalized odds).",
}


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


def quoted(value: Any, most: int = 40) -> str:
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
    if value is None:
        return UNKNOWN
    if value == 0.0 or 9.95e-5 <= abs(value) < 1e5:
        return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
    digits, _, power = f"{value:.1e}".partition("e")
    return f"{digits}\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}10{str(int(power)).translate(_SUPERSCRIPTS)}"


def percent(share: float | None) -> str:
    r"""Return a share in percent.

    Examples
    --------
    >>> percent(0.1234), percent(None)
    ('12.3\xa0%', 'not known')
    """
    return UNKNOWN if share is None else f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def thousandths(value: float | None) -> str:
    """Return a score with three digits behind the point."""
    return UNKNOWN if value is None else f"{value:.3f}"


def probability(value: float | None) -> str:
    """Return a p-value.

    Examples
    --------
    >>> probability(0.0314), probability(1e-5)
    ('0.031', 'below 0.001')
    """
    if value is None:
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


def notion_words(fairness: Any) -> str:
    """Return among whom groups must look alike."""
    own = f"Groups must look alike as {quoted(type(fairness).__name__)} says, a notion of its author's own."
    return _NOTIONS.get(fairness, own) if isinstance(fairness, str) else own


def tolerance_words(model: Any) -> str:
    """Return what was asked for, and what was taken where that was left open."""
    if not model.measures_:
        return "None: the model was fitted without sensitive features, so it is plain PCA."
    tolerances = sorted({record["tolerance"] for record in model.measures_})
    span = " to ".join(small(each) for each in dict.fromkeys([tolerances[0], tolerances[-1]]))
    how = "Chosen from the training rows: " if isinstance(model.tolerance, str) else ""
    return f"{how}MMD² of at most {span} on the training rows."


def score(record: dict[str, Any] | None) -> str:
    """Return how well an adversary did."""
    if record is None:
        return "not tried"
    return f"R² {thousandths(record['r2'])}" if "r2" in record else f"AUC {thousandths(record['auc'])}"


def best_adversary(found: dict[str, Any]) -> dict[str, Any]:
    """Return what the adversary that predicts most did, before and after."""
    none: dict[str, Any] = {"before": None, "after": None}
    tried = [pair for pair in found["adversaries"] if pair["after"] is not None]
    return max(
        tried, key=lambda pair: float(pair["after"].get("r2", 2 * pair["after"].get("auc", 0) - 1)), default=none
    )


def in_words(record: dict[str, Any] | None) -> str:
    """Return how well an adversary did, as a share that anybody can picture.

    Examples
    --------
    >>> in_words({"auc": 0.679}), in_words({"r2": 0.12}), in_words(None)
    ('68 of 100', '12 %', 'not tried')
    """
    if record is None:
        return "not tried"
    return f"{100 * max(record['r2'], 0.0):.0f} %" if "r2" in record else f"{100 * record['auc']:.0f} of 100"


def in_words_of(record: dict[str, Any] | None) -> str:
    """Return what the share is of."""
    if record is None:
        return "no adversary was trained"
    return "of an amount predicted; 0 is guessing" if "r2" in record else "pairs told apart; 50 is guessing"


def gap_of(record: dict[str, Any] | None) -> float:
    """Return the largest difference between groups in predictions of a label, as the notion of fairness has it."""
    gap = None if record is None else record["gap"]
    return 0.0 if gap is None else float(gap)


def limits(summary: dict[str, Any]) -> list[str]:
    """Return what the findings do not say.

    Parameters
    ----------
    summary : dict
        The facts.
    """
    found = summary["audit"]
    said = [
        "An audit that finds no difference does not prove that there is none. The bounds say how large one may be.",
        "Everything holds for people like those of these rows, drawn in the same way, and for these components. A new "
        "fit needs a new audit.",
        f"The bound on MMD² speaks of one kernel width, {small(found['bandwidth'])}. Tests from a quarter to twice of "
        "it, and adversaries, look for finer differences.",
        "Adversaries learn from half of these rows. Somebody with more rows, or who knows more of each person, may "
        "predict more.",
        "Only the reduced data were made alike. Columns that are used beside them, and labels, may reveal the "
        "attributes.",
    ]
    return said if found["adversaries"] else [each for each in said if not each.startswith("Adversaries")]


def alerts(model: Any, summary: dict[str, Any]) -> list[str]:
    """Return what a reader must know first: what was asked for and is not there.

    Parameters
    ----------
    model : FairPCA
        The model.
    summary : dict
        The facts.
    """
    said = []
    if not model.measures_:
        said.append("The model was fitted without sensitive features: it is plain PCA, and nothing was made fair.")
    elif not model.result_.meets:
        said.append(
            f"The tolerance was not met: on the training rows MMD² is {small(model.mmd2_)}, and "
            f"{small(model.tolerance_)} was asked for ({plain(model.result_.message)})."
        )
    elif not model.converged_:
        said.append(f"The fit stopped before it was finished: {plain(model.result_.message)}.")
    if summary["audit"]["training_rows"]:
        said.append(
            "These look like the rows that the model was fitted to. They say nothing of new people: use rows that were "
            "held out."
        )
    if summary["kept"]["after"] is None:
        said.append("These rows do not vary: there is nothing to keep.")
    live, asked = model.n_live_components_, model.n_components_
    if live < asked:
        said.append(
            f"Of {counted(asked, 'component')} only {live} carr{'ies' if live == 1 else 'y'} variance; the others are "
            "0 for everybody."
        )
    return said
