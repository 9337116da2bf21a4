"""Steps of quasi-Newton methods: a Wolfe line search, which works down to rounding, and the product of BFGS."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from fairpca._utils.typing import FloatArray

Place = TypeVar("Place")

ROUNDING = 1e-14
"""Relative size below which a difference of function values is noise."""


@dataclass(frozen=True)
class Trial(Generic[Place]):
    """One point of the search curve: its parameter, value and slope, and whatever the caller knows about it."""

    step: float
    value: float
    slope: float
    at: Place


def wolfe_search(
    try_step: Callable[[float], Trial[Place]],
    value: float,
    slope: float,
    initial_step: float,
    rounding: float = 0.0,
    *,
    decrease: float = 1e-4,
    curvature: float = 0.9,
    max_trials: int = 25,
) -> Trial[Place] | None:
    """Find a step that decreases the value enough and flattens the slope enough (weak Wolfe conditions).

    Close to a minimum the decrease drowns in rounding; then the approximate conditions of Hager and Zhang (2005),
    (2 delta - 1) slope(0) >= slope(t) >= sigma slope(0) at a value that is not visibly different, decide.

    Parameters
    ----------
    try_step : callable
        Evaluates the curve at a parameter t > 0.
    value, slope : float
        Value and (negative) slope at t = 0.
    initial_step : float
        First t.
    rounding : float, default=0.0
        Size below which a difference of values is noise, where that is more than 1e-14 of them.
    decrease, curvature : float
        delta and sigma; the usual values of quasi-Newton methods.
    max_trials : int, default=25
        Evaluations at most.

    Returns
    -------
    trial : Trial or None
        The accepted trial, or None when no acceptable step exists up to rounding.
    """
    low, high = _Bound(0.0, value, slope), None
    step, noise = initial_step, max(rounding, ROUNDING * abs(value))
    for _ in range(max_trials):
        trial = try_step(step)
        if _too_high(trial, value, slope, noise, decrease):
            high = _Bound(step, trial.value, trial.slope)
        elif trial.slope < curvature * slope:
            low = _Bound(step, trial.value, trial.slope)
        else:
            return trial
        step = _extrapolate(low, step) if high is None else _interpolate(low, high)
        if high is not None and high.step - low.step <= 1e-12 * high.step:
            break
    return None


@dataclass(frozen=True)
class _Bound:
    step: float
    value: float
    slope: float


def _too_high(trial: Trial[Any], value: float, slope: float, noise: float, decrease: float) -> bool:
    if not math.isfinite(trial.value):
        return True
    if trial.value <= value + decrease * trial.step * slope:
        return False
    invisible = abs(trial.value - value) <= noise
    return not (invisible and trial.slope <= (2 * decrease - 1) * slope)


def _extrapolate(low: _Bound, step: float) -> float:
    return 4.0 * max(step, low.step)


def _interpolate(low: _Bound, high: _Bound) -> float:
    """Return the minimiser of the cubic through both ends, kept away from them."""
    width = high.step - low.step
    middle = low.step + width / 2
    if not math.isfinite(high.value):
        return middle
    theta = 3 * (low.value - high.value) / width + low.slope + high.slope
    discriminant = theta * theta - low.slope * high.slope
    if discriminant < 0:
        return middle
    root = math.sqrt(discriminant)
    denominator = high.slope - low.slope + 2 * root
    if denominator == 0:
        return middle
    fraction = 1.0 - (high.slope + root - theta) / denominator
    return low.step + width * min(max(fraction, 0.1), 0.9)


class CurvedPair(NamedTuple):
    """A step s, the change y of the gradient along it, and <s, y>."""

    step: FloatArray
    change: FloatArray
    curvature: float

    @classmethod
    def of(cls, step: FloatArray, change: FloatArray) -> "CurvedPair":
        """Return the pair with its curvature."""
        return cls(step, change, float(np.vdot(step, change)))


def quasi_newton_product(
    pairs: Sequence[CurvedPair], gradient: FloatArray, initial: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return the inverse Hessian estimate times a gradient (Nocedal and Wright, algorithm 7.4).

    Parameters
    ----------
    pairs : sequence of CurvedPair
        Oldest first, each with positive curvature <s, y>.
    gradient : ndarray
        What is multiplied.
    initial : callable
        Product with the inverse of the initial metric.
    """
    q = gradient.copy()
    coefficients = []
    for pair in reversed(pairs):
        coefficients.append(float(np.vdot(pair.step, q)) / pair.curvature)
        q -= coefficients[-1] * pair.change
    q = initial(q)
    for pair, alpha in zip(pairs, reversed(coefficients), strict=True):
        q += (alpha - float(np.vdot(pair.change, q)) / pair.curvature) * pair.step
    return q
