"""Local coordinates of the Grassmann manifold in which variance has a diagonal Hessian."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgesv

from fairpca._utils.typing import FloatArray
from fairpca.geometry import PolarCurve
from fairpca.problem import Evaluation


@dataclass(frozen=True)
class Chart:
    """The map B -> polar(V + QB) around a frame V, its columns and its complement Q rotated to Ritz axes.

    A point is the vector b that stacks the columns of B. At b = 0 the Hessian of the variance share is diagonal:
    2 (phi_j - theta_a) / tr S with V'SV = diag(theta) and Q'SQ = diag(phi).

    Attributes
    ----------
    V : ndarray of shape (p, d)
        The centre.
    Q : ndarray of shape (p, rank - d)
        Its orthonormal complement among the live axes.
    variance_hessian : ndarray of shape (d * (rank - d),)
        Diagonal of the variance's Hessian at the centre.
    rotation : ndarray of shape (d, d)
        V is the given frame times this.
    """

    V: FloatArray
    Q: FloatArray
    variance_hessian: FloatArray
    rotation: FloatArray

    @classmethod
    def around(cls, frame: FloatArray, shares: FloatArray, rank: int) -> "Chart":
        """Build the chart around a frame.

        Parameters
        ----------
        frame : ndarray of shape (p, d)
            Orthonormal frame on the live axes.
        shares : ndarray of shape (p,)
            Diagonal of S / tr S.
        rank : int
            Number of live axes, the first ones.
        """
        p, d = frame.shape
        theta, rotation = np.linalg.eigh((frame * shares[:, None]).T @ frame)
        V, Q = frame @ rotation, np.zeros((p, rank - d))
        phi, Q[:rank] = _ritz_complement(V[:rank], shares[:rank], theta)
        return cls(V, Q, 2.0 * (phi[None, :] - theta[:, None]).ravel(), rotation)

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.Q.shape[1] * self.V.shape[1]

    def frame(self, b: FloatArray) -> FloatArray:
        """Return the frame at b."""
        return PolarCurve(self.V, self._tangent(b)).frame(1.0)

    def pull_back(self, b: FloatArray, frame: FloatArray, *gradients: FloatArray) -> FloatArray:
        """Return the gradients with respect to b of functions of the subspace.

        Parameters
        ----------
        b : ndarray of shape (dimension,)
            Where.
        frame : ndarray of shape (p, d)
            The frame W at b.
        *gradients : ndarray of shape (p, d)
            Euclidean gradient of each function there.

        Returns
        -------
        pulled_back : ndarray of shape (n_gradients, dimension)
            The gradients.
        """
        stacked = np.concatenate([gradient.T for gradient in gradients])
        horizontal = stacked - (stacked @ frame) @ frame.T
        along_Q = (horizontal @ self.Q).reshape(len(gradients), frame.shape[1], -1)
        # F(Y) = f(Y T^{-1}) does not change under Y -> YM, so its gradient at Y = WT is grad f(W) T^{-T}; T = W'Y has
        # no eigenvalue below 1.
        stretch = frame.T @ (self.V + self._tangent(b))
        inverse = dgesv(stretch, np.eye(len(stretch)))[2]
        return (inverse @ along_Q).reshape(len(gradients), self.dimension)

    def _tangent(self, b: FloatArray) -> FloatArray:
        return self.Q @ b.reshape(self.V.shape[1], -1).T


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

    @classmethod
    def read(cls, chart: Chart, b: FloatArray, evaluation: Evaluation) -> "ChartPoint":
        """Express what is known about a frame in the chart's coordinates."""
        gradients = evaluation.variance_gradient, *evaluation.discrepancy_gradients
        pulled_back = chart.pull_back(b, evaluation.point, *gradients)
        return cls(b, evaluation, pulled_back[0], pulled_back[1:])


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
