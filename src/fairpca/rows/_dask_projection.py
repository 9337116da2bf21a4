"""The projection of a Dask table, computed when its blocks are asked for."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fairpca._typing import AnyArray, FloatArray
from fairpca.rows._dask_finite import refuse_not_finite
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
        Rows, with the columns that the projection was fitted to.
    mean, scale : ndarray of shape (p,)
        What is subtracted from and divides the columns.
    components : ndarray of shape (d, p)
        V'.
    names : sequence of d str
        Columns of the result if `X` is a frame; an array has no names.

    Returns
    -------
    Z : dask.array.Array or dask.dataframe.DataFrame of shape (n, d)
        float32 if `X` is, else float64. A block with a number that is not finite raises an error when it is computed.
    """
    projection = Projection(mean, scale, components, number_dtype(X))
    if is_dask_frame(X):
        return X.map_partitions(partial(project_partition, projection=projection, names=list(names)))
    chunks = (X.chunks[0], (len(components),))
    project = partial(project_block, projection=projection)
    return X.rechunk({1: -1}).map_blocks(project, dtype=projection.dtype, chunks=chunks)


def project_block(X: AnyArray, projection: Projection, block_info: Any = None) -> AnyArray:
    """Return the projections of rows.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    projection : Projection
        What to do.
    block_info : dict, default=None
        Where the block is, from Dask; None while Dask tries the function on rows of its own.
    """
    Z = _projected(X, projection)
    if block_info and not np.isfinite(Z).all():
        refuse_not_finite(X, block_info[0]["chunk-location"][0])
    return Z


def project_partition(frame: Any, projection: Projection, names: list[str], partition_info: Any = None) -> Any:
    """Return the projections of a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows.
    projection : Projection
        What to do.
    names : list of str
        Columns of the result.
    partition_info : dict, default=None
        Which partition this is, from Dask; None while Dask tries the function on rows of its own.
    """
    X = frame.to_numpy(dtype=projection.dtype, na_value=np.nan)
    Z = _projected(X, projection)
    if partition_info and not np.isfinite(Z).all():
        refuse_not_finite(X, partition_info["number"], frame.columns)
    return type(frame)(Z, index=frame.index, columns=names)


def _projected(X: AnyArray, projection: Projection) -> AnyArray:
    Z = ((X - projection.mean) / projection.scale) @ projection.components.T
    return Z.astype(projection.dtype, copy=False)
