"""From facts to the geometry of pictures: places and lines, and nothing of how they look."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fairpca.report._points import STEPS
from fairpca.report._words import small

ROUND = (1, 2, 5, 10)

WIDTH = 360

SMALLEST = 1e-7
"""MMD^2 below which all is drawn as this."""

MOST_MEASURES = 10
MOST_ARROWS = 8
_DRAWN = (("before", "mmd2"), ("after", "mmd2"), ("after", "chance_level"), ("after", "upper_bound"))


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
        low, high, value = (math.log(each) if self.logarithmic else each for each in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return round(self.start + (self.end - self.start) * min(max(share, 0.0), 1.0), 1)

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
    step = next(factor * power for factor in ROUND if (high - low) / (factor * power) <= most)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield k * step


def _decades(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    factors = (1,) if len(powers) > 3 else (1, 3) if len(powers) > 2 else (1, 2, 5)
    every = max(1, len(powers) // 6)
    values = [factor * 10.0**power for power in list(powers)[::every] for factor in factors]
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]


LEFT, RIGHT, BOTTOM, TOP = 12, 348, 26, 8


def pictures(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the geometry of everything that a report draws.

    Parameters
    ----------
    summary : dict
        The facts.
    """
    return {
        "measures": measures(summary["audit"]),
        "densities": [[density(each) for each in components] for components in summary["densities"]],
        "scatter": None if summary["scatter"] is None else scatter(summary["scatter"]),
        "trade_off": None if summary["trade_off"] is None else trade_off(summary["trade_off"]),
        "biplot": biplot(summary["loadings"]),
    }


def measures(audit: dict[str, Any]) -> dict[str, Any]:
    """Return a line for each measure: before, after, chance, and how large the population's may be."""
    shown = shown_measures(audit)[:MOST_MEASURES]
    values = [_or_zero(each[side][name]) for each in shown for side, name in _DRAWN]
    axis = Axis(0.0, 1.05 * max(values) or 1.0, LEFT, RIGHT)
    height = 40 * len(shown) + 28
    return {
        "height": height,
        "ticks": axis.ticks(5),
        "base": height - BOTTOM,
        "zero": LEFT,
        "lines": [
            {
                "y": 40 * k + 28,
                "name": each["name"],
                **{f"{side}_{name}": _or_none(axis, each[side][name]) for side, name in _DRAWN},
            }
            for k, each in enumerate(shown)
        ],
    }


def shown_measures(audit: dict[str, Any]) -> list[dict[str, Any]]:
    """Return measures with those first that show most."""
    found: list[dict[str, Any]] = audit["measures"]
    return sorted(found, key=lambda each: -max(_or_zero(each["after"]["upper_bound"]), each["after"]["mmd2"]))


def density(found: dict[str, Any]) -> dict[str, Any]:
    """Return curves of the groups, before and after, in the same axes."""
    height = 170
    curves = [curve for side in found["curves"].values() for curve in side if curve]
    low, high = found["range"]
    axis = Axis(low, high, LEFT, RIGHT)
    up = Axis(0.0, max((max(curve) for curve in curves), default=1.0), height - BOTTOM, TOP)
    return {
        "component": found["component"],
        "height": height,
        "base": height - BOTTOM,
        "ticks": axis.ticks(),
        "sides": {
            name: [None if curve is None else _line(axis, up, curve) for curve in side]
            for name, side in found["curves"].items()
        },
    }


def _line(axis: Axis, up: Axis, curve: Sequence[float]) -> str:
    low, high = axis.low, axis.high
    last = len(curve) - 1
    places = [f"{axis.at(low + (high - low) * k / last):g} {up.at(value):g}" for k, value in enumerate(curve)]
    return "M" + "L".join(places)


def scatter(found: dict[str, Any]) -> dict[str, Any]:
    """Return the axes of a picture of points, and the points of both sides."""
    frame = plane(found["ranges"])
    return frame | {side: places(frame, found[side]) for side in ("before", "after")}


def plane(ranges: dict[str, list[float]]) -> dict[str, Any]:
    """Return axes of two components."""
    height = 320
    (left, right), (low, high) = ranges["x"], ranges["y"]
    across, up = Axis(left, right, 34, RIGHT), Axis(low, high, height - 36, TOP)
    return {
        "height": height,
        "box": [across.start, up.end, across.end - across.start, up.start - up.end],
        "x_ticks": across.ticks(),
        "y_ticks": up.ticks(),
    }


def places(frame: dict[str, Any], points: Sequence[int]) -> list[list[float]]:
    """Return where points in whole numbers are drawn."""
    left, top, width, height = frame["box"]
    pairs = zip(points[::2], points[1::2], strict=True)
    return [[round(left + width * x / STEPS, 1), round(top + height * (1 - y / STEPS), 1)] for x, y in pairs]


def trade_off(found: dict[str, Any]) -> dict[str, Any]:
    """Return the moving picture at its start, and for each attribute the curve of variance against MMD^2."""
    n_attributes = len(found["models"][0]["by_attribute"])
    curves = [_curve(found["models"], k) for k in range(n_attributes)]
    drawn: dict[str, Any] = {"curves": curves, "frame": None, "points": []}
    if found["points"] is not None:
        frame = plane(found["ranges"])
        drawn |= {"frame": frame, "points": places(frame, found["points"][found["start"]])}
    return drawn


def _curve(models: Sequence[dict[str, Any]], attribute: int) -> dict[str, Any]:
    height = 240
    rows = [{name: max(value, SMALLEST) for name, value in each["by_attribute"][attribute].items()} for each in models]
    shares = [100 * _or_zero(each["variance"]) for each in models]
    low = min(value for row in rows for value in row.values())
    high = max(value for row in rows for value in row.values())
    across = Axis(low / 1.25, high * 1.25, 44, RIGHT, logarithmic=True)
    room = 0.08 * (max(shares) - min(shares)) or 1.0
    up = Axis(max(min(shares) - room, 0.0), max(shares) + room, height - 40, TOP)
    xs = {name: [across.at(row[name]) for row in rows] for name in ("fitted", "new")}
    ys = [up.at(share) for share in shares]
    return {
        "height": height,
        "box": [across.start, up.end, across.end - across.start, up.start - up.end],
        "x_ticks": across.ticks(),
        "y_ticks": up.ticks(5),
        "chance": across.at(math.exp(sum(math.log(row["chance"]) for row in rows) / len(rows))),
        "y": ys,
        **xs,
        "lines": {
            name: "M" + "L".join(f"{x:g} {y:g}" for x, y in zip(values, ys, strict=True)) for name, values in xs.items()
        },
    }


def biplot(found: dict[str, Any]) -> dict[str, Any] | None:
    """Return arrows of the columns in the plane of two components; None for one."""
    if found["n_components"] < 2:
        return None
    size, reach = 320, 130
    arrows = [(k, *each["loadings"][:2]) for k, each in enumerate(found["columns"][:MOST_ARROWS], start=1)]
    longest = max((math.hypot(x, y) for _, x, y in arrows), default=0.0) or 1.0
    drawn = []
    for number, x, y in arrows:
        angle, length = math.atan2(y, x), reach * math.hypot(x, y) / longest
        across, up = math.cos(angle), -math.sin(angle)
        drawn.append(
            {
                "number": number,
                "x": round(size / 2 + length * across, 1),
                "y": round(size / 2 + length * up, 1),
                "label_x": round(size / 2 + (length + 12) * across, 1),
                "label_y": round(size / 2 + (length + 12) * up + 4, 1),
            }
        )
    return {"size": size, "middle": size / 2, "arrows": drawn}


def _or_zero(value: float | None) -> float:
    return 0.0 if value is None else value


def _or_none(axis: Axis, value: float | None) -> float | None:
    return None if value is None else axis.at(value)
