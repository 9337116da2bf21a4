"""Products with Gaussian kernel matrices that are never stored.

The compiled loops are used where a compiler was there at install time, numpy otherwise: the results agree to
rounding, and no other module knows which one runs.
"""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from functools import partial

import numpy as np

from fairpca._threads import run_all
from fairpca._typing import AnyArray, FloatArray
from fairpca.mmd._tiles import LANES, strip_products, symmetric_products

try:
    from fairpca.mmd import _native
except ImportError:
    NATIVE = False
else:
    NATIVE = True

SMALL = 2_000_000
"""Kernel values times columns below which one thread is as fast as two: waking another takes as long."""

MANY_COLUMNS = 48
"""Above this many right-hand sides BLAS on strips of K beats the compiled loop."""


def gaussian_products(Z: AnyArray, operand: AnyArray) -> AnyArray:
    """Return K @ operand with K_ij = exp(-|z_i - z_j|^2 / 2).

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Centred rows in units of the bandwidth.
    operand : ndarray of shape (n, n_columns)
        Right-hand sides. Many columns in float32 are multiplied in float32.

    Returns
    -------
    product : ndarray of shape (n, n_columns)
        K @ operand, in O(n) memory for each column.
    """
    if operand.shape[1] > MANY_COLUMNS:
        return strip_products(_GaussianTiles(Z).fill, operand)
    if NATIVE:
        return _native_products(Z.astype(np.float64, copy=False), operand.astype(np.float64, copy=False))
    return symmetric_products(_GaussianTiles(Z).fill, [operand])[0]


def kernel_products(rows: FloatArray, operand: FloatArray, bandwidth: float) -> FloatArray:
    """Return K @ operand with K_ij = exp(-|x_i - x_j|^2 / (2 sigma^2)) for rows in their own units.

    Parameters
    ----------
    rows : ndarray of shape (n, d)
        Rows x_i.
    operand : ndarray of shape (n, n_columns)
        Right-hand sides.
    bandwidth : float
        sigma.
    """
    # Centring loses no digits of the distances to large means.
    return gaussian_products((rows - rows.mean(axis=0)) / bandwidth, operand)


def gaussian_rate_products(
    Z: FloatArray, Z_rate: FloatArray, operand: FloatArray, rate_operand: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return K @ operand and (K * M) @ rate_operand with M_ij = (z_i - z_j).(z'_i - z'_j).

    -K * M is the rate of change of K when the rows z move with velocities z'.

    Parameters
    ----------
    Z, Z_rate : ndarray of shape (n, d)
        Centred rows in units of the bandwidth, and their velocities.
    operand, rate_operand : ndarray of shape (n, n_columns)
        Right-hand sides of the two products.
    """
    plain, changed = symmetric_products(_GaussianRateTiles(Z, Z_rate).fill, [operand, rate_operand])
    return plain, changed


def _native_products(Z: FloatArray, operand: FloatArray) -> FloatArray:
    n, n_columns = operand.shape
    sums = np.zeros((LANES, n_columns, n))
    arguments = (np.ascontiguousarray(Z.T), _half_squares(Z), np.ascontiguousarray(operand.T))
    lanes = [partial(_native.gaussian_lane, *arguments, sums[lane], lane, LANES) for lane in range(LANES)]
    run_all(lanes, most_threads=1 if n * n * n_columns < SMALL else None)
    return sums.sum(axis=0).T


def _half_squares(Z: FloatArray) -> FloatArray:
    half: FloatArray = -0.5 * np.einsum("ij,ij->i", Z, Z)
    return half


class _GaussianTiles:
    """Tiles of K. The exponent -|z_i - z_j|^2 / 2 is one matrix product of rows extended by their squared norms."""

    def __init__(self, Z: FloatArray) -> None:
        half = _half_squares(Z)[:, None]
        ones = np.ones_like(half)
        self._left = np.hstack([Z, half, ones])
        self._right = np.hstack([Z, ones, half])

    def fill(self, rows: slice, columns: slice, tiles: Sequence[FloatArray]) -> None:
        np.matmul(self._left[rows], self._right[columns].T, out=tiles[0])
        if NATIVE and tiles[0].dtype == np.float64:
            _native.exp_inplace(tiles[0])
        else:
            np.exp(tiles[0], out=tiles[0])


class _GaussianRateTiles(_GaussianTiles):
    """Tiles of K and of K * M."""

    def __init__(self, Z: FloatArray, Z_rate: FloatArray) -> None:
        super().__init__(Z)
        inner = np.einsum("ij,ij->i", Z, Z_rate)[:, None]
        ones = np.ones_like(inner)
        self._left_rate = np.hstack([-Z, -Z_rate, inner, ones])
        self._right_rate = np.hstack([Z_rate, Z, ones, inner])

    def fill(self, rows: slice, columns: slice, tiles: Sequence[FloatArray]) -> None:
        super().fill(rows, columns, tiles)
        np.matmul(self._left_rate[rows], self._right_rate[columns].T, out=tiles[1])
        np.multiply(tiles[0], tiles[1], out=tiles[1])
