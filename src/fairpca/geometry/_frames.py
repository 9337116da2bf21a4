"""The Grassmann manifold of p x d orthonormal frames."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.checks import check_name
from fairpca._utils.typing import FloatArray
from fairpca.geometry._curves import PolarCurve, QRCurve

RETRACTIONS: dict[str, type[PolarCurve] | type[QRCurve]] = {"polar": PolarCurve, "qr": QRCurve}


class Grassmann:
    """Subspaces span(V), each represented by any of its frames.

    The variance kept and the MMD do not change under V -> VO, so this is the manifold on which fair PCA is
    solved: the d(d - 1)/2 directions that change nothing are not searched.

    Points are p x d matrices V with V'V = I, tangent vectors are p x d matrices, and the metric is the
    Euclidean inner product tr(xi'eta).

    Parameters
    ----------
    retraction : {"polar", "qr"}, default="polar"
        How a tangent step is brought back to the manifold.
    """

    def __init__(self, retraction: str = "polar") -> None:
        self.retraction = check_name("retraction", retraction, RETRACTIONS)
        self._curve = RETRACTIONS[retraction]

    def project(self, point: FloatArray, ambient: FloatArray) -> FloatArray:
        """Return U - V V'U for ambient matrices U, of shape (..., p, d)."""
        return ambient - point @ (point.T @ ambient)

    def dimension(self, p: int, d: int) -> int:
        """Return (p - d) d."""
        return (p - d) * d

    def curve(self, point: FloatArray, tangent: FloatArray) -> PolarCurve | QRCurve:
        """Return the curve t -> R_V(t eta), which gives frame and velocity at each t."""
        return self._curve(point, tangent)

    def transport(self, point: FloatArray, tangents: FloatArray) -> FloatArray:
        """Carry tangent vectors of a nearby point to the tangent space at `point`, by projection."""
        return self.project(point, tangents)

    def random_point(self, p: int, d: int, generator: np.random.Generator) -> FloatArray:
        """Draw a frame from the rotation-invariant distribution."""
        frame, upper = np.linalg.qr(generator.standard_normal((p, d)))
        return frame * np.where(np.diag(upper) < 0, -1.0, 1.0)
