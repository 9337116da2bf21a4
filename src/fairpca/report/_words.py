"""Names, numbers and sentences as a page shows them."""
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


GOOD, CAUTION, BAD = "good", "caution", "bad"


def notion_words(fairness: Any) -> str:
    """Return among whom groups must look alike."""
    own = f"Groups must look alike as {quoted(type(fairness).__name__)} says, a notion of its author's own."
    return _NOTIONS.get(fairness, own) if isinstance(fairness, str) else own


def tolerance_words(model: Any) -> str:
    """Return what was asked for, and what was taken where that was left open."""
    if not model.measures_:
        return "Nothing was asked: the model was fitted without sensitive features, so it is plain PCA."
    tolerances = sorted({record["tolerance"] for record in model.measures_})
    span = " to ".join(small(each) for each in dict.fromkeys([tolerances[0], tolerances[-1]]))
    how = "Chosen from the training rows: " if isinstance(model.tolerance, str) else ""
    return f"{how}MMD² of at most {span} on the training rows."


def verdicts(summary: dict[str, Any]) -> list[dict[str, str]]:
    """Return what follows, sentence by sentence, each with a tone.

    Parameters
    ----------
    summary : dict
        The facts.
    """
    found = summary["audit"]
    said = [_on_cost(summary["kept"]), _on_difference(summary), _on_bound(summary)]
    said += [_on_adversaries(found)] if found["adversaries"] else []
    return [{"tone": tone, "text": text} for tone, text in said if text]


def _on_cost(kept: dict[str, Any]) -> tuple[str, str]:
    before, after = kept["before"], kept["after"]
    if before is None or after is None:
        return CAUTION, "These rows do not vary, so there is nothing to keep."
    opening = f"The projection keeps {percent(after)} of the variance of these rows; {kept['name_in_a_sentence']} keeps"
    if not before:
        return CAUTION, f"{opening} nothing."
    lost = 100 * (before - after)
    if lost <= 0.05:
        return (
            GOOD,
            f"{opening} {percent(before)}. Fairness costs nothing that shows.",
        )
    return GOOD, (
        f"{opening} {percent(before)}. What it costs is {lost:.1f} points, "
        f"{percent(1 - after / before)} of what was there to keep."
    )


def _on_difference(summary: dict[str, Any]) -> tuple[str, str]:
    found, asked = summary["audit"], summary["asked"]
    worst = found["measures"][found["worst"]]
    differs = found["p_value"]["after"] < 1.0 - found["confidence"]
    told_before = found["p_value"]["before"] < 1.0 - found["confidence"]
    whom = "" if found["training_rows"] else " who were not used to fit"
    opening = (
        f"On {counted(asked['n_rows'], 'person', 'people')}{whom}, the {measure_word(worst)} of "
        f"{_named(worst)} is {small(worst['after']['mmd2'])}; it was {small(worst['before']['mmd2'])} before, and "
        f"{small(worst['after']['chance_level'])} is what chance alone shows."
    )
    scales = "widths of the kernel from a quarter to twice of it"
    everything = scales if len(found["measures"]) == 1 else f"all comparisons and {scales}"
    was = "Before, it was more than chance shows" if told_before else "Nor was more than chance found before"
    if differs:
        return BAD, (
            f"{opening} Over {everything} the groups differ by more than chance "
            f"(p = {probability(found['p_value']['after'])}): the reduced data still tell who is who."
        )
    return GOOD, (
        f"{opening} Over {everything} no difference beyond chance was found "
        f"(p = {probability(found['p_value']['after'])}). {was} "
        f"(p = {probability(found['p_value']['before'])})."
    )


def _on_bound(summary: dict[str, Any]) -> tuple[str, str]:
    found = summary["audit"]
    bounds = [measure["after"]["upper_bound"] for measure in found["measures"]]
    confidence = f"{100 * found['confidence']:g} %"
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return CAUTION, f"The groups are too small to say anything of the population with {confidence} confidence."
    missing = "" if len(known) == len(bounds) else " Some comparisons have too few rows to say anything of them."
    what = f"the population's {measure_word(found['measures'][0])} is at most"
    what = what if len(bounds) == 1 else "none of the population's values is above"
    return GOOD if not missing else CAUTION, (
        f"With {confidence} confidence {what} {small(max(known))}, for people like these.{missing}"
    )


def _on_adversaries(found: dict[str, Any]) -> tuple[str, str]:
    tried = [pair for pair in found["adversaries"] if pair["after"] is not None]
    best = best_adversary(found)
    if best is None:
        return "", ""
    alpha = (1.0 - found["confidence"]) / len(tried)
    was = f" ({score(best['before'])} before)" if best["before"] else ""
    what = f"{quoted(best['attribute'])} from the reduced data: {score(best['after'])}{was}"
    scale = "0 is guessing" if "r2" in best["after"] else "0.5 is guessing, 1 is certainty"
    if best["after"]["p_value"] < alpha:
        return BAD, f"An adversary, {best['adversary']}, still reads {what}; {scale}."
    number = counted(len(tried), "adversary", "adversaries")
    return GOOD, f"Of {number} none reads more than chance. The most telling is {best['adversary']}, {what}; {scale}."


def best_adversary(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the most telling adversary did, before and after."""
    tried = [pair for pair in found["adversaries"] if pair["after"] is not None]
    return min(tried, key=lambda pair: pair["after"]["p_value"], default=None)


def score(record: dict[str, Any] | None) -> str:
    """Return how well an adversary did."""
    if record is None:
        return "not tried"
    return f"R² {thousandths(record['r2'])}" if "r2" in record else f"AUC {thousandths(record['auc'])}"


def measure_word(measure: dict[str, Any]) -> str:
    """Return what a measure is called."""
    return "MMD²" if measure["kind"] == "groups" else "dependence (HSIC)"


def _named(measure: dict[str, Any]) -> str:
    return quoted(comparison_name(measure["name"]), 2 * 60)


def limits(summary: dict[str, Any]) -> list[str]:
    """Return what the findings do not say.

    Parameters
    ----------
    summary : dict
        The facts.
    """
    found = summary["audit"]
    said = [
        "To find no difference is no proof of none: with more rows a smaller one would show. What is shown is the "
        "bound above.",
        "It holds for people like those of these rows, drawn in the same way, and for these components as they are. "
        "Fit again, and it has to be shown again.",
        f"The bound speaks of one width of the kernel, {small(found['bandwidth'])}; finer differences are looked for "
        "by tests from a quarter to twice of it and by the adversaries.",
        "Adversaries learn from half of these rows. Whoever has more rows, or knows more of each person, may read "
        "more.",
        "Only the reduced data were made alike. Columns used beside them, and labels, may tell what they hide.",
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
            "These look like the rows that the model was fitted to. What they show says nothing of new people; make "
            "the report of rows that were held out."
        )
    live, asked = model.n_live_components_, model.n_components_
    if live < asked:
        said.append(
            f"Of {counted(asked, 'component')} only {live} carr{'ies' if live == 1 else 'y'} variance; the others are "
            "0 for everybody."
        )
    return said
