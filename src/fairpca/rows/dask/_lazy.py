"""Rows of a Dask table turned into others, computed when its blocks are asked for."""
# SPDX-License-Identifier: MIT

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fairpca._utils.typing import AnyArray
from fairpca.rows._protocol import Transform
from fairpca.rows.dask._finite import refuse_not_finite
from fairpca.rows.dask._kind import is_dask_frame
from fairpca.rows.dask._table import number_dtype


def map_rows_lazily(X: Any, transform: Transform, names: Sequence[str] | AnyArray) -> Any:
    """Return what becomes of the rows of a Dask table, of the kind and with the row chunks that it has.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame of shape (n, p)
        Rows.
    transform : callable
        From rows, an array of shape (n_block, p), to as many of shape (n_block, k).
    names : sequence of k str
        Columns of the result if `X` is a frame; an array has no names.

    Returns
    -------
    Z : dask.array.Array or dask.dataframe.DataFrame of shape (n, k)
        float32 if `X` is, else float64. Nothing is computed; a block with a number that is not finite raises an error
        when it is.
    """
    dtype = number_dtype(X)
    if is_dask_frame(X):
        return X.map_partitions(partial(transform_partition, transform=transform, names=list(names), dtype=dtype))
    chunks = (X.chunks[0], (len(names),))
    work = partial(transform_block, transform=transform, dtype=dtype)
    return X.rechunk({1: -1}).map_blocks(work, dtype=dtype, chunks=chunks)


def transform_block(X: AnyArray, transform: Transform, dtype: "np.dtype[Any]", block_info: Any = None) -> AnyArray:
    """Return what becomes of the rows of a block.

    Parameters
    ----------
    X : ndarray of shape (n_block, p)
        Rows.
    transform : callable
        What to do.
    dtype : dtype
        Type of rows and result.
    block_info : dict, default=None
        Where the block is, from Dask; None while Dask tries the function on rows of its own.
    """
    Z = transform(X.astype(dtype, copy=False)).astype(dtype, copy=False)
    if block_info and not np.isfinite(Z).all():
        refuse_not_finite(X, block_info[0]["chunk-location"][0])
    return Z


def transform_partition(
    frame: Any, transform: Transform, names: list[str], dtype: "np.dtype[Any]", partition_info: Any = None
) -> Any:
    """Return what becomes of the rows of a pandas frame.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows.
    transform : callable
        What to do.
    names : list of str
        Columns of the result.
    dtype : dtype
        Type of rows and result.
    partition_info : dict, default=None
        Which partition this is, from Dask; None while Dask tries the function on rows of its own.
    """
    X = frame.to_numpy(dtype=dtype, na_value=np.nan)
    Z = transform(X).astype(dtype, copy=False)
    if partition_info and not np.isfinite(Z).all():
        refuse_not_finite(X, partition_info["number"], frame.columns)
    return type(frame)(Z, index=frame.index, columns=names)
