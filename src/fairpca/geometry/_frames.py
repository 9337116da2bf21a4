"""The Stiefel and Grassmann manifolds of p x d orthonormal frames."""
# SPDX-License-Identifier: MIT

from abc import ABC, abstractmethod

import numpy as np

from fairpca._utils.checks import check_name
from fairpca._utils.typing import FloatArray
from fairpca.geometry._curves import PolarCurve, QRCurve

RETRACTIONS: dict[str, type[PolarCurve] | type[QRCurve]] = {"polar": PolarCurve, "qr": QRCurve}


class Frames(ABC):
    """What the two manifolds share: retraction, transport by projection, metric.

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

    @abstractmethod
    def project(self, point: FloatArray, ambient: FloatArray) -> FloatArray:
        """Project ambient matrices, of shape (..., p, d), on the tangent space at `point`."""

    @abstractmethod
    def riemannian_hessian(
        self, point: FloatArray, gradient: FloatArray, hessian_product: FloatArray, tangent: FloatArray
    ) -> FloatArray:
        """Turn the Euclidean gradient and Hessian-vector product into the Riemannian Hessian-vector product."""

    @abstractmethod
    def dimension(self, p: int, d: int) -> int:
        """Return the dimension of the manifold."""

    def curve(self, point: FloatArray, tangent: FloatArray) -> PolarCurve | QRCurve:
        """Return the curve t -> R_V(t eta), which gives frame and velocity at each t."""
        return self._curve(point, tangent)

    def retract(self, point: FloatArray, tangent: FloatArray) -> FloatArray:
        """Return R_V(eta)."""
        return self._curve(point, tangent)(1.0)[0]

    def transport(self, point: FloatArray, tangents: FloatArray) -> FloatArray:
        """Carry tangent vectors of a nearby point to the tangent space at `point`, by projection."""
        return self.project(point, tangents)

    def random_point(self, p: int, d: int, generator: np.random.Generator) -> FloatArray:
        """Draw a frame from the rotation-invariant distribution."""
        frame, upper = np.linalg.qr(generator.standard_normal((p, d)))
        return frame * np.where(np.diag(upper) < 0, -1.0, 1.0)

    def random_tangent(self, point: FloatArray, generator: np.random.Generator) -> FloatArray:
        """Draw a tangent vector of unit norm at `point`."""
        tangent = self.project(point, generator.standard_normal(point.shape))
        return tangent / np.linalg.norm(tangent)


class Stiefel(Frames):
    """Frames V themselves: V and VO are different points."""

    def project(self, point: FloatArray, ambient: FloatArray) -> FloatArray:
        """Return U - V sym(V'U)."""
        inside = point.T @ ambient
        return ambient - point @ ((inside + np.swapaxes(inside, -1, -2)) / 2)

    def riemannian_hessian(
        self, point: FloatArray, gradient: FloatArray, hessian_product: FloatArray, tangent: FloatArray
    ) -> FloatArray:
        """Return P(Hess f[eta] - eta sym(V'G))."""
        inside = point.T @ gradient
        return self.project(point, hessian_product - tangent @ ((inside + inside.T) / 2))

    def dimension(self, p: int, d: int) -> int:
        """Return pd - d(d + 1)/2."""
        return p * d - d * (d + 1) // 2


class Grassmann(Frames):
    """Subspaces span(V), each represented by any of its frames.

    The variance kept and the MMD do not change under V -> VO, so this is the manifold on which fair PCA is
    solved: the d(d - 1)/2 directions that change nothing are not searched.
    """

    def project(self, point: FloatArray, ambient: FloatArray) -> FloatArray:
        """Return U - V V'U."""
        return ambient - point @ (point.T @ ambient)

    def riemannian_hessian(
        self, point: FloatArray, gradient: FloatArray, hessian_product: FloatArray, tangent: FloatArray
    ) -> FloatArray:
        """Return P(Hess f[eta]) - eta V'G."""
        return self.project(point, hessian_product) - tangent @ (point.T @ gradient)

    def dimension(self, p: int, d: int) -> int:
        """Return (p - d) d."""
        return (p - d) * d
