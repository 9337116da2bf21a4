"""What is subtracted from the columns of a table and what divides them."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass
from typing import Any

import numpy as np

from fairpca._utils.checks import LARGEST, SMALLEST
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray

LARGEST_ENTRY = 1e300
"""Largest number in a table: sums of many still are numbers."""


@dataclass(frozen=True)
class ColumnRanges:
    """Where the numbers of each column lie, and the type that they came in.

    Attributes
    ----------
    mean, smallest, largest : ndarray of shape (p,)
        Mean, minimum and maximum.
    dtype : dtype
        float32 or float64.
    """

    mean: FloatArray
    smallest: FloatArray
    largest: FloatArray
    dtype: "np.dtype[Any]"

    @property
    def units(self) -> FloatArray:
        """Powers of two just above the largest distance from the mean: squares in these units stay within [0, 1]."""
        reach = np.maximum(self.largest - self.mean, self.mean - self.smallest)
        return np.ldexp(1.0, np.where(reach > 0, np.frexp(reach)[1], 0))

    @property
    def rounding(self) -> FloatArray:
        """How far rounding may have moved the numbers of each column."""
        return float(np.finfo(self.dtype).eps) * np.maximum(np.abs(self.smallest), np.abs(self.largest))

    def check_size(self) -> None:
        """Refuse numbers whose sums would overflow."""
        largest = float(np.maximum(np.abs(self.smallest), np.abs(self.largest)).max())
        if largest > LARGEST_ENTRY:
            raise ValueError(
                f"X has numbers up to {largest:.3g}, beyond {LARGEST_ENTRY:g} sums over rows overflow; divide the "
                "columns by a constant first."
            )

    def constant(self, deviation: FloatArray) -> BoolArray:
        """Tell which columns are constant: what is left of them is rounding in their values, not variance."""
        return (self.smallest == self.largest) | (deviation <= 2 * self.rounding)


@dataclass(frozen=True)
class ColumnScaling:
    """Means and scales.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        What is subtracted and what divides.
    constant : ndarray of shape (p,) of bool
        Columns that are set to 0.
    noise : float
        Root of the sum over columns of the squared rounding of their numbers, in the scaled units: rows cannot differ
        by less in any direction.
    """

    mean: FloatArray
    scale: FloatArray
    constant: BoolArray
    noise: float

    @classmethod
    def of(cls, ranges: ColumnRanges, deviation: FloatArray, standardize: bool) -> "ColumnScaling":
        """Choose the scales.

        Parameters
        ----------
        ranges : ColumnRanges
            Means and ranges.
        deviation : ndarray of shape (p,)
            Standard deviations (divisor n).
        standardize : bool
            Divide the columns by their deviations.
        """
        constant = ranges.constant(deviation)
        if constant.all():
            raise ValueError(_nothing_to_keep(ranges, deviation))
        if not constant.all() and deviation[~constant].min() < np.finfo(np.float64).smallest_normal:
            column = int(np.flatnonzero(~constant & (deviation < np.finfo(np.float64).smallest_normal))[0])
            raise ValueError(
                f"X differs in column {column} by {deviation[column]:.2g}, so little that numbers have lost their "
                "digits; change its unit, or leave it out."
            )
        if standardize:
            scale = np.where(constant, 1.0, deviation)
        else:
            _check_squares(float(deviation[~constant].max()))
            scale = np.ones_like(deviation)
        noise = np.where(constant, 0.0, ranges.rounding / scale)
        return cls(ranges.mean, scale, constant, float(np.linalg.norm(noise)))


def standardized(
    X: AnyArray, standardize: bool, masses: FloatArray | None = None, overwrite: bool = False
) -> tuple[FloatArray, ColumnScaling]:
    """Return the centred, scaled rows in float64, exact zeros in constant columns, and how they were made.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows.
    standardize : bool
        Scale the columns to unit variance.
    masses : ndarray of shape (n,), default=None
        Masses of the rows, all above 0; by default 1.
    overwrite : bool, default=False
        Whether `X` may be lost, which saves a copy.
    """
    rows = X.astype(np.float64, copy=not overwrite)
    smallest, largest = rows.min(axis=0), rows.max(axis=0)
    ColumnRanges(smallest, smallest, largest, X.dtype).check_size()
    mean = np.average(rows, axis=0, weights=masses)
    rows -= mean
    # A mean far from 0 loses digits that the differences from it still have.
    left = np.average(rows, axis=0, weights=masses)
    rows -= left
    ranges = ColumnRanges(mean + left, smallest, largest, X.dtype)
    units = ranges.units
    rows /= units
    squares = np.einsum("ij,ij->j", rows, rows) if masses is None else np.einsum("i,ij,ij->j", masses, rows, rows)
    deviation = np.sqrt(squares / (len(rows) if masses is None else masses.sum()))
    scaling = ColumnScaling.of(ranges, units * deviation, standardize)
    rows[:, scaling.constant] = 0.0
    if standardize:
        rows /= np.where(scaling.constant, 1.0, deviation)
    else:
        rows *= units
    return rows, scaling


def _nothing_to_keep(ranges: ColumnRanges, deviation: FloatArray) -> str:
    if np.all(ranges.smallest == ranges.largest):
        return "X has zero variance in every column; there is nothing to keep."
    return (
        f"X differs in no column by more than rounding: deviations are at most {deviation.max():.2g} around means up "
        f"to {np.abs(ranges.mean).max():.2g}. Subtract what the numbers have in common before they are rounded."
    )


def _check_squares(deviation: float) -> None:
    if not SMALLEST <= deviation <= LARGEST:
        raise ValueError(
            f"X has deviations up to {deviation:.3g}, whose squares are not normal numbers; use standardize=True, or "
            f"units in which they lie between {SMALLEST:g} and {LARGEST:g}."
        )
