"""Discrepancies with what is known of their errors."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray


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
