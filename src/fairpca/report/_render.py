"""From facts to a page."""
# SPDX-License-Identifier: MIT

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any

from fairpca._utils.extras import require
from fairpca.auditing import points
from fairpca.report._drawing import methods, pictures, shown_measures
from fairpca.report._points import STEPS
from fairpca.report._words import (
    best_adversary,
    gap_of,
    in_words,
    in_words_of,
    percent,
    plain,
    probability,
    score,
    small,
    thousandths,
)

# Rows of comparisons and adversaries that a table lists.
MOST_ROWS = 24


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
        most_rows=MOST_ROWS,
        best=best_adversary(summary["audit"]),
        parity=max(summary["audit"]["parity"], key=lambda pair: gap_of(pair["after"]), default=None),
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


def render_methods(found: dict[str, Any]) -> str:
    """Return the page of a comparison of methods.

    Parameters
    ----------
    found : dict
        The findings, with the `table` and the `notes` in texts.
    """
    title = "Fair reductions compared"
    return _page("methods.html", _asset("theme.js"), images="'none'", title=title, found=found, drawn=methods(found))


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
    """Return what the slider needs: densities of each model, places on the curves, and numbers as texts."""
    found = summary["trade_off"]
    if found is None:
        return None
    return {
        "start": found["start"],
        "densities": found["curves"],
        "boxes": [panel["box"] for panel in drawn["trade_off"]["panels"]],
        "curves": [{name: curve[name] for name in ("fitted", "new", "y")} for curve in drawn["trade_off"]["curves"]],
        "models": [
            {
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
    names = [plain(group["label"], 12) for group in attribute["groups"]]
    return [names[code] if code >= 0 else "\N{EN DASH}" for code in attribute["codes"]]


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
        "in_words": in_words,
        "in_words_of": in_words_of,
        "gap": lambda record: f"{100 * gap_of(record):.1f} points",
        "points": points,
        "cut": lambda text, most=60: plain(text, most),
    }
    return environment


@cache
def _asset(name: str) -> str:
    return files("fairpca.report").joinpath("templates", name).read_text(encoding="utf-8")


def _marked(text: str) -> Any:
    """Return what comes with the package as it is."""
    return require("markupsafe", "report").Markup(text)
