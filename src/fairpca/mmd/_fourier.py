"""The MMD^2 of rows projected to at most three dimensions, in time linear in the rows, to a stated accuracy."""
# SPDX-License-Identifier: MIT

import copy

import numpy as np

from fairpca._checks import MOST_FOURIER
from fairpca._typing import FloatArray, IntArray
from fairpca.measures import SignedMeasures
from fairpca.mmd._coordinates import Coordinates, MeasuredRows
from fairpca.mmd._exact import ExactMMD
from fairpca.mmd._fourier_features import FourierFeatures
from fairpca.mmd._fourier_grid import FourierGrid
from fairpca.mmd._fourier_outliers import Outliers
from fairpca.mmd._fourier_passes import (
    ForceField,
    Moments,
    absolute_weights,
    cross_values_of_block,
    force_rates_of_block,
    forces_of_block,
    moment_rates_of_block,
    moments_of_block,
)
from fairpca.rows import Rows


class FourierMMD:
    r"""Discrepancies h_j(V) = sum_c w_c' K w_c of projected rows, as sums over frequencies.

    On a box around the projections z = V'y / sigma the kernel is a product of short cosine sums (see `FourierGrid`), so

    .. math:: w' K w \approx \sum_k g_k M_k^2, \qquad
              M = \sum_i w_i\, \psi_1(z_{i1}) \otimes \dots \otimes \psi_d(z_{id})

    with psi_a the cosines and sines of coordinate a. Rows outside the box are few and treated exactly. A value takes
    one pass over the rows, two when there are rows outside; a value with its gradient takes two.

    Parameters
    ----------
    rows : Rows
        Raw rows and weight columns w_c.
    coordinates : Coordinates
        From raw rows to the coordinates y of the frames V.
    owner : ndarray of shape (n_columns,)
        Index j of the measure that each column belongs to.
    n_measures : int
        Number of measures.
    bandwidth : float
        sigma.
    accuracy : float, default=1e-5
        Bound on \|h_j - exact h_j\|; a kernel error e changes w'Kw by at most e (sum_i \|w_i\|)^2.

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
        owner: IntArray,
        n_measures: int,
        bandwidth: float,
        accuracy: float = 1e-5,
    ) -> None:
        if not accuracy > 0:
            raise ValueError(f"accuracy must be greater than 0, got {accuracy}")
        self.n_measures = n_measures
        self.n_rows = rows.n_rows
        self.bandwidth = float(bandwidth)
        data = MeasuredRows(rows, coordinates, owner, n_measures, self.bandwidth)
        self._data, self._sample = data.seen_from_the_body()
        self._bound_per_kernel_error = self._data.by_measure(rows.total(absolute_weights) ** 2)
        self._grid: FourierGrid | None = None
        self.accuracy = accuracy

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
        values = self._data.by_measure(_squared_norms(moments, grid))
        if moments.outliers.count:
            frame = self._data.along(V, grid.rotation)
            cross = self._data.rows.total(cross_values_of_block, frame, grid, moments.outliers)
            values += 2 * self._data.by_measure(cross) + self._among(moments.outliers).value(V)
        return values, grid.kernel_error * self._bound_per_kernel_error

    def evaluate(self, V: FloatArray, multipliers: FloatArray | None = None) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_j) and the Euclidean gradient of sum_j lambda_j h_j, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j; by default all 1.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The h_j.
        gradient : ndarray of shape (r, d)
            Gradient of the weighted sum with respect to V.
        """
        moments, grid = self._first_pass(V)
        scales = self._data.column_scales(multipliers)
        field = ForceField(_gradients(_potentials(moments.tensors, scales, grid), grid), moments.outliers, scales)
        forces = self._data.rows.total(forces_of_block, self._data.along(V, grid.rotation), grid, field)
        values = self._data.by_measure(_squared_norms(moments, grid) + 2 * forces.cross_values)
        gradient = self._data.gradient(forces.total, grid.rotation)
        if moments.outliers.count:
            own_values, own_gradient = self._among(moments.outliers).evaluate(V, multipliers)
            return values + own_values, gradient + own_gradient
        return values, gradient

    def hessian_product(
        self, V: FloatArray, direction: FloatArray, multipliers: FloatArray | None = None
    ) -> FloatArray:
        """Return the derivative of the gradient of sum_j lambda_j h_j along `direction`, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        direction : ndarray of shape (r, d)
            Direction E; any matrix, tangent or not.
        multipliers : ndarray of shape (n_measures,), default=None
            The lambda_j; by default all 1.
        """
        moments, grid = self._first_pass(V, direction)
        scales = self._data.column_scales(multipliers)
        frame = self._data.along(V, grid.rotation)
        velocity = self._data.along(direction, grid.rotation).matrix
        plain, *moving = np.split(moments.tensors, 1 + V.shape[1])
        features = FourierFeatures(grid)
        # The moments of derivatives are minus the derivatives of moments.
        rates = -np.sum([features.derivative(tensors, b) for b, tensors in enumerate(moving)], axis=0)
        slopes = _gradients(_potentials(plain, scales, grid), grid)
        tensors = np.concatenate([_gradients(_potentials(rates, scales, grid), grid), _gradients(slopes, grid)])
        field = ForceField(tensors, moments.outliers, scales)
        total = self._data.rows.total(force_rates_of_block, frame, grid, field, velocity)
        product = self._data.gradient(total, grid.rotation)
        if moments.outliers.count:
            product += self._among(moments.outliers).hessian_product(V, direction, multipliers)
        return product

    def _first_pass(self, V: FloatArray, direction: FloatArray | None = None) -> tuple[Moments, FourierGrid]:
        """Return the moments, with their rates along a direction, and a grid that leaves few rows outside its box."""
        grid = self._grid_for(V)
        while True:
            frame = self._data.along(V, grid.rotation)
            if direction is None:
                moments = self._data.rows.total(moments_of_block, frame, grid)
            else:
                velocity = self._data.along(direction, grid.rotation).matrix
                moments = self._data.rows.total(moment_rates_of_block, frame, grid, velocity)
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
        return FourierGrid.fit(self._sample @ V, self._data.rows.n_rows, target)

    def _among(self, outliers: Outliers) -> ExactMMD:
        """Return the exact discrepancy of the outliers alone."""
        measures = SignedMeasures(outliers.weights, self._data.owner, ("outliers",) * self.n_measures)
        return ExactMMD(outliers.rows @ self._data.coordinates.matrix, measures, self.bandwidth)


def _squared_norms(moments: Moments, grid: FourierGrid) -> FloatArray:
    return np.einsum("crs,rs->c", moments.tensors**2, FourierFeatures(grid).coefficients())


def _potentials(tensors: FloatArray, scales: FloatArray, grid: FourierGrid) -> FloatArray:
    """Return the coefficients of 2 lambda_c (K w_c)(y), whose gradient is the force on a unit of weight."""
    return 2 * scales[:, None, None] * FourierFeatures(grid).coefficients() * tensors


def _gradients(tensors: FloatArray, grid: FourierGrid) -> FloatArray:
    """Return the coefficients of the derivatives in each coordinate, one after the other."""
    features = FourierFeatures(grid)
    return np.concatenate([features.derivative(tensors, a) for a in range(len(grid.spacing))])
