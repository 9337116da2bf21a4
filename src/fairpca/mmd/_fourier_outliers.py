"""Rows outside the box of a Fourier grid, whose kernel values are computed one by one."""
# SPDX-License-Identifier: MIT

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fairpca._typing import FloatArray
from fairpca.mmd._coordinates import Coordinates
from fairpca.mmd._fourier_grid import MOST_OUTLIERS, FourierGrid
from fairpca.mmd._gaussian import inner_differences

CHUNK = 64
"""Outliers at a time, so that their kernel values with the rows of a piece stay in the cache."""


@dataclass(frozen=True)
class Outliers:
    """Rows outside the box; a sum of two is their union.

    Attributes
    ----------
    rows : ndarray of shape (k, p)
        Centred rows.
    weights : ndarray of shape (k, n_columns)
        Their weights.
    count : int
        How many there are; `rows` holds no more than `MOST_OUTLIERS` of them.
    """

    rows: FloatArray
    weights: FloatArray
    count: int

    @classmethod
    def none(cls, n_features: int, n_columns: int) -> "Outliers":
        """Return no rows, of p features and with `n_columns` weights."""
        return cls(np.empty((0, n_features)), np.empty((0, n_columns)), 0)

    def __add__(self, other: "Outliers") -> "Outliers":
        if not other.count:
            return self
        return Outliers(
            np.concatenate([self.rows, other.rows])[:MOST_OUTLIERS],
            np.concatenate([self.weights, other.weights])[:MOST_OUTLIERS],
            self.count + other.count,
        )

    def positions(self, frame: Coordinates, grid: FourierGrid) -> FloatArray:
        """Return the rows in the axes of the box, of shape (d, k), seen from its centre."""
        return frame.matrix.T @ self.rows.T - grid.centre[:, None]


def cross_values(Y: FloatArray, weights: FloatArray, Y_out: FloatArray, weights_out: FloatArray) -> FloatArray:
    """Return sum_io w_ic k(y_i, y_o) w_oc over rows i in the box and outliers o, for each column c.

    Parameters
    ----------
    Y : ndarray of shape (d, n)
        Rows in the box.
    weights : ndarray of shape (n_columns, n)
        Their weights.
    Y_out : ndarray of shape (d, k)
        Outliers.
    weights_out : ndarray of shape (k, n_columns)
        Their weights.
    """
    values = np.zeros(len(weights))
    for chunk in _chunks(Y_out):
        values += _column_sums(_kernel(Y, Y_out[:, chunk]), weights, weights_out[chunk])
    return values


def cross_forces(
    Y: FloatArray, weights: FloatArray, Y_out: FloatArray, weights_out: FloatArray, scales: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the `cross_values` v_c, and the gradient of 2 sum_c lambda_c v_c by the y_i and by the y_o.

    Parameters
    ----------
    Y, weights, Y_out, weights_out : ndarray
        See `cross_values`.
    scales : ndarray of shape (n_columns,)
        The multiplier of each column.
    """
    values, inside, outside = np.zeros(len(weights)), np.zeros_like(Y), np.zeros_like(Y_out)
    for chunk in _chunks(Y_out):
        kernel = _kernel(Y, Y_out[:, chunk])
        values += _column_sums(kernel, weights, weights_out[chunk])
        kernel *= (-2.0 * scales * weights_out[chunk]) @ weights
        _add_forces(inside, outside[:, chunk], kernel, Y, Y_out[:, chunk])
    return values, inside, outside


def cross_force_rates(
    Y: FloatArray,
    weights: FloatArray,
    Y_out: FloatArray,
    weights_out: FloatArray,
    scales: FloatArray,
    rate: FloatArray,
    rate_out: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the rates of change of the gradients of `cross_forces` when the rows move.

    Parameters
    ----------
    Y, weights, Y_out, weights_out, scales : ndarray
        See `cross_forces`.
    rate : ndarray of shape (d, n)
        Velocities of the rows in the box.
    rate_out : ndarray of shape (d, k)
        Velocities of the outliers.
    """
    inside, outside = np.zeros_like(Y), np.zeros_like(Y_out)
    for chunk in _chunks(Y_out):
        here, velocity = Y_out[:, chunk], rate_out[:, chunk]
        pulls = (-2.0 * scales * weights_out[chunk]) @ weights * _kernel(Y, here)
        _add_forces(inside, outside[:, chunk], pulls, rate, velocity)
        # The rate of k is -k (y_o - y_i).(y'_o - y'_i).
        _add_forces(inside, outside[:, chunk], -pulls * inner_differences(here, Y, velocity, rate), Y, here)
    return inside, outside


def _chunks(Y_out: FloatArray) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, Y_out.shape[1], CHUNK))


def _kernel(Y: FloatArray, Y_out: FloatArray) -> FloatArray:
    """Return k(y_o, y_i), of shape (k, n): the rows, of which there are more, are contiguous."""
    squares = inner_differences(Y_out, Y, Y_out, Y)
    squares *= -0.5
    return np.exp(squares, out=squares)


def _column_sums(kernel: FloatArray, weights: FloatArray, weights_out: FloatArray) -> FloatArray:
    return np.einsum("oc,oc->c", kernel @ weights.T, weights_out)


def _add_forces(inside: FloatArray, outside: FloatArray, pulls: FloatArray, Y: FloatArray, Y_out: FloatArray) -> None:
    """Add sum_o pull_oi (y_i - y_o) and sum_i pull_oi (y_o - y_i)."""
    inside += pulls.sum(axis=0) * Y - Y_out @ pulls
    outside += pulls.sum(axis=1) * Y_out - Y @ pulls.T
