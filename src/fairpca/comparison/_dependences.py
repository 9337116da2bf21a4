"""Continuous attributes: where rows stand in them, and how much the rows depend on that."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.extras import require
from fairpca._utils.typing import FloatArray
from fairpca.comparison._attribute import Standing, features_of
from fairpca.comparison._columns import NumberColumn
from fairpca.comparison._comparison import Dependence
from fairpca.comparison._measures import Measure, Segment
from fairpca.comparison._row_weights import DenseColumns, masses_of
from fairpca.rows import compute, is_dask, strata_of


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
