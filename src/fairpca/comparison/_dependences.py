"""Continuous attributes: features of the place of each value among all, and how much the rows depend on them."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import FloatArray
from fairpca.comparison._columns import NumberColumn
from fairpca.comparison._comparison import Dependence
from fairpca.comparison._measures import Measure, Segment
from fairpca.comparison._weights import DenseColumns, masses_of
from fairpca.rows import compute, is_dask, strata_of

N_FEATURES = 11
"""Features of the attribute's kernel."""

LEFT_OUT = 3e-6
"""What features leave of k(u, u) = 1, at most, for any u in [0, 1]."""

ATTRIBUTE_BANDWIDTH = (1.0 - math.sqrt(0.5)) / math.sqrt(2.0)
"""s, by the median heuristic: of half of the pairs of numbers in [0, 1] the distance is below 1 - sqrt(1/2)."""

MOST_VALUES = 2**16
"""Values at most that are told apart exactly."""

N_LANDMARKS = 20

N_POINTS = 2048


@dataclass(frozen=True, eq=False)
class Standing:
    """Where a value stands among all: the share of the rows below it, and half of those that equal it.

    Attributes
    ----------
    values : ndarray of shape (k,)
        Distinct values, increasing; of more than `MOST_VALUES` as many, and what lies between is interpolated.
    places : ndarray of shape (k,)
        Where they stand, between 0 and 1.

    Examples
    --------
    >>> standing = Standing.among(np.array([3.0, 10.0, np.nan, 3.0, 5.0]))
    >>> standing.of(np.array([10.0, 5.0, np.nan, 3.0]))
    array([0.875, 0.625,   nan, 0.25 ])
    """

    values: FloatArray
    places: FloatArray

    @classmethod
    def among(cls, values: FloatArray, masses: FloatArray | None = None) -> "Standing":
        """Find where values stand.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers, NaN where there is none; one at least is there.
        masses : ndarray of shape (n,), default=None
            Their masses; by default all are equal.
        """
        counts = ~np.isnan(values) if masses is None else ~np.isnan(values) & (masses > 0)
        distinct, index = np.unique(values[counts], return_inverse=True)
        sums = np.bincount(index.ravel(), None if masses is None else masses[counts], minlength=len(distinct))
        places = (np.cumsum(sums) - sums / 2) / sums.sum()
        if len(distinct) > MOST_VALUES:
            chosen = np.linspace(0, len(distinct) - 1, MOST_VALUES).round().astype(np.int64)
            distinct, places = distinct[chosen], places[chosen]
        return cls(distinct, places)

    def of(self, values: FloatArray) -> FloatArray:
        """Return where numbers stand; NaN stays."""
        return np.where(np.isnan(values), np.nan, np.interp(values, self.values, self.places))


def features_of(places: FloatArray) -> FloatArray:
    """Return features phi with phi(u)'phi(v) = exp(-(u - v)^2 / (2 s^2)) to within `LEFT_OUT`.

    They are the leading principal axes of the kernel on [0, 1], the same for every attribute. What they leave out can
    only lower the independence criterion, by `LEFT_OUT` at most: |C_xr|^2 <= tr C_xx tr C_rr for the covariance of
    rows x and what is left out r, and tr C_xx <= 1.

    Parameters
    ----------
    places : ndarray of shape (n,)
        u in [0, 1].

    Returns
    -------
    features : ndarray of shape (n, N_FEATURES)
        phi(u) of each.
    """
    landmarks, matrix = _landmarks()
    return _kernel(places, landmarks) @ matrix


@cache
def _landmarks() -> tuple[FloatArray, FloatArray]:
    """Return u_l, denser near the ends, and the matrix with phi(u) = k(u, u_l) @ matrix."""
    landmarks = (1.0 - np.cos(np.pi * (np.arange(N_LANDMARKS) + 0.5) / N_LANDMARKS)) / 2
    sizes, vectors = np.linalg.eigh(_kernel(landmarks, landmarks))
    kept = sizes > 1e-13 * sizes[-1]
    spanning = vectors[:, kept] / np.sqrt(sizes[kept])
    points = _kernel((np.arange(N_POINTS) + 0.5) / N_POINTS, landmarks) @ spanning
    axes = np.linalg.eigh(points.T @ points)[1][:, ::-1]
    return landmarks, spanning @ axes[:, :N_FEATURES]


def _kernel(places: FloatArray, landmarks: FloatArray) -> FloatArray:
    return np.exp(-0.5 * ((places[:, None] - landmarks) / ATTRIBUTE_BANDWIDTH) ** 2)


def in_standing(column: NumberColumn, masses: Any) -> NumberColumn:
    """Return where the values of an attribute stand among all; those of a Dask table come together here for that.

    Parameters
    ----------
    column : NumberColumn
        The attribute.
    masses : ndarray, or dask.array.Array, of shape (n, 1), or None
        Masses of rows.
    """
    values, of_rows = column.values, masses
    if is_dask(values):
        values, of_rows = compute(values, of_rows)
    if np.isnan(values).all():
        raise ValueError(f"{column.name or 'sensitive_features'} has no values, all are missing; leave it out.")
    standing = Standing.among(values[:, 0], None if of_rows is None else of_rows[:, 0])
    if len(standing.values) == 1:
        raise ValueError(
            f"{column.name or 'sensitive_features'} has one value only, {standing.values[0]:g}; two are needed."
        )
    if is_dask(column.values):
        return NumberColumn(column.name, column.values.map_blocks(standing.of, dtype=np.float64))
    return NumberColumn(column.name, standing.of(values))


def dependences(
    name: str, position: int, attached: Any, compared_among: Sequence[Segment], least: int
) -> list[Measure]:
    """Return the measures of dependence on a continuous attribute, one for each segment.

    Parameters
    ----------
    name : str
        Its name, or empty.
    position : int
        Where it is among the numbers attached to rows.
    attached : ndarray, or dask.array.Array, of shape (n, k)
        What is attached to rows.
    compared_among : sequence of Segment
        The segments.
    least : int
        Rows that a segment needs.
    """
    rows, masses, features = _feature_sums(attached, position, len(compared_among[0].cells))
    measures = []
    for segment in compared_among:
        total = float(masses[segment.cells].sum())
        n_rows = int(rows[segment.cells].sum())
        if n_rows < least:
            raise ValueError(
                f"{segment.words(name)} has {n_rows} rows with a value; min_group_size={least} are needed."
            )
        means = features[segment.cells].sum(axis=0) / total
        scales = np.append(np.where(segment.cells, 1.0 / total, 0.0), 0.0)
        columns = DenseColumns(position, means, scales)
        label = f"dependence on {name or 'the attribute'}"
        measures.append(Measure(Dependence(label, columns, name), segment.name, "continuous", n_rows, total))
    return measures


def _feature_sums(attached: Any, position: int, n_cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    function = partial(feature_sums_of_block, position=position, n_cells=n_cells)
    if not is_dask(attached):
        return function(attached)
    delayed = require("dask", "dask").delayed(function)
    found = compute(*map(delayed, attached.to_delayed()[:, 0]))
    rows, masses, features = (np.sum(each, axis=0) for each in zip(*found, strict=True))
    return rows, masses, features


def feature_sums_of_block(
    attached: FloatArray, position: int, n_cells: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return rows, masses and sums of features of an attribute, for each cell.

    Parameters
    ----------
    attached : ndarray of shape (n, k)
        What is attached to rows.
    position : int
        Where the attribute is.
    n_cells : int
        Number of cells.
    """
    codes, masses, places = strata_of(attached), masses_of(attached), attached[:, position]
    assert masses is not None
    present = (codes >= 0) & ~np.isnan(places)
    codes, masses = codes[present], masses[present]
    weighted = masses[:, None] * features_of(places[present])
    rows = np.bincount(codes, minlength=n_cells).astype(np.float64)
    sums = [np.bincount(codes, column, minlength=n_cells) for column in weighted.T]
    summed = np.bincount(codes, masses, minlength=n_cells).astype(np.float64)
    return rows, summed, np.stack(sums, axis=1)
