"""The projection of a Dask table, computed when its blocks are asked for."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairpca._typing import AnyArray, FloatArray
from fairpca.rows._dask_kind import is_dask_frame
from fairpca.rows._dask_table import number_dtype


@dataclass(frozen=True, eq=False)
class Projection:
    """z = V'((x - mean) / scale).

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        What is subtracted from and divides the columns.
    components : ndarray of shape (d, p)
        V'.
    dtype : dtype
        Type of the result.
    """

    mean: FloatArray
    scale: FloatArray
    components: FloatArray
    dtype: "np.dtype[Any]"


def project_lazily(
    X: Any, mean: FloatArray, scale: FloatArray, components: FloatArray, names: Sequence[str] | AnyArray
) -> Any:
    """Return the projections of a Dask table, of the kind and with the row chunks that it has; nothing is computed.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.
    mean, scale : ndarray of shape (p,)
        What is subtracted from and divides the columns.
    components : ndarray of shape (d, p)
        V'.
    names : sequence of d str
        Columns of the result if `X` is a frame; an array has no names.

    Returns
    -------
    Z : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
        float32 if `X` is, else float64.
    """
    n_columns = len(X.columns) if is_dask_frame(X) else X.shape[1]
    if n_columns != len(mean):
        raise ValueError(f"X has {n_columns} columns; the projection was fitted to {len(mean)}.")
    projection = Projection(mean, scale, components, number_dtype(X))
    if is_dask_frame(X):
        return X.map_partitions(partial(project_partition, projection=projection, names=list(names)))
    chunks = (X.chunks[0], (len(components),))
    project = partial(project_block, projection=projection)
    return X.rechunk({1: -1}).map_blocks(project, dtype=projection.dtype, chunks=chunks)


def project_block(X: AnyArray, projection: Projection) -> AnyArray:
    """Return the projections of rows.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    projection : Projection
        What to do.
    """
    Z = ((X - projection.mean) / projection.scale) @ projection.components.T
    return Z.astype(projection.dtype, copy=False)


def project_partition(frame: Any, projection: Projection, names: list[str]) -> Any:
    """Return the projections of a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows.
    projection : Projection
        What to do.
    names : list of str
        Columns of the result.
    """
    Z = project_block(frame.to_numpy(dtype=projection.dtype, na_value=np.nan), projection)
    return type(frame)(Z, index=frame.index, columns=names)
