"""Rows outside the box of a Fourier grid, whose kernel values are computed one by one."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._mixture import Mixture
from fairpca.mmd.exact import inner_differences
from fairpca.mmd.fourier._grid import MOST_OUTLIERS, FourierGrid

CHUNK = 64
"""Outliers at a time, so that their kernel values with the rows of a piece stay in the cache."""


@dataclass(frozen=True)
class Outliers:
    """Rows outside the box; a sum of two is their union.

    Attributes
    ----------
    rows : ndarray of shape (n_out, p)
        Centred rows.
    weights : ndarray of shape (n_out, k)
        Their weights.
    count : int
        How many there are; `rows` holds no more than `MOST_OUTLIERS` of them.
    """

    rows: FloatArray
    weights: FloatArray
    count: int

    @classmethod
    def none(cls, n_features: int, n_weights: int) -> "Outliers":
        """Return no rows, of p features and with `n_weights` weights."""
        return cls(np.empty((0, n_features)), np.empty((0, n_weights)), 0)

    def __add__(self, other: "Outliers") -> "Outliers":
        if not other.count:
            return self
        return Outliers(
            np.concatenate([self.rows, other.rows])[:MOST_OUTLIERS],
            np.concatenate([self.weights, other.weights])[:MOST_OUTLIERS],
            self.count + other.count,
        )

    def positions(self, frame: Coordinates, grid: FourierGrid) -> FloatArray:
        """Return the rows in the axes of the box, of shape (d, n_out), seen from its centre."""
        return frame.matrix.T @ self.rows.T - grid.centre[:, None]


@dataclass(frozen=True)
class Crossing:
    """What rows in the box and outliers feel of each other.

    Attributes
    ----------
    potential : ndarray of shape (k, n)
        sum_o w_ob k(y_i, y_o) at row i for each weight b of the outliers o.
    slopes : ndarray of shape (d, k, n)
        Its gradients by y_i.
    pulls : ndarray of shape (d, k, n_out)
        The gradients by y_o of sum_i w_ib k(y_i, y_o).
    """

    potential: FloatArray
    slopes: FloatArray
    pulls: FloatArray


def crossing(
    Y: FloatArray, weights: FloatArray, Y_out: FloatArray, weights_out: FloatArray, mixture: Mixture
) -> Crossing:
    """Return what rows in the box and outliers feel of each other.

    Parameters
    ----------
    Y : ndarray of shape (d, n)
        Rows in the box.
    weights : ndarray of shape (k, n)
        Their weights.
    Y_out : ndarray of shape (d, n_out)
        Outliers.
    weights_out : ndarray of shape (n_out, k)
        Their weights.
    mixture : Mixture
        The scales of the kernel.
    """
    d, k = len(Y), len(weights)
    potential, slopes, pulls = np.zeros_like(weights), np.zeros((d, k, Y.shape[1])), np.zeros((d, k, Y_out.shape[1]))
    moving = (Y[:, None] * weights).reshape(d * k, -1)
    for chunk in _chunks(Y_out):
        here, on = Y_out[:, chunk], weights_out[chunk].T
        kernel, steep = _kernels(Y, here, mixture, (0, 1))
        potential += on @ kernel
        # Both are sums of K_1 (y_o - y_i).
        slopes += ((here[:, None] * on).reshape(d * k, -1) @ steep).reshape(slopes.shape) - Y[:, None] * (on @ steep)
        pulls[:, :, chunk] = (moving @ steep.T).reshape(d, k, -1) - here[:, None] * (weights @ steep.T)
    return Crossing(potential, slopes, pulls)


def _chunks(Y_out: FloatArray) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, Y_out.shape[1], CHUNK))


def _kernels(Y: FloatArray, Y_out: FloatArray, mixture: Mixture, orders: Sequence[int]) -> list[FloatArray]:
    """Return K_q(y_o, y_i), of shape (n_out, n), of some orders: the rows, of which there are more, are contiguous."""
    exponents = inner_differences(Y_out, Y, Y_out, Y)
    exponents *= -0.5
    return mixture.kernels(exponents, orders)
