"""What many rows ask of a discrepancy that takes time linear in them."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._coordinates import MeasuredRows


@dataclass(frozen=True, eq=False)
class Measurement:
    """The vector h at a frame and how far each entry can be from the exact one.

    Attributes
    ----------
    values, errors : ndarray of shape (n_measures,)
        The h_j and bounds on their errors; 0 where they are exact.
    """

    values: FloatArray
    errors: FloatArray

    @classmethod
    def exact(cls, values: FloatArray) -> "Measurement":
        """Take values that are exact."""
        return cls(values, np.zeros_like(values))

    @property
    def at_most(self) -> FloatArray:
        """What the h_j do not exceed."""
        return self.values + self.errors


class FirstOrderMMD(Protocol):
    """A discrepancy with first derivatives and products with its Hessian.

    Attributes
    ----------
    n_measures, n_rows : int
        Length of the vector h, and number of rows.
    measured : MeasuredRows
        The rows.
    """

    n_measures: int
    n_rows: int
    measured: MeasuredRows

    def within(self, rows: MeasuredRows, axes: FloatArray) -> Self:
        """Return the same for frames in a span: at V it is what this one is at axes @ V.

        Parameters
        ----------
        rows : MeasuredRows
            The same rows, seen along the axes.
        axes : ndarray of shape (r, k)
            The axes.
        """

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V."""

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the gradients, of shape (n_measures, r, d)."""

    def hessian_product(
        self, V: FloatArray, direction: FloatArray, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Return the derivative along `direction` of the gradient of sum_j lambda_j h_j."""

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost, in multiply-adds of float32 or what takes as long."""


class Curvature(Protocol):
    """The Hessian of a discrepancy, maybe approximate."""

    n_rows: int

    def within(self, rows: MeasuredRows, axes: FloatArray) -> Self:
        """Return the same for frames in a span, see `FirstOrderMMD`."""

    def hessian(
        self,
        V: FloatArray,
        Q: FloatArray,
        gradient: FloatArray,
        multipliers: FloatArray | None = None,
        single_precision: bool = False,
    ) -> FloatArray:
        """Return the Hessian of sum_j lambda_j h_j in the chart B -> V + QB, see `ExactMMD.hessian`."""

    def hessian_work(self, V: FloatArray, Q: FloatArray) -> float:
        """Return what the Hessian at V in the chart B -> V + QB costs, in the same unit."""


class SecondOrderMMD(FirstOrderMMD, Curvature, Protocol):
    """A discrepancy that has a Hessian of its own as well."""


class Approximation(Protocol):
    """The discrepancies of all rows, approximately."""

    def around(self, V: FloatArray, known: FloatArray) -> FirstOrderMMD:
        """Return a smooth function of the subspace for use around a frame.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            The frame.
        known : ndarray of shape (n_measures,)
            The vector h there, which the function is to have there too, unless it is as accurate.
        """

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at a frame, with bounds on its errors.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            The frame.
        error : ndarray of shape (n_measures,)
            What errors are small enough; more work is done where they are larger, if that is of use.
        """

    def curvature_around(self, V: FloatArray) -> SecondOrderMMD:
        """Return what has the Hessian around a frame."""

    def with_features(self, n_features: int) -> Self:
        """Return the same with another number of features."""
