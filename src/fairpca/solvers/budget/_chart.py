"""Local coordinates of the Grassmann manifold, and the augmented Lagrangian in them."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.optimize import nnls

from fairpca._utils.typing import BoolArray, FloatArray
from fairpca.problem import Evaluation

FAR = 100.0
"""|B|^2 up to which I + B'B keeps enough digits to be factored; beyond, the frame comes from V + QB itself."""


@dataclass(frozen=True, eq=False)
class ChartPoint:
    """A point of a chart with all gradients in its coordinates.

    Attributes
    ----------
    b : ndarray of shape (dimension,)
        Its coordinates.
    evaluation : Evaluation
        Both functions at its frame.
    variance_gradient : ndarray of shape (dimension,)
        Gradient of the variance share.
    discrepancy_gradients : ndarray of shape (n_measures, dimension)
        Gradient of each h_j.
    """

    b: FloatArray
    evaluation: Evaluation
    variance_gradient: FloatArray
    discrepancy_gradients: FloatArray


@dataclass(frozen=True, eq=False)
class Chart:
    """The map B -> span(V + QB) around a frame V in Ritz axes: V'SV / tr S = diag(theta), Q'SQ / tr S = diag(phi).

    A point is the vector b that stacks the columns of B. At b = 0 the Hessian of the variance share is diagonal, with
    entries 2 (phi_i - theta_a).

    Attributes
    ----------
    V : ndarray of shape (p, d)
        The centre.
    Q : ndarray of shape (p, rank - d)
        Its orthonormal complement among the live axes.
    theta, phi : ndarray of shape (d,) and (rank - d,)
        Variance shares of their columns, increasing.
    """

    V: FloatArray
    Q: FloatArray
    theta: FloatArray
    phi: FloatArray

    @classmethod
    def around(cls, here: Evaluation, shares: FloatArray, rank: int) -> tuple["Chart", ChartPoint]:
        """Return the chart around an evaluated frame on the first `rank` axes, and its centre.

        With P = I - VV' the columns of Q are eigenvectors of PSP + cVV', and so are those of V, whose eigenvalue c lies
        above all phi: one decomposition finds the complement in its Ritz axes.
        """
        p, d = here.point.shape
        theta, rotation = np.linalg.eigh((here.point * shares[:, None]).T @ here.point)
        V = here.point @ rotation
        # A Newton step towards the nearest frame, so that rounding does not add up from chart to chart.
        V = 1.5 * V - 0.5 * (V @ (V.T @ V))
        live, above = V[:rank], 2.0 * float(shares.max())
        half = live @ (0.5 * (theta + above) * live - shares[:rank, None] * live).T
        phi, axes = np.linalg.eigh(half + half.T + np.diag(shares[:rank]))
        Q = np.zeros((p, rank - d))
        Q[:rank] = axes[:, : rank - d]
        chart = cls(V, Q, theta, phi[: rank - d])
        return chart, chart._pulled_back(np.zeros(chart.dimension), np.eye(d), here.rotated(rotation))

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return self.Q.shape[1] * self.V.shape[1]

    @property
    def variance_hessian(self) -> FloatArray:
        """Diagonal of the variance share's Hessian at the centre, of shape (d, rank - d)."""
        return 2.0 * (self.phi[None, :] - self.theta[:, None])

    def at(self, b: FloatArray, evaluate: Callable[[FloatArray], Evaluation]) -> ChartPoint:
        """Return the point at b, with its frame evaluated.

        With Y = V + QB the frame is W = Y T^{-1}, where T'T = Y'Y = I + B'B is the Cholesky factorisation.
        """
        d = self.V.shape[1]
        B = b.reshape(d, -1)
        Y = self.V + self.Q @ B.T
        if float(b @ b) > FAR:
            frame, factor = np.linalg.qr(Y)
            return self._pulled_back(b, dtrtri(factor)[0], evaluate(frame))
        inverse = dtrtri(dpotrf(np.eye(d) + B @ B.T)[0])[0]
        return self._pulled_back(b, inverse, evaluate(Y @ inverse))

    def _pulled_back(self, b: FloatArray, inverse: FloatArray, evaluation: Evaluation) -> ChartPoint:
        """Return a point whose gradients are those in the chart.

        F(Y) = f(Y T^{-1}) does not change under Y -> YM, so its gradient at Y = WT is (I - WW') G T^{-T} with G the
        gradient of f at W; along Q that is (Q'G - (Q'W) W'G) T^{-T}, where Q'W = B T^{-1}.
        """
        d, W = self.V.shape[1], evaluation.point
        gradients = np.concatenate([evaluation.variance_gradient[None], evaluation.discrepancy_gradients])
        stacked = gradients.transpose(0, 2, 1).reshape(-1, len(W))
        along_Q = stacked @ self.Q - (stacked @ W) @ (inverse.T @ b.reshape(d, -1))
        flat = (inverse @ along_Q.reshape(len(gradients), d, -1)).reshape(len(gradients), -1)
        return ChartPoint(b, evaluation, flat[0], flat[1:])


@dataclass(frozen=True, eq=False)
class Lagrangian:
    r"""The (augmented) Lagrangian of the constraints h_j <= t_j.

    .. math:: L = -\text{variance} + \sum_j \phi_j(h_j - t_j), \qquad
              \phi_j(e) = \mu_j e + \tfrac{c_j}{2} e^2 \text{ while } \phi_j' \ge 0, \text{ then constant.}

    Attributes
    ----------
    multipliers, goals : ndarray of shape (n_measures,)
        mu and t.
    penalties : ndarray of shape (n_measures,)
        c; 0 is the plain Lagrangian. A maximum of variance on h = t need not be a minimum of the plain Lagrangian:
        across the constraint it can be a saddle, which c > 0 makes convex.
    """

    multipliers: FloatArray
    goals: FloatArray
    penalties: FloatArray

    @classmethod
    def plain(cls, multipliers: FloatArray, goals: FloatArray | None = None) -> "Lagrangian":
        """Return one without penalties; its goals shift its value alone."""
        nothing = np.zeros_like(multipliers)
        return cls(multipliers, nothing if goals is None else goals, nothing)

    def weights(self, discrepancies: FloatArray) -> FloatArray:
        """Return the phi_j', the weights of the gradients of the h_j: max(0, mu_j + c_j (h_j - t_j))."""
        return np.maximum(self.multipliers + self.penalties * (discrepancies - self.goals), 0.0)

    def at(self, point: ChartPoint) -> tuple[float, FloatArray]:
        """Return value and gradient of L at a point of a chart."""
        mu, c, h = self.multipliers, self.penalties, point.evaluation.discrepancies
        weights = self.weights(h)
        # With w = phi', phi = (w^2 - mu^2) / 2c where c > 0, on the constant part too.
        curved = np.divide((weights - mu) * (weights + mu), 2.0 * c, out=mu * (h - self.goals), where=c > 0.0)
        value = float(curved.sum()) - point.evaluation.variance
        return value, weights @ point.discrepancy_gradients - point.variance_gradient


def closest_multipliers(here: Evaluation, allowed: BoolArray | None = None) -> FloatArray:
    """Return the mu >= 0 that come closest to grad variance = sum_j mu_j grad h_j on the manifold.

    Parameters
    ----------
    here : Evaluation
        An evaluated frame.
    allowed : ndarray of bool of shape (n_measures,), default=None
        Which mu_j may differ from 0; by default all.
    """
    normals = horizontal(here, here.discrepancy_gradients)
    lengths = np.linalg.norm(normals, axis=1)
    chosen = np.flatnonzero((lengths > 0) & (True if allowed is None else allowed))
    multipliers = np.zeros(len(lengths))
    if len(chosen):
        # Of unit length: one h_j may be a thousand times as steep as another.
        units = normals[chosen] / lengths[chosen, None]
        (wanted,) = horizontal(here, here.variance_gradient[None])
        multipliers[chosen] = nnls(units.T, wanted)[0] / lengths[chosen]
    return multipliers


def horizontal(here: Evaluation, gradients: FloatArray) -> FloatArray:
    """Return the parts (I - VV')G of Euclidean gradients G, of shape (k, p, d), as rows."""
    V = here.point
    return (gradients - V @ (V.T @ gradients)).reshape(len(gradients), -1)
