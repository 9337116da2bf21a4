"""From facts to the geometry of pictures: places and lines, and nothing of how they look."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fairpca.report._pictures import STEPS
from fairpca.report._words import small

# MMD^2 below which all is drawn as this: rounding leaves no less.
SMALLEST = 1e-7

# Width of a picture and the room around its axes, in the units of its view box.
WIDTH, ROOM = 360, 12
_OF_MEASURE = (("before", "mmd2"), ("after", "mmd2"), ("after", "chance_level"), ("after", "upper_bound"))


@dataclass(frozen=True)
class Axis:
    """A straight or logarithmic scale.

    Attributes
    ----------
    low, high : float
        Numbers at its ends.
    start, end : float
        Places of the ends.
    logarithmic : bool, default=False
        Whether equal ratios are equally long.

    Examples
    --------
    >>> Axis(0.0, 10.0, 0.0, 100.0).at(2.5)
    25.0
    >>> [tick["text"] for tick in Axis(0.0, 10.0, 0.0, 100.0).ticks()]
    ['0', '2', '4', '6', '8', '10']
    """

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return the place of a number; one beyond an end is drawn there."""
        ends = self.low, min(max(value, self.low), self.high), self.high
        low, value, high = map(math.log, ends) if self.logarithmic else ends
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + (self.end - self.start) * share, 1)

    def ticks(self, most: int = 6) -> list[dict[str, Any]]:
        """Return round numbers along the axis, each with its place and text."""
        values = _decades(self.low, self.high) if self.logarithmic else _steps(self.low, self.high, most)
        return [{"at": self.at(value), "text": _text(value)} for value in values]


def _text(value: float) -> str:
    if 0 < abs(value) < 1e-3:
        return small(value).removeprefix("1.0\N{NO-BREAK SPACE}·\N{NO-BREAK SPACE}")
    return f"{value:.10g}".replace("-", "\N{MINUS SIGN}")


def _steps(low: float, high: float, most: int) -> Iterator[float]:
    if not high > low:
        return
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(factor * power for factor in (1, 2, 5, 10) if (high - low) / (factor * power) <= most)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield k * step


def _decades(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if len(powers) > 3 else (1, 3) if len(powers) > 2 else (1, 2, 5)
    every = max(1, len(powers) // 6)
    values = [factor * 10.0**power for power in list(powers)[::every] for factor in factors]
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


def pictures(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the geometry of everything that a report draws.

    Parameters
    ----------
    summary : dict
        The facts.
    """
    return {
        "measures": measures(summary["audit"]),
        "densities": [
            [density(each, len(attribute["groups"])) for each in components]
            for components, attribute in zip(summary["densities"], summary["attributes"], strict=True)
        ],
        "scatter": None if summary["scatter"] is None else scatter(summary["scatter"]),
        "trade_off": None if summary["trade_off"] is None else trade_off(summary["trade_off"], summary["attributes"]),
        "biplot": biplot(summary["loadings"]),
    }


def measures(audit: dict[str, Any], most: int = 10) -> dict[str, Any]:
    """Return a line for each measure: before, after, chance, and how large the population's may be."""
    shown = shown_measures(audit)[:most]
    values = [each[side][name] or 0.0 for each in shown for side, name in _OF_MEASURE]
    high = 1.05 * max(values) or 1.0
    low = min(max(min([value for value in values if value > 0.0], default=high), SMALLEST), high)
    # On a straight axis all but the largest would sit at 0.
    axis = Axis(0.8 * low, 1.2 * high, ROOM, WIDTH - ROOM, logarithmic=True)
    if high < 20 * low:
        axis = Axis(0.0, high, ROOM, WIDTH - ROOM)
    height = 40 * len(shown) + 44
    return {
        "height": height,
        "ticks": axis.ticks(5),
        "base": height - 42,
        "zero": ROOM,
        "kind": "logarithmic axis" if axis.logarithmic else "straight axis",
        "lines": [
            {
                "y": 40 * k + 28,
                "name": each["name"],
                **{
                    f"{side}_{name}": None if each[side][name] is None else axis.at(each[side][name])
                    for side, name in _OF_MEASURE
                },
            }
            for k, each in enumerate(shown)
        ],
    }


def shown_measures(audit: dict[str, Any]) -> list[dict[str, Any]]:
    """Return measures with those first that show most."""
    found: list[dict[str, Any]] = audit["measures"]
    return sorted(found, key=lambda each: -max(each["after"]["upper_bound"] or 0.0, each["after"]["mmd2"]))


def density(found: dict[str, Any], n_groups: int) -> dict[str, Any]:
    """Return curves of the groups, before and after, in the same axes."""
    highest = max((max(curve) for side in found["curves"].values() for curve in side if curve), default=1.0)
    return {"component": found["component"]} | _panel(found["range"], highest, found["curves"], n_groups)


def _panel(ends: list[float], highest: float, curves: dict[str, Any], n_groups: int) -> dict[str, Any]:
    """Return curves in the same axes, all groups in one picture, or each of many groups in a small one."""
    is_small = n_groups > 4
    width, height = (WIDTH // 2, 120) if is_small else (WIDTH, 190)
    low, high = ends
    across, up = Axis(low, high, ROOM, width - ROOM), Axis(0.0, highest, height - 42, 8)

    def line(curve: list[float]) -> str:
        step = (high - low) / (len(curve) - 1)
        return _line([across.at(low + step * k) for k in range(len(curve))], list(map(up.at, curve)))

    return {
        "width": width,
        "height": height,
        "base": up.start,
        "ticks": across.ticks(3 if is_small else 6),
        "is_small": is_small,
        "box": _box(across, up),
        "sides": {name: [curve and line(curve) for curve in side] for name, side in curves.items()},
    }


def _line(xs: Sequence[float], ys: Sequence[float]) -> str:
    return "M" + "L".join(f"{x:g} {y:g}" for x, y in zip(xs, ys, strict=True))


def _box(across: Axis, up: Axis) -> list[float]:
    return [across.start, up.end, across.end - across.start, up.start - up.end]


def scatter(found: dict[str, Any]) -> dict[str, Any]:
    """Return the axes of a picture of points, and the points of both sides."""
    height = 320
    (left, right), (low, high) = found["ranges"]["x"], found["ranges"]["y"]
    across, up = Axis(left, right, 34, WIDTH - ROOM), Axis(low, high, height - 36, 8)
    box = _box(across, up)
    frame = {"height": height, "box": box, "x_ticks": across.ticks(), "y_ticks": up.ticks()}
    return frame | {side: places(box, found[side]) for side in ("before", "after")}


def places(box: Sequence[float], points: Sequence[int]) -> list[list[float]]:
    """Return where points in whole numbers are drawn."""
    left, top, width, height = box
    pairs = zip(points[::2], points[1::2], strict=True)
    return [[round(left + width * x / STEPS, 1), round(top + height * (1 - y / STEPS), 1)] for x, y in pairs]


def trade_off(found: dict[str, Any], attributes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the moving picture at its start, and for each attribute the curve of variance against MMD^2."""
    now = found["curves"][found["start"]]
    return {
        "curves": [_curve(found["models"], k) for k in range(len(attributes))],
        "panels": [
            _panel(found["range"], STEPS, {"now": groups}, len(attribute["groups"]))
            for attribute, groups in zip(attributes, now, strict=True)
        ],
    }


def _curve(models: Sequence[dict[str, Any]], attribute: int) -> dict[str, Any]:
    height = 240
    names = ("fitted", "new", "chance")
    rows = [{name: max(each["by_attribute"][attribute][name], SMALLEST) for name in names} for each in models]
    shares = [100 * (each["variance"] or 0.0) for each in models]
    values = [value for row in rows for value in row.values()]
    across = Axis(min(values) / 1.25, max(values) * 1.25, 44, WIDTH - ROOM, logarithmic=True)
    room = 0.08 * (max(shares) - min(shares)) or 1.0
    up = Axis(max(min(shares) - room, 0.0), max(shares) + room, height - 40, 8)
    xs = {name: [across.at(row[name]) for row in rows] for name in ("fitted", "new")}
    ys = [up.at(share) for share in shares]
    return {
        "height": height,
        "box": _box(across, up),
        "x_ticks": across.ticks(),
        "y_ticks": up.ticks(5),
        "chance": across.at(math.exp(sum(math.log(row["chance"]) for row in rows) / len(rows))),
        "y": ys,
        **xs,
        "lines": {name: _line(values, ys) for name, values in xs.items()},
    }


def methods(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return the picture of methods, utility against what adversaries can predict; None where none was trained.

    Parameters
    ----------
    found : dict
        The findings of a comparison.
    """
    rows = [each for each in found["methods"] if not math.isnan(each["adversary_score"])]
    if not rows:
        return None
    has_task = not any(math.isnan(each["task_auc"]) for each in rows)
    utility = [each["task_auc"] if has_task else 100 * each["variance_kept"] for each in rows]
    scores = [each["adversary_score"] for each in rows]
    height, chosen = 300, {name for name in found["choices"].values() if name}
    axes = []
    # Names stand in a column beside the marks, which are often too close together for them.
    for values, start, end in ((scores, 44, WIDTH - 116), (utility, height - 42, 8)):
        room = 0.1 * (max(values) - min(values)) or 0.05 * abs(max(values)) or 1.0
        axes.append(Axis(min(values) - room, max(values) + room, start, end))
    across, up = axes
    points = [
        {"name": row["method"], "x": across.at(score), "y": up.at(value), "chosen": row["method"] in chosen}
        for row, score, value in zip(rows, scores, utility, strict=True)
    ]
    _spread(points, 0, height - 30)
    return {
        "height": height,
        "x_ticks": across.ticks(4),
        "y_ticks": up.ticks(),
        "utility": "AUC of the label" if has_task else "% of the variance",
        "points": points,
    }


def biplot(found: dict[str, Any], most: int = 8) -> dict[str, Any] | None:
    """Return arrows of the columns in the plane of two components, each with its name; None for one."""
    if found["n_components"] < 2:
        return None
    size, reach = 420, 120
    arrows = [(each["name"], *each["loadings"][:2]) for each in found["columns"][:most]]
    longest = max((math.hypot(x, y) for _, x, y in arrows), default=0.0) or 1.0
    drawn = [
        {
            "name": name,
            "x": round(size / 2 + reach * x / longest, 1),
            "y": round(size / 2 - reach * y / longest, 1),
            "side": "start" if x >= 0 else "end",
        }
        for name, x, y in arrows
    ]
    for side, step in (("start", 8), ("end", -8)):
        _spread([each for each in drawn if each["side"] == side], step, size)
    ends = [size / 2, *(each[name] for each in drawn for name in ("y", "label_y"))]
    top, bottom = min(ends) - 24, max(ends) + 24
    box = {"top": round(top), "bottom": round(bottom), "height": round(bottom) - round(top)}
    return {"size": size, "middle": size / 2, "arrows": drawn} | box


def _spread(arrows: list[dict[str, Any]], step: int, size: int) -> None:
    """Put names beside the tips of their arrows, far enough apart to be read."""
    arrows.sort(key=lambda each: float(each["y"]))
    lowest = -math.inf
    for each in arrows:
        each["label_y"] = lowest = max(each["y"] + 4, lowest + 13)
        each["label_x"] = each["x"] + step
    beyond = max(0.0, lowest - (size - 8))
    for each in arrows:
        each["label_y"] = round(each["label_y"] - beyond, 1)
