"""The MMD^2 of rows projected to at most three dimensions, in time linear in the rows, to a stated accuracy."""
# SPDX-License-Identifier: MIT

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fairpca._utils.checks import MOST_FOURIER
from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison
from fairpca.mmd._coordinates import Coordinates, MeasuredRows
from fairpca.mmd._measurement import Measurement
from fairpca.mmd._mixture import Mixture
from fairpca.mmd._scales import ONE_SCALE
from fairpca.mmd.exact import ExactMMD
from fairpca.mmd.fourier._features import FourierFeatures
from fairpca.mmd.fourier._grid import FourierGrid
from fairpca.mmd.fourier._outliers import Outliers
from fairpca.mmd.fourier._passes import (
    BoxMoments,
    ForceField,
    absolute_weights,
    cross_products_of_block,
    forces_of_block,
    moments_of_block,
)
from fairpca.rows import Partial, Rows


class FourierMMD:
    r"""Discrepancies h_j(V) = <P_j, W'KW> of projected rows, as sums over frequencies.

    On a box around the projections z = V'y / sigma the kernel is a product of short cosine sums, or a mean of such
    products over several scales that share their frequencies (see `FourierGrid`), so

    .. math:: w' K w \approx \sum_k g_k M_k^2, \qquad
              M = \sum_i w_i\, \psi_1(z_{i1}) \otimes \dots \otimes \psi_d(z_{id})

    with psi_a the cosines and sines of coordinate a. Rows outside the box are few and treated exactly. A value takes
    one pass over the rows, two when there are rows outside; a value with its gradient takes two.

    Parameters
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    coordinates : Coordinates
        From raw rows to the coordinates y of the frames V.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    accuracy : float, default=1e-5
        Bound on \|h_j - exact h_j\|; a kernel error e changes w'Kw by at most e (sum_i \|w_i\|)^2.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these, see `Scales`.

    Notes
    -----
    Every call chooses rotation, box and frequencies for its frame, from a sample of rows, so that the values of two
    frames have different errors. Where this matters, in a line search, use `anchored`: its grid stays, the values are
    smooth in V and the gradient is exactly theirs. (A row that crosses the edge of the box changes from one treatment
    to the other: a jump of its weight times the error of the kernel, far below the accuracy.)
    """

    def __init__(
        self,
        rows: Rows,
        coordinates: Coordinates,
        comparison: Comparison,
        bandwidth: float,
        accuracy: float = 1e-5,
        factors: Sequence[float] = ONE_SCALE,
    ) -> None:
        self.n_measures = comparison.n_measures
        self.n_rows = rows.n_rows
        self.bandwidth = float(bandwidth)
        self._factors = tuple(factors)
        self._mixture = Mixture.of(self._factors)
        data = MeasuredRows(rows, coordinates, comparison, self.bandwidth * max(self._factors))
        self.measured, self._sample = data.seen_from_the_body()
        sizes = rows.total(absolute_weights, comparison.columns)
        self._bound_per_kernel_error = self.measured.sum_of_columns(sizes**2)
        self._grid: FourierGrid | None = None
        self.accuracy = _checked(accuracy)

    def to_accuracy(self, accuracy: float) -> "FourierMMD":
        """Return the same discrepancy with another bound on its error, and no grid yet.

        Parameters
        ----------
        accuracy : float
            The bound.
        """
        other = copy.copy(self)
        other.accuracy, other._grid = _checked(accuracy), None
        return other

    def anchored(self, V: FloatArray) -> "FourierMMD":
        """Return the same discrepancy with the grid that suits V, for use at V and around it.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        anchored = copy.copy(self)
        anchored._grid = self._first_pass(V)[1]
        return anchored

    def around(self, V: FloatArray, known: FloatArray) -> "FourierMMD":
        """Return the discrepancy for use around V, see `Approximation`; it is as accurate as what is known."""
        return self.anchored(V)

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "FourierMMD":
        """Return the discrepancy for frames in a span, see `FirstOrderMMD`."""
        inside = copy.copy(self)
        inside.measured, inside._sample = rows, rows.spaced()
        return inside

    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at V with bounds on its errors, see `Approximation`."""
        return Measurement(*self.value_and_bound(V))

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_j) at V.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        return self.value_and_bound(V)[0]

    def value_and_bound(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) at V and bounds on its errors.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.

        Returns
        -------
        values, bounds : ndarray of shape (n_measures,)
            The h_j, and how far at most each is from the exact one but for rounding.
        """
        moments, grid = self._first_pass(V)
        values = self.measured.by_measure(_products(moments, grid))
        if moments.outliers.count:
            frame = self.measured.along(V, grid.rotation)
            cross = self._total(cross_products_of_block, frame, grid, moments.outliers)
            values += 2 * self.measured.by_measure(cross) + self._among(moments.outliers).value(V)
        return values, grid.kernel_error * self._bound_per_kernel_error

    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the Euclidean gradient of each, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The h_j.
        gradients : ndarray of shape (n_measures, r, d)
            Their gradients with respect to V.
        """
        moments, grid = self._first_pass(V)
        field = ForceField(_potentials(moments.tensors, grid), moments.outliers, self.measured.comparison.forms)
        forces = self._total(forces_of_block, self.measured.along(V, grid.rotation), grid, field)
        values = self.measured.by_measure(_products(moments, grid) + 2 * forces.cross_products)
        gradients = self.measured.gradients(forces.total, grid.rotation)
        if moments.outliers.count:
            own_values, own_gradients = self._among(moments.outliers).evaluate(V)
            return values + own_values, gradients + own_gradients
        return values, gradients

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost, in multiply-adds of float32.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        n_features = math.prod(FourierFeatures(self._grid_for(V)).shape)
        r, d = self.measured.coordinates.matrix.shape[0], V.shape[1]
        # Two passes, in float64, of which products take twice as long.
        return float(self.n_rows * 4 * (r * d + n_features * (1 + d) * self.measured.comparison.weights.n_columns))

    def _first_pass(self, V: FloatArray) -> tuple[BoxMoments, FourierGrid]:
        """Return the moments, and a grid that leaves few rows outside its box."""
        grid = self._grid_for(V)
        while True:
            frame = self.measured.along(V, grid.rotation)
            moments = self._total(moments_of_block, frame, grid)
            if moments.outliers.count <= grid.affordable:
                return moments, grid
            grid = grid.widened()

    def _grid_for(self, V: FloatArray) -> FourierGrid:
        if V.shape[1] > MOST_FOURIER:
            raise ValueError(
                f"FourierMMD takes frames of at most {MOST_FOURIER} columns, got {V.shape[1]}: the number of "
                "features grows exponentially with them; use HermiteMMD"
            )
        if self._grid is not None:
            return self._grid
        target = self.accuracy / max(float(self._bound_per_kernel_error.max()), 1e-300)
        return FourierGrid.fit(self._sample @ V, self.measured.rows.n_rows, target, self._mixture)

    def _among(self, outliers: Outliers) -> ExactMMD:
        """Return the exact discrepancy of the outliers alone."""
        rows = outliers.rows @ self.measured.coordinates.matrix
        return ExactMMD(rows, outliers.weights, self.measured.comparison, self.bandwidth, self._factors)

    def _total(self, function: Callable[..., Partial], *arguments: Any) -> Partial:
        """Return a sum over the rows with their weights."""
        return self.measured.rows.total(function, self.measured.comparison.weights, *arguments)


def _checked(accuracy: float) -> float:
    if not accuracy > 0:
        raise ValueError(f"accuracy must be greater than 0, got {accuracy}")
    return accuracy


def _products(moments: BoxMoments, grid: FourierGrid) -> FloatArray:
    """Return W'KW over the rows in the box."""
    scaled = FourierFeatures(grid).coefficients() * moments.tensors
    return np.tensordot(moments.tensors, scaled, axes=((1, 2), (1, 2)))


def _potentials(tensors: FloatArray, grid: FourierGrid) -> FloatArray:
    """Return the coefficients of 2 (K w_b)(y), whose gradient is the force on a unit of weight."""
    return 2 * FourierFeatures(grid).coefficients() * tensors
