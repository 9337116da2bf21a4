"""The Grassmann manifold of p x d orthonormal frames, curves on them, distances between them, derivatives."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular, subspace_angles
from scipy.linalg.lapack import dsyevd

from fairpca._utils.checks import check_name
from fairpca._utils.typing import FloatArray


def principal_angles(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the principal angles between span(first) and span(second) in degrees, largest first.

    Parameters
    ----------
    first, second : ndarray of shape (p, d)
        Matrices whose columns span the two subspaces.
    """
    return np.degrees(subspace_angles(first, second))


def projection_distance(first: FloatArray, second: FloatArray) -> float:
    """Return |VV' - WW'|_F / sqrt(2), the root of the sum of squared sines of the principal angles.

    Parameters
    ----------
    first, second : ndarray of shape (p, d)
        Matrices whose columns span the two subspaces.
    """
    return float(np.linalg.norm(np.sin(subspace_angles(first, second))))


def split_null(frame: FloatArray, rank: int, shortest: float = 1e-8) -> tuple[FloatArray, FloatArray]:
    """Split a frame into columns with variance and columns that lie in the null axes exactly.

    A column of which 1e-9 is left outside the null axes has no variance that anyone could want, but what is left tells
    groups apart once somebody scales it up.

    Parameters
    ----------
    frame : ndarray of shape (p_kept, d)
        Orthonormal columns, in principal axes.
    rank : int
        Number of live axes, the first ones.
    shortest : float, default=1e-8
        Length of the live part of a unit vector of the subspace up to which it is made null.

    Returns
    -------
    live : ndarray of shape (p_kept, k)
        Orthonormal columns with variance.
    null : ndarray of shape (p_kept, d - k)
        Orthonormal columns that are 0 on the live axes, orthogonal to the others.
    """
    _, sizes, rotation = np.linalg.svd(frame[:rank], full_matrices=rank < frame.shape[1])
    n_live = int(np.sum(sizes > shortest))
    turned = frame @ rotation.T
    live, all_but_null = turned[:, :n_live], turned[:, n_live:]
    null = np.zeros_like(all_but_null)
    if null.shape[1] == 0:
        return frame, null
    null[rank:] = np.linalg.qr(all_but_null[rank:])[0]
    live = live - null @ (null.T @ live)
    return np.linalg.qr(live)[0], null


def taylor_slope(remainder: Callable[[float], float], steps: FloatArray | None = None) -> float:
    """Return the order of decay of a Taylor remainder.

    When a model of a function is exact up to order k, its error at distance t falls like t^(k + 1): the slope
    of log error against log t is k + 1. A wrong derivative shows as a slope lower by one or more.

    Parameters
    ----------
    remainder : callable
        The absolute error of the model at distance t.
    steps : ndarray of shape (n_steps,), default=None
        Distances at which to look; by default from 1e-4 to 1e-1. The slope is the median over neighbouring
        steps, so rounding at the short end does not count.

    Returns
    -------
    slope : float
        The median slope.
    """
    lengths = np.logspace(-4, -1, 16) if steps is None else steps
    errors = np.array([abs(remainder(float(t))) for t in lengths])
    visible = errors > 0
    return float(np.median(np.diff(np.log(errors[visible])) / np.diff(np.log(lengths[visible]))))


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


def varimax(frame: FloatArray, max_iter: int = 1000) -> FloatArray:
    """Return the rotation R that maximises the sum over columns of V R of the variance of their squared entries.

    Each step takes the nearest orthogonal matrix to the gradient, which raises the criterion (Kaiser 1958).

    Parameters
    ----------
    frame : ndarray of shape (p, d)
        V.
    max_iter : int, default=1000
        Steps at most; some dozens are usual.
    """
    rotation, value = np.eye(frame.shape[1]), 0.0
    for _ in range(max_iter):
        turned = frame @ rotation
        left, singular, right = np.linalg.svd(frame.T @ (turned**3 - turned * np.mean(turned**2, axis=0)))
        rotation, before, value = left @ right, value, float(singular.sum())
        if value <= before * (1 + 1e-12):
            break
    return rotation
