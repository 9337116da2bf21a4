"""Products of cosines and sines of projected rows, never stored for more than a few rows."""
# SPDX-License-Identifier: MIT

import math
from functools import reduce

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd.fourier._grid import FourierGrid


class FourierFeatures:
    r"""Sums over rows of tensors of features, and of features against tensors.

    With psi_a(z) the cosines and sines of coordinate a, a feature of a row is a product of one entry of each psi_a.
    Tensors have the shape (n, D_last, D_others): the last coordinate against all others, so that a sum over rows
    is one matrix product.

    Parameters
    ----------
    grid : FourierGrid
        The frequencies.
    """

    def __init__(self, grid: FourierGrid) -> None:
        self._grid = grid
        self._sizes = [2 * (int(highest) + 1) for highest in grid.highest]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape (D_last, D_others) of a tensor."""
        return self._sizes[-1], math.prod(self._sizes[:-1])

    @property
    def height(self) -> int:
        """Rows to work on at a time.

        Their features stay in the cache that the cores share. Fewer rows would fit the cache of one core, but then
        threads wait for each other's interpreter lock, which every short operation takes.
        """
        return max(64, min(8192, 2**19 // sum(self.shape)))

    def coefficients(self) -> FloatArray:
        """Return the tensor of products of the g_k, the mean over scales: the weights of the squared moments in h."""
        return np.mean([self._coefficients_of(rate) for rate in self._grid.mixture.rates], axis=0)

    def _coefficients_of(self, rate: float) -> FloatArray:
        first, *others = (np.repeat(self._grid.coefficients(a, rate), 2) for a in self._axes)
        return np.multiply.outer(first, reduce(np.multiply.outer, others, np.ones(1))).reshape(self.shape)

    def moments(self, Y: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the tensors sum_i w_ic psi_1(y_i) x ... x psi_d(y_i).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Rows in the axes of the box.
        weights : ndarray of shape (n_columns, n)
            The w_ic.
        """
        return self._grid.recipe.moments(Y, weights)

    def gradients(self, Y: FloatArray, tensors: FloatArray) -> FloatArray:
        """Return the gradients of the sums of each tensor times the features at each row, of shape (d, n_tensors, n).

        Parameters
        ----------
        Y : ndarray of shape (d, n)
            Rows in the axes of the box.
        tensors : ndarray of shape (n_tensors, D_last, D_others)
            Coefficients.
        """
        return self._grid.recipe.slopes(Y, tensors)

    @property
    def _axes(self) -> list[int]:
        """The order of the coordinates in a tensor."""
        d = len(self._sizes)
        return [d - 1, *range(d - 1)]
