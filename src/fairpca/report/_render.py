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
from fairpca.report._pictures import STEPS
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
    return _page(
        "report.html",
        "report.js",
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


def render_audit(summary: dict[str, Any]) -> str:
    """Return the page of an audit alone.

    Parameters
    ----------
    summary : dict
        The facts, as `summarise_audit` returns them.
    """
    found = summary["audit"]
    pairs = {"adversaries": [{"after": record} for record in found["adversaries"]]}
    return _page(
        "of_audit.html",
        title=summary["title"],
        summary=summary,
        best=best_adversary(pairs)["after"],
        parity=max(found["parity"], key=gap_of, default=None),
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
    return _page("plain.html", images="'self' file:", title=title, body=body)


def render_methods(found: dict[str, Any]) -> str:
    """Return the page of a comparison of methods.

    Parameters
    ----------
    found : dict
        The findings, with the `table` and the `notes` in texts.
    """
    return _page("methods.html", title="Fair reductions compared", found=found, drawn=methods(found))


def _page(template: str, *scripts: str, images: str = "'none'", **values: Any) -> str:
    """Return a page that runs and applies what is in it, and loads nothing from elsewhere."""
    style, script = _asset("style.css"), "".join(map(_asset, ("theme.js", *scripts)))
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )
    page: str = _environment().get_template(template).render(style=style, script=script, policy=policy, **values)
    return page


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
