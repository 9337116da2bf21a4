"""The product with the limited-memory BFGS inverse Hessian."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fairpca._utils.typing import FloatArray


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
