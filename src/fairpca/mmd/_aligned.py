"""A discrepancy that depends on the frame a little, made a function of the subspace."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._approximation import SmoothMMD
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.problem import HessianOperator


@dataclass(frozen=True)
class Alignment:
    """The rotation O that brings V closest to an anchor A: the polar factor of V'A = U diag(s) W', O = U W'.

    Attributes
    ----------
    left, right : ndarray of shape (d, d)
        U and W'.
    sizes : ndarray of shape (d,)
        The singular values s.
    anchor : ndarray of shape (r, d)
        A.
    """

    left: FloatArray
    right: FloatArray
    sizes: FloatArray
    anchor: FloatArray

    @classmethod
    def of(cls, V: FloatArray, anchor: FloatArray) -> "Alignment":
        """Align a frame with an anchor."""
        left, sizes, right = np.linalg.svd(V.T @ anchor)
        return cls(left, right, sizes, anchor)

    @property
    def rotation(self) -> FloatArray:
        """O."""
        return self.left @ self.right

    def gradient(self, V: FloatArray, aligned_gradient: FloatArray) -> FloatArray:
        """Return the gradient of F(V) = f(V O(V)) from that of f at V O.

        With Y = U'V'G W the derivative through O is <Z, U' dV'A W>, Z_ij = (Y_ij - Y_ji) / (s_i + s_j).

        Parameters
        ----------
        V : ndarray of shape (r, d)
            The frame.
        aligned_gradient : ndarray of shape (r, d)
            G, the gradient of f at V O.
        """
        inside = self.left.T @ (V.T @ aligned_gradient) @ self.right.T
        turning = (inside - inside.T) / np.maximum(self.sizes[:, None] + self.sizes[None, :], 1e-300)
        return aligned_gradient @ self.rotation.T + self.anchor @ (self.left @ turning @ self.right).T


class AlignedMMD:
    """A discrepancy evaluated at the frame of a subspace that lies closest to an anchor.

    Truncated expansions tell V from V O by their error. Solvers change the frame of a subspace at will, and a value
    that changes with it stops their line searches.

    Parameters
    ----------
    discrepancy : SmoothMMD
        The discrepancy.
    anchor : ndarray of shape (r, d)
        The frame for which it was made.
    """

    def __init__(self, discrepancy: SmoothMMD, anchor: FloatArray) -> None:
        self.n_measures = discrepancy.n_measures
        self.n_rows = discrepancy.n_rows
        self.measured = discrepancy.measured
        self._discrepancy = discrepancy
        self._anchor = anchor

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "AlignedMMD":
        """Return the discrepancy for frames in a span, see `SmoothMMD`; of the anchor what lies in it is enough."""
        return AlignedMMD(self._discrepancy.within(rows, axes), axes.T @ self._anchor)

    def realign(self, V: FloatArray) -> None:
        """Take the frame that V is seen as for the anchor: near it nothing changes, and alignment with it is smooth.

        Where V'A is nearly singular its polar factor jumps.
        """
        self._anchor = V @ Alignment.of(V, self._anchor).rotation

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) of the subspace spanned by V."""
        return self._discrepancy.value(V @ Alignment.of(V, self._anchor).rotation)

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradient of each, the part through the alignment included."""
        alignment = Alignment.of(V, self._anchor)
        values, gradients = self._discrepancy.evaluate(V @ alignment.rotation)
        return values, np.stack([alignment.gradient(V, gradient) for gradient in gradients])

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian in the chart B -> V + QB, without what the alignment adds.

        What it adds is of the size of the truncation error. It is the Hessian of the discrepancy at V O in the chart
        B -> V O + QB, with its columns turned back.
        """
        rotation = Alignment.of(V, self._anchor).rotation
        aligned = self._discrepancy.hessian(V @ rotation, Q, gradient @ rotation, multipliers, single_precision)
        d, q = V.shape[1], Q.shape[1]
        rows_turned = rotation @ aligned.reshape(d, q * d * q)
        return (rotation @ rows_turned.reshape(d * q, d, q)).reshape(d * q, d * q)

    def moment_hessian(
        self, V: FloatArray, Q: FloatArray, variances: FloatArray, multipliers: FloatArray | None = None
    ) -> HessianOperator:
        """Return the Hessian by two moments, of which no expansion is truncated."""
        return self._discrepancy.moment_hessian(V, Q, variances, multipliers)

    def gradient_work(self, V: FloatArray) -> float:
        """Return what gradients cost."""
        return self._discrepancy.gradient_work(V)

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian costs."""
        return self._discrepancy.hessian_work(V, Q)
