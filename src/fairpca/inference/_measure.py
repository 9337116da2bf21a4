"""MMD^2 of projected rows, however many they are."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence

import numpy as np

from fairpca._utils.typing import FloatArray
from fairpca.comparison import Comparison
from fairpca.inference._compared_rows import ComparedRows
from fairpca.mmd import Coordinates, Measurement, features_mmd, kernel_products
from fairpca.rows import ArrayRows, Rows, sum_of_block

PAIRED_ROWS = 20_000
"""Rows up to which all pairs are compared, in a second."""


def measure(
    rows: ComparedRows, bandwidth: float, accuracy: FloatArray, factors: Sequence[float] = (1.0,)
) -> Measurement:
    """Return MMD^2 of each measure: of all pairs up to 20,000 rows, beyond in linear time with bounds on the errors.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        sigma.
    accuracy : ndarray of shape (n_measures,)
        Errors that would be small enough.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    if rows.n_rows <= PAIRED_ROWS:
        return Measurement.exact(mmd2_of_all_pairs(rows, bandwidth, factors))
    return measure_in_blocks(ArrayRows(rows.Z, rows.attached), rows.comparison, bandwidth, accuracy, factors)


def measure_in_blocks(
    rows: Rows,
    comparison: Comparison,
    bandwidth: float,
    accuracy: FloatArray,
    factors: Sequence[float] = (1.0,),
) -> Measurement:
    """Return MMD^2 of each measure in time linear in the rows, with its errors.

    They are exceeded with a probability of about one in a thousand, see `HermiteMMD.value_and_error`.

    Parameters
    ----------
    rows : Rows
        Projected rows, with the stratum of each attached.
    comparison : Comparison
        What is compared.
    bandwidth : float
        sigma.
    accuracy : ndarray of shape (n_measures,)
        Errors that would be small enough.
    factors : sequence of float, default=(1.0,)
        The kernel is the mean of those of bandwidths sigma times these.
    """
    eye = np.eye(rows.n_columns)
    coordinates = Coordinates(rows.total(sum_of_block) / rows.n_rows, eye)
    return features_mmd(rows, coordinates, comparison, bandwidth, factors).measured_at(eye, accuracy)


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
