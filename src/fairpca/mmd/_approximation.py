"""What many rows ask of a discrepancy that takes time linear in them."""
# SPDX-License-Identifier: MIT

from typing import Protocol

from fairpca._utils.typing import FloatArray
from fairpca.mmd._measurement import Measurement
from fairpca.mmd._two_level import FirstOrderMMD


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
