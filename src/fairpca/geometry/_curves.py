"""Curves t -> R_V(t eta) traced by the QR and the polar retraction."""
# SPDX-License-Identifier: MIT

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dsyevd

from fairpca._utils.typing import FloatArray


class PolarCurve:
    """The polar retraction along one tangent vector.

    With Y(t) = V + t eta the curve is W(t) = Y T^{-1} with T = (Y'Y)^{1/2}. Because V'eta is skew,
    Y'Y = I + t^2 eta'eta: one eigendecomposition of the d x d matrix eta'eta serves every t.

    Parameters
    ----------
    point : ndarray of shape (p, d)
        Orthonormal frame V.
    tangent : ndarray of shape (p, d)
        Tangent vector eta at V.
    """

    def __init__(self, point: FloatArray, tangent: FloatArray) -> None:
        self._point = point
        self._tangent = tangent
        # LAPACK's own routine: of matrices of few columns all that is wrapped around it takes longer.
        squares, self._basis, failed = dsyevd(tangent.T @ tangent)
        if failed:
            raise np.linalg.LinAlgError("the eigenvalues of eta'eta did not converge")
        self._squares = np.maximum(squares, 0.0)

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Return the frame W(t) and the velocity dW/dt."""
        stretch, inverse = self._stretch(t)
        frame = self._frame(t, inverse)
        stretch_rate = (self._basis * (t * self._squares / stretch)) @ self._basis.T
        velocity = (self._tangent - frame @ stretch_rate) @ inverse
        return frame, velocity

    def frame(self, t: float) -> FloatArray:
        """Return the frame W(t) alone."""
        return self._frame(t, self._stretch(t)[1])

    def _stretch(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of T, and its inverse."""
        stretch = np.sqrt(1.0 + t * t * self._squares)
        return stretch, (self._basis / stretch) @ self._basis.T

    def _frame(self, t: float, inverse: FloatArray) -> FloatArray:
        frame = (self._point + t * self._tangent) @ inverse
        # One Newton step towards the nearest frame: rounding in V'V and V'eta must not add up over many steps.
        return 1.5 * frame - 0.5 * (frame @ (frame.T @ frame))


class QRCurve:
    """The QR retraction along one tangent vector: W(t) is the Q factor of V + t eta, R's diagonal positive.

    Parameters
    ----------
    point : ndarray of shape (p, d)
        Orthonormal frame V.
    tangent : ndarray of shape (p, d)
        Tangent vector eta at V.
    """

    def __init__(self, point: FloatArray, tangent: FloatArray) -> None:
        self._point = point
        self._tangent = tangent

    def __call__(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Return the frame W(t) and the velocity dW/dt."""
        frame, upper = np.linalg.qr(self._point + t * self._tangent)
        signs = np.where(np.diag(upper) < 0, -1.0, 1.0)
        frame, upper = frame * signs, upper * signs[:, None]
        # eta R^{-1} split into the part inside the span of W, made skew, and the part outside
        # (Absil, Mahony, Sepulchre, "Optimization Algorithms on Matrix Manifolds", example 8.1.5).
        scaled = solve_triangular(upper, self._tangent.T, trans="T").T
        inside = frame.T @ scaled
        lower = np.tril(inside, -1)
        velocity = frame @ (lower - lower.T) + scaled - frame @ inside
        return frame, velocity
