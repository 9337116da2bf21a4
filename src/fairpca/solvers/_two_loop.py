"""The product with the limited-memory BFGS inverse Hessian."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Sequence

import numpy as np

from fairpca._utils.typing import FloatArray

CurvedPair = tuple[FloatArray, FloatArray]
"""A step and the change of the gradient along it."""


def quasi_newton_product(
    pairs: Sequence[CurvedPair], gradient: FloatArray, initial: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Return the inverse Hessian estimate times a gradient (Nocedal and Wright, algorithm 7.4).

    Parameters
    ----------
    pairs : sequence of (step, gradient change)
        Oldest first, each with positive curvature <s, y>.
    gradient : ndarray
        What is multiplied.
    initial : callable
        Product with the inverse of the initial metric.
    """
    curvatures = [float(np.vdot(s, y)) for s, y in pairs]
    q = gradient.copy()
    coefficients = []
    for (s, y), curvature in zip(reversed(pairs), reversed(curvatures), strict=True):
        coefficients.append(float(np.vdot(s, q)) / curvature)
        q -= coefficients[-1] * y
    q = initial(q)
    for (s, y), curvature, alpha in zip(pairs, curvatures, reversed(coefficients), strict=True):
        q = q + (alpha - float(np.vdot(y, q)) / curvature) * s
    return q
