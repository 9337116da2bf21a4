"""From what features know of MMD^2 to all of it, with the error of that."""
# SPDX-License-Identifier: MIT

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._coordinates import MeasuredRows
from fairpca.mmd._measurement import Measurement
from fairpca.mmd.residual._sample import N_PARTS, ResidualSample
from fairpca.mmd.residual._sums import Features, Residuals

PART_ROWS = (1024, 4096, 16384)
"""Rows of the parts of the sample that tells what features leave out: the next where one is too few."""

LEAST_SHARE = 16
"""A sample that stands for the residuals of all rows has one in so many: it takes no longer than a pass over them."""


class Remainder:
    """What features leave out of the discrepancies of rows: bounded, or estimated on samples that are drawn once.

    Parameters
    ----------
    data : MeasuredRows
        The rows.
    seed : int
        Draws the samples.
    """

    def __init__(self, data: MeasuredRows, seed: int) -> None:
        self._data = data
        self._seed = seed
        self._samples: dict[int, ResidualSample] = {}

    def value_and_bound(self, sums: Residuals) -> tuple[FloatArray, FloatArray]:
        r"""Return the best estimate of the vector h without a sample and bounds on its errors.

        With the residual r_i = 1 - \|Phi(z_i)\|^2 of the kernel at each row the estimate is h_D + sum_i w_i^2 r_i,
        exact on the diagonal. Since the rest of the kernel is positive semidefinite, the exact h is at least h_D and at
        most h_D + (sum_i \|w_i\| sqrt(r_i))^2.

        Parameters
        ----------
        sums : Residuals
            Those of all rows, for each column.
        """
        least, diagonal, most = self._range(sums)
        estimate = least + diagonal
        return estimate, np.maximum(estimate - least, most - estimate)

    def value_and_error(
        self, V: FloatArray, features: Features, sums: Residuals, sample: ResidualSample
    ) -> tuple[FloatArray, FloatArray]:
        """Return the vector h and its errors, exceeded with a probability of about one in a thousand.

        What the features leave out off the diagonal is computed for the rows where it can be most, and estimated on a
        sample for the others.

        Parameters
        ----------
        V : ndarray of shape (r, d)
            Loading matrix.
        features : Features
            The features there.
        sums : Residuals
            Those of all rows, for each column.
        sample : ResidualSample
            Drawn from these rows.
        """
        least, diagonal, most = self._range(sums)
        left_out, errors = map(self._data.sum_of_columns, sample.estimate(V, features, sums.heavy))
        values = np.clip(least + diagonal + left_out, least, most)
        return values, np.minimum(errors, np.maximum(values - least, most - values))

    def measured(self, V: FloatArray, features: Features, sums: Residuals, error: FloatArray) -> Measurement:
        """Return the vector h with its errors, from a larger sample where they exceed `error`; see `value_and_error`.

        Parameters
        ----------
        V, features, sums
            See `value_and_error`.
        error : ndarray of shape (n_measures,)
            What errors are small enough.
        """
        for part_rows in PART_ROWS:
            measured = Measurement(*self.value_and_error(V, features, sums, self._sample(part_rows)))
            if np.all(measured.errors <= error):
                break
        return measured

    def estimated(self, V: FloatArray, features: Features, moments: FloatArray) -> Measurement:
        """Return the vector h with its errors, without a look at the residuals of all rows; see `value_and_error`.

        Parameters
        ----------
        V, features
            See `value_and_error`.
        moments : ndarray of shape (n_columns, D)
            The sums of the features over all rows, for each column.
        """
        enough = self._data.rows.n_rows / (N_PARTS * LEAST_SHARE)
        sample = self._sample(next((rows for rows in PART_ROWS if rows >= enough), PART_ROWS[-1]))
        return Measurement(*self.value_and_error(V, features, sample.residuals(V, features, moments), sample))

    def _sample(self, part_rows: int) -> ResidualSample:
        """Return the sample with so many rows in a part."""
        if part_rows not in self._samples:
            generator = np.random.default_rng([self._seed, part_rows])
            self._samples[part_rows] = ResidualSample.draw(self._data, generator, part_rows)
        return self._samples[part_rows]

    def _range(self, sums: Residuals) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the least each h_j can be, what the residual's diagonal adds, and the most it can be."""
        least = self._data.sum_of_columns(np.einsum("cf,cf->c", sums.moments, sums.moments))
        most = least + self._data.sum_of_columns(sums.spread**2)
        return least, self._data.sum_of_columns(sums.diagonal), most
