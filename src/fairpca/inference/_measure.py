"""MMD^2 of projected rows, however many they are."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.inference._compared_rows import ComparedRows
from fairpca.mmd import Coordinates, FourierMMD, HermiteMMD, Measurement, kernel_products
from fairpca.rows import ArrayRows

PAIRED_ROWS = 20_000
"""Rows up to which all pairs are compared, in a second."""

MOST_FOURIER_COMPONENTS = 3


def measure(rows: ComparedRows, bandwidth: float, accuracy: FloatArray) -> Measurement:
    """Return MMD^2 of each measure: of all pairs up to 20,000 rows, beyond in linear time with bounds on the errors.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    accuracy : ndarray of shape (n_measures,)
        Errors that would be small enough.
    """
    if rows.n_rows <= PAIRED_ROWS:
        return Measurement.exact(mmd2_of_all_pairs(rows, bandwidth))
    Z = ArrayRows(rows.Z, rows.attached)
    d = rows.Z.shape[1]
    coordinates, eye = Coordinates(rows.Z.mean(axis=0), np.eye(d)), np.eye(d)
    if d <= MOST_FOURIER_COMPONENTS:
        fourier = FourierMMD(Z, coordinates, rows.comparison, bandwidth, accuracy=float(accuracy.min()))
        return fourier.measured_at(eye, accuracy)
    return HermiteMMD(Z, coordinates, rows.comparison, bandwidth).measured_at(eye, accuracy)


def mmd2_of_all_pairs(rows: ComparedRows, bandwidth: float, factors: Sequence[float] = (1.0,)) -> FloatArray:
    """Return MMD^2 of each measure, by all pairs of rows.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    squares = np.einsum("ic,ic->c", rows.columns, kernel_products(rows.Z, rows.columns, bandwidth, factors))
    values = np.zeros(rows.comparison.n_measures)
    np.add.at(values, rows.comparison.owner, squares)
    return values
