"""Local coordinates of the Grassmann manifold."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from fairpca import compiled
from fairpca._utils.typing import FloatArray
from fairpca.problem import Evaluation

FAR = 100.0
"""|B|^2 up to which frames come from I + B'B."""

SMALL, FEW_COMPONENTS = 2**16, 32
"""Operations of a product up to which, and components up to which, compiled loops are used."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The map B -> span(V + QB) around a frame V, whose columns are rotated to its Ritz axes: V'SV = diag(theta).

    A point is the vector b that stacks the columns of B. At b = 0 the Hessian of the variance share is made of a block
    2 (Q'SQ - theta_a I) / tr S for each component a.

    Attributes
    ----------
    V : ndarray of shape (p, d)
        The centre.
    Q : ndarray of shape (p, rank - d)
        Its orthonormal complement among the live axes.
    theta : ndarray of shape (d,)
        Variance shares of the columns of V, increasing.
    phi : ndarray of shape (rank - d, rank - d) or (rank - d,)
        Q'SQ / tr S, or its diagonal, increasing, where the complement lies in Ritz axes too.
    rotation : ndarray of shape (d, d)
        V is the given frame times this.
    """

    V: FloatArray
    Q: FloatArray
    theta: FloatArray
    phi: FloatArray
    rotation: FloatArray

    @classmethod
    def around(cls, frame: FloatArray, shares: FloatArray, rank: int, in_ritz_axes: bool = False) -> "Chart":
        """Build the chart around a frame.

        Parameters
        ----------
        frame : ndarray of shape (p, d)
            Orthonormal frame on the live axes.
        shares : ndarray of shape (p,)
            Diagonal of S / tr S.
        rank : int
            Number of live axes, the first ones.
        in_ritz_axes : bool, default=False
            Whether the complement lies in Ritz axes too, which takes longer.
        """
        p, d = frame.shape
        theta, rotation = np.linalg.eigh((frame * shares[:, None]).T @ frame)
        V, Q = _nearest_frame(frame @ rotation), np.zeros((p, rank - d))
        if in_ritz_axes:
            phi, Q[:rank] = _ritz_complement(V[:rank], shares[:rank], theta)
        else:
            _fill_complement(V[:rank], Q[:rank])
            phi = (Q.T * shares) @ Q
        return cls(V, Q, theta, phi, rotation)

    def variance_blocks(self, first: int) -> FloatArray:
        """Return the blocks of the variance's Hessian at the centre on the directions of Q from one on.

        Parameters
        ----------
        first : int
            The first of these directions.
        """
        phi = self.phi[first:, first:] if self.phi.ndim > 1 else np.diag(self.phi[first:])
        blocks = np.repeat(phi[None], len(self.theta), axis=0)
        np.einsum("aii->ai", blocks)[...] -= self.theta[:, None]
        return 2.0 * blocks

    @property
    def variance_diagonal(self) -> FloatArray:
        """Diagonal of the variance's Hessian at the centre, of shape (dimension,)."""
        phi = self.phi.diagonal() if self.phi.ndim > 1 else self.phi
        return 2.0 * (phi[None, :] - self.theta[:, None]).ravel()

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.Q.shape[1] * self.V.shape[1]

    def at(self, b: FloatArray) -> "Place":
        """Return the place at b.

        With Y = V + QB the frame is W = Y T^{-1}, where T'T = Y'Y = I + B'B is the Cholesky factorisation: of all
        frames of the subspace the one that takes least work. Far away it comes from Y itself: squares lose digits.
        """
        d, q = self.V.shape[1], self.Q.shape[1]
        transposed = b.reshape(d, q)
        if b.dot(b) > FAR:
            frame, factor = np.linalg.qr(self.V + self.Q @ transposed.T)
            return Place(self, b, frame, np.ascontiguousarray(dtrtri(factor)[0]))
        if self.is_small:
            frame, inverse = np.empty_like(self.V), np.empty((d, d))
            compiled.native.frame_at(self.V, self.Q, transposed, frame, inverse)
            return Place(self, b, frame, inverse)
        inverse = dtrtri(dpotrf(np.eye(d) + transposed @ transposed.T)[0], overwrite_c=1)[0]
        return Place(self, b, (self.V + self.Q @ transposed.T) @ inverse, inverse)

    @cached_property
    def is_small(self) -> bool:
        """Whether compiled loops beat products by BLAS, around which much is done."""
        return _are_small(self.V, self.Q)


@dataclass(frozen=True, eq=False)
class Place:
    """A point of a chart, of which nothing but its frame is known.

    Attributes
    ----------
    chart : Chart
        The chart.
    b : ndarray of shape (dimension,)
        Where it is.
    frame : ndarray of shape (p, d)
        The frame W.
    inverse : ndarray of shape (d, d)
        T^{-1}, which makes V + QB a frame.
    """

    chart: Chart
    b: FloatArray
    frame: FloatArray
    inverse: FloatArray

    def read(self, evaluation: Evaluation) -> "ChartPoint":
        """Express what is known of the frame in the chart's coordinates.

        F(Y) = f(Y T^{-1}) does not change under Y -> YM, so its gradient at Y = WT is (I - WW') G T^{-T} with G the
        gradient of f at W; along Q that is (Q'G - (Q'W) W'G) T^{-T}, where Q'W = B T^{-1}.
        """
        d, q = self.frame.shape[1], self.chart.Q.shape[1]
        pulled_back = (self._by_loops if self.chart.is_small else self._by_products)(evaluation)
        flat = pulled_back.reshape(len(pulled_back), d * q)
        return ChartPoint(self.b, evaluation, flat[0], flat[1:])

    def _by_loops(self, evaluation: Evaluation) -> FloatArray:
        d, q = self.frame.shape[1], self.chart.Q.shape[1]
        others = np.ascontiguousarray(evaluation.discrepancy_gradients.transpose(0, 2, 1))
        first, out = np.ascontiguousarray(evaluation.variance_gradient), np.empty((1 + len(others), d, q))
        compiled.native.gradients_at(self.chart.Q, self.b.reshape(d, q), self.frame, self.inverse, first, others, out)
        return out

    def _by_products(self, evaluation: Evaluation) -> FloatArray:
        d, q = self.frame.shape[1], self.chart.Q.shape[1]
        gradients = np.concatenate([evaluation.variance_gradient[None], evaluation.discrepancy_gradients])
        stacked = gradients.transpose(0, 2, 1).reshape(-1, len(self.frame))
        along_Q = stacked @ self.chart.Q
        along_Q -= (stacked @ self.frame) @ (self.inverse.T @ self.b.reshape(d, q))
        return self.inverse @ along_Q.reshape(len(gradients), d, q)


@dataclass(frozen=True, eq=False)
class ChartPoint:
    """A point of a chart with all gradients in its coordinates.

    Attributes
    ----------
    b : ndarray of shape (dimension,)
        Where it is.
    evaluation : Evaluation
        What is known of its frame.
    variance_gradient : ndarray of shape (dimension,)
        Gradient of the variance share.
    discrepancy_gradients : ndarray of shape (n_measures, dimension)
        Gradient of each h_j.
    """

    b: FloatArray
    evaluation: Evaluation
    variance_gradient: FloatArray
    discrepancy_gradients: FloatArray


def _are_small(V: FloatArray, Q: FloatArray) -> bool:
    return compiled.is_compiled() and V.size * Q.shape[1] <= SMALL and V.shape[1] <= FEW_COMPONENTS


def _fill_complement(V: FloatArray, Q: FloatArray) -> None:
    """Fill Q by an orthonormal complement of V."""
    if _are_small(V, Q):
        compiled.native.complement_of(V, Q)
    else:
        Q[...] = np.linalg.qr(V, mode="complete")[0][:, V.shape[1] :]


def _nearest_frame(V: FloatArray) -> FloatArray:
    """Return V after a Newton step towards the nearest frame: rounding must not add up from chart to chart."""
    return 1.5 * V - 0.5 * (V @ (V.T @ V))


def _ritz_complement(V: FloatArray, shares: FloatArray, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return phi, increasing, and an orthonormal complement Q of V with Q'SQ = diag(phi), where V'SV = diag(theta).

    With P = I - VV' these are eigenvectors of PSP + cVV', and so is V, whose eigenvalue c is above all phi: one
    decomposition finds the complement and turns it.
    """
    d = V.shape[1]
    apart = 2.0 * float(shares.max())
    half = V @ (0.5 * (theta + apart) * V - shares[:, None] * V).T
    sizes, axes = np.linalg.eigh(half + half.T + np.diag(shares))
    return sizes[: len(sizes) - d], axes[:, : len(sizes) - d]
