"""The MMD^2 of rows projected to many dimensions, in time linear in the rows, by Nystroem features."""
# SPDX-License-Identifier: MIT

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from fairpca._utils.threads import single_threaded_blas
from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison, RowWeights
from fairpca.mmd._coordinates import Coordinates, MeasuredRows, main_body
from fairpca.mmd._forms import Factors
from fairpca.mmd._measurement import Measurement
from fairpca.mmd.nystroem._landmarks import RIDGE, Landmarks
from fairpca.mmd.nystroem._passes import (
    forces_of_block,
    residuals_of_block,
    sums_and_slopes_of_block,
    sums_of_block,
    with_moments,
)
from fairpca.mmd.residual import Remainder, Residuals, ResidualSample
from fairpca.rows import Partial, Rows

MAKING = 20
"""Multiply-adds in a matrix product that take as long as one kernel value."""


class NystroemMMD:
    r"""Discrepancies h_j(V) = <P_j, W'KW> of projected rows, with the kernel seen from m landmarks.

    Landmarks are rows x_l, drawn once, that move with the frame: c_l = V'x_l. With their kernel matrix K_mm and
    u_b = sum_i w_ib k(c, z_i),

    .. math:: h_m = \langle P_j, U' K_{mm}^{-1} U \rangle \le h

    is the discrepancy after projection on the span of the landmarks' kernel functions.

    Parameters
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    coordinates : Coordinates
        From raw rows to the coordinates of the frames V.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    n_landmarks : int, default=1024
        m, fewer where the table has not so many different rows.
    seed : int, default=0
        Draws the landmarks, and the samples on which errors are estimated.

    Notes
    -----
    Distances are all that counts, so that h_m is a smooth function of the subspace, however a frame of it is turned.
    With a = K_mm^-1 u the gradient has the forces 2 w_i sum_l a_l k_il (c_l - z_i) on rows, the same with the roles
    exchanged on landmarks, and what K_mm adds there.
    """

    def __init__(
        self,
        rows: Rows,
        coordinates: Coordinates,
        comparison: Comparison,
        bandwidth: float,
        n_landmarks: int = 1024,
        seed: int = 0,
    ) -> None:
        self.n_measures = comparison.n_measures
        self.n_rows = rows.n_rows
        self.bandwidth = float(bandwidth)
        self.measured, _ = MeasuredRows(rows, coordinates, comparison, self.bandwidth).seen_from_the_body()
        self._landmark_rows = _drawn_landmarks(self.measured, n_landmarks, np.random.default_rng([seed, n_landmarks]))
        self._seed = seed
        self._remainder = Remainder(self.measured, seed)
        self.offset: FloatArray = np.zeros(self.n_measures)

    def around(self, V: FloatArray, known: FloatArray) -> "NystroemMMD":
        """Return the discrepancy for use around V, see `Approximation`."""
        shifted = copy.copy(self)
        shifted.offset = known - self.features_value(V)
        return shifted

    def within(self, rows: MeasuredRows, axes: FloatArray) -> "NystroemMMD":
        """Return the discrepancy for frames in a span, see `FirstOrderMMD`."""
        inside = copy.copy(self)
        inside.measured, inside._landmark_rows = rows, self._landmark_rows @ axes
        inside._remainder = Remainder(rows, self._seed)
        return inside

    @single_threaded_blas()
    def measured_at(self, V: FloatArray, error: FloatArray) -> Measurement:
        """Return the vector h at V with its errors, see `Approximation`.

        Where any error is small enough the residuals of all rows, m^2 multiply-adds for each, are those of a sample.
        """
        if np.all(np.isinf(error)):
            landmarks = self._landmarks(V)
            sums = self._total_of(self.measured.comparison.columns, sums_of_block, V, landmarks)
            return self._remainder.estimated(V, landmarks, landmarks.features_of(sums))
        return self._remainder.measured(V, *self._residuals(V), error)

    @single_threaded_blas()
    def features_value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_m) at V, without offset.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        landmarks = self._landmarks(V)
        sums = self._total(sums_of_block, V, landmarks)
        return self.measured.by_measure(sums @ landmarks.coefficients(sums).T)

    def value(self, V: FloatArray) -> FloatArray:
        """Return the vector (h_m + offset) at V.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        return self.features_value(V) + self.offset

    def value_and_bound(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the best estimate of the vector h at V without a sample and bounds on its errors; see `Remainder`.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        return self._remainder.value_and_bound(self._residuals(V)[1])

    def value_and_error(self, V: FloatArray, sample: ResidualSample) -> tuple[FloatArray, FloatArray]:
        """Return the vector h at V and its errors, given a sample of the rows; see `Remainder`.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        sample : ResidualSample
            Drawn from these rows, see `residual_sample`.
        """
        return self._remainder.value_and_error(V, *self._residuals(V), sample)

    def residual_sample(self, generator: np.random.Generator, part_rows: int) -> ResidualSample:
        """Draw a sample of the rows for `value_and_error`.

        Parameters
        ----------
        generator : numpy.random.Generator
            Draws it.
        part_rows : int
            Rows of each of its parts.
        """
        return ResidualSample.draw(self.measured, generator, part_rows)

    @single_threaded_blas()
    def evaluate(self, V: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the vector (h_m + offset) and the Euclidean gradient of each entry, in two passes.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.

        Returns
        -------
        values : ndarray of shape (n_measures,)
            The values.
        gradients : ndarray of shape (n_measures, r, d)
            Their gradients with respect to V.
        """
        landmarks, forms = self._landmarks(V), self.measured.comparison.forms
        sums, *slopes = self._total(sums_and_slopes_of_block, V, landmarks)
        coefficients = landmarks.coefficients(sums)
        values = self.measured.by_measure(sums @ coefficients.T) + self.offset
        total = self._total(forces_of_block, V, landmarks, 2 * coefficients, forms)
        of_rows = self.measured.gradients(total, landmarks.rotation)
        forces = _forces_on_landmarks(landmarks, np.stack(slopes), coefficients, forms)
        return values, of_rows + (forces @ self._landmark_rows).transpose(0, 2, 1)

    def gradient_work(self, V: FloatArray) -> float:
        """Return what the gradients at V cost, in multiply-adds of float32.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        """
        d, m = V.shape[1], len(self._landmark_rows)
        columns = (1 + d) * self.measured.comparison.weights.n_columns
        # Two passes in float64, where products take twice as long.
        return float(self.n_rows) * 4 * m * (MAKING + d + columns)

    def _landmarks(self, V: FloatArray) -> Landmarks:
        return Landmarks(self._landmark_rows @ V)

    def _residuals(self, V: FloatArray) -> tuple[Landmarks, Residuals]:
        """Return the landmarks and the sums of what they leave out."""
        landmarks = self._landmarks(V)
        return landmarks, self._total_of(self.measured.comparison.columns, residuals_of_block, V, landmarks)

    def _total(self, function: Callable[..., Partial], V: FloatArray, landmarks: Landmarks, *arguments: Any) -> Partial:
        """Return a sum over the rows with their weights."""
        return self._total_of(self.measured.comparison.weights, function, V, landmarks, *arguments)

    def _total_of(
        self,
        weights: RowWeights,
        function: Callable[..., Partial],
        V: FloatArray,
        landmarks: Landmarks,
        *arguments: Any,
    ) -> Partial:
        """Return a sum over the rows with other weights."""
        frame = self.measured.along(V, landmarks.rotation)
        return self.measured.rows.total(function, weights, frame, landmarks, *arguments)


def _forces_on_landmarks(
    landmarks: Landmarks, slopes: FloatArray, coefficients: FloatArray, forms: FloatArray
) -> FloatArray:
    """Return the gradients of the h_j with respect to the positions of the landmarks, of shape (n_forms, d, m).

    Parameters
    ----------
    landmarks : Landmarks
        The landmarks c.
    slopes : ndarray of shape (d, k, m)
        sum_i w_ib z_ia k(c_l, z_i).
    coefficients : ndarray of shape (k, m)
        a_b = (K_mm + ridge)^-1 u_b, so that u_b - K_mm a_b is the ridge times a_b.
    forms : ndarray of shape (n_forms, k, k)
        P_j.
    """
    of_landmarks = with_moments(coefficients, landmarks)[1:] @ landmarks.gram
    felt = 2 * (slopes - of_landmarks - RIDGE * coefficients * landmarks.points.T[:, None])
    return Factors.of(forms).forces(felt, coefficients)


def _drawn_landmarks(data: MeasuredRows, number: int, generator: np.random.Generator) -> FloatArray:
    """Return different rows of the main body, every stratum with a fair share, in bandwidths."""
    in_bandwidths = data.along(np.eye(data.coordinates.matrix.shape[1]), np.eye(data.coordinates.matrix.shape[1]))
    drawn = data.rows.stratified_draw(number, generator).indices
    landmarks, _ = data.rows.sample(drawn, in_bandwidths.project)
    return np.unique(landmarks[main_body(landmarks)], axis=0)
