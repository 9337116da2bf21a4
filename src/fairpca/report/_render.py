"""From facts to a page."""
# SPDX-License-Identifier: MIT

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from fairpca._utils.extras import require
from fairpca.report._drawing import pictures, shown_measures
from fairpca.report._points import STEPS
from fairpca.report._words import SHORT, measure_word, percent, plain, probability, score, small, thousandths

IN_A_POINT_ROW = 12
"""Characters of a group's name beside coordinates."""

NO_GROUP = "\N{EN DASH}"

MOST_ROWS = 24
"""Comparisons and adversaries at most that a table lists."""


def render_report(summary: dict[str, Any]) -> str:
    """Return the page of a report, which needs nothing beside it.

    Parameters
    ----------
    summary : dict
        The facts, as `summarise` returns them.
    """
    drawn = pictures(summary)
    script = _asset("theme.js") + _asset("report.js")
    return _page(
        "report.html",
        script,
        images="'none'",
        title=summary["title"],
        summary=summary,
        drawn=drawn,
        measures=shown_measures(summary["audit"])[:MOST_ROWS],
        point_rows=_point_rows(summary),
        moving=_moving(summary, drawn),
    )


def render_page(title: str, body: str) -> str:
    """Return a plain page in the dress of a report.

    Parameters
    ----------
    title : str
        Its first heading.
    body : str
        What follows, as HTML that is safe.
    """
    safe = require("markupsafe", "report").Markup(body)
    return _page("plain.html", _asset("theme.js"), images="'self' file:", title=title, body=safe)


def _page(template: str, script: str, images: str, **values: Any) -> str:
    style = _asset("style.css")
    page: str = (
        _environment()
        .get_template(template)
        .render(style=_marked(style), script=_marked(script), policy=_policy(style, script, images), **values)
    )
    return page


def _policy(style: str, script: str, images: str) -> str:
    """Return what a browser may do with the page: run and apply what is in it, and load nothing from elsewhere."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _moving(summary: dict[str, Any], drawn: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the slider needs: points of each model, places on the curves, and numbers as texts."""
    found = summary["trade_off"]
    if found is None:
        return None
    frame = drawn["trade_off"]["frame"]
    return {
        "start": found["start"],
        "points": found["points"],
        "box": None if frame is None else frame["box"],
        "codes": [attribute["codes"] for attribute in summary["attributes"]],
        "curves": [{name: curve[name] for name in ("fitted", "new", "y")} for curve in drawn["trade_off"]["curves"]],
        "models": [
            {
                "tolerance": small(model["tolerance"]),
                "variance": percent(model["variance"]),
                "by_attribute": [{name: small(each[name]) for name in each} for each in model["by_attribute"]],
            }
            for model in found["models"]
        ],
    }


def _point_rows(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return labels and coordinates of each person drawn."""
    found = summary["scatter"]
    if found is None:
        return []
    ends = [found["ranges"][name] for name in "xy"] * 2
    columns = [found[side][k::2] for side in ("before", "after") for k in (0, 1)]
    numbers = [
        [f"{low + (high - low) * value / STEPS:.2f}" for value in column]
        for (low, high), column in zip(ends, columns, strict=True)
    ]
    labels = [_labels(attribute) for attribute in summary["attributes"]]
    return [
        {"labels": of_point, "numbers": coordinates}
        for of_point, coordinates in zip(zip(*labels, strict=True), zip(*numbers, strict=True), strict=True)
    ]


def _labels(attribute: dict[str, Any]) -> list[str]:
    """Return the group of each person drawn, cut to what fits beside coordinates."""
    names = [plain(group["label"], IN_A_POINT_ROW) for group in attribute["groups"]]
    return [names[code] if code >= 0 else NO_GROUP for code in attribute["codes"]]


@cache
def _environment() -> Any:
    jinja2 = require("jinja2", "report")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("fairpca.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.filters |= {
        "small": small,
        "percent": percent,
        "probability": probability,
        "thousandths": thousandths,
        "score": score,
        "measure_word": measure_word,
        "cut": lambda text, most=SHORT: plain(text, most),
    }
    return environment


@cache
def _asset(name: str) -> str:
    return files("fairpca.report").joinpath("templates", name).read_text(encoding="utf-8")


def _marked(text: str) -> Any:
    """Return what comes with the package as it is."""
    return require("markupsafe", "report").Markup(text)
