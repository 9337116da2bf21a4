"""From any reduction and rows to projections."""
# SPDX-License-Identifier: MIT

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted

from fairpca._utils.typing import FloatArray
from fairpca.data import sums_of_block
from fairpca.rows import compressed, compute, dense, is_dask, is_sparse, rows_in_memory

SAME = 1e-9
"""Means that agree to this part of the scale are those of the same rows."""


def projections(reduction: Any, X: Any) -> FloatArray:
    """Return the rows after a reduction, in memory.

    Parameters
    ----------
    reduction : fitted transformer, array-like of shape (n_components, n_features) or None
        What reduces; an array holds components as rows, like `components_`; None says that `X` is reduced already.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        Rows.
    """
    if reduction is None:
        reduced = X
    elif hasattr(reduction, "transform"):
        check_is_fitted(reduction)
        reduced = reduction.transform(X)
    else:
        reduced = _product(reduction, X)
    if is_dask(reduced):
        (reduced,) = compute(reduced)
    if is_sparse(reduced):
        reduced = dense(compressed(reduced))
    Z: FloatArray = check_array(reduced, dtype=np.float64, input_name="the reduced rows", ensure_min_samples=2)
    return Z


def _product(reduction: Any, X: Any) -> Any:
    if isinstance(reduction, (str, bytes)) or not np.iterable(reduction):
        raise TypeError(
            f"reduction must be a fitted transformer, an array of components or None for reduced rows; got "
            f"{type(reduction).__name__}."
        )
    components = check_array(reduction, dtype=np.float64, input_name="reduction")
    rows = X if is_dask(X) else _table(X)
    if components.shape[1] != rows.shape[1]:
        raise ValueError(
            f"reduction has shape {components.shape}, but X has {rows.shape[1]} columns: its rows are components, "
            "(n_components, n_features), like components_."
        )
    return rows @ components.T


def _table(X: Any) -> Any:
    return compressed(X) if is_sparse(X) else check_array(X, dtype=np.float64, input_name="X")


def learned(reduction: Any, name: str, default: Any = None) -> Any:
    """Return an attribute of a reduction, of a pipeline that of the last step that has it.

    Parameters
    ----------
    reduction : Any
        What reduces.
    name : str
        Of the attribute.
    default : Any, default=None
        Where there is none.
    """
    steps = [step for _, step in reduction.steps[::-1]] if isinstance(reduction, Pipeline) else [reduction]
    return next((getattr(step, name) for step in steps if hasattr(step, name)), default)


def looks_like_training_rows(reduction: Any, X: Any) -> bool:
    """Tell whether rows have the number and the means of those that a reduction was fitted to.

    Parameters
    ----------
    reduction : Any
        What reduces.
    X : array-like, or sparse array or matrix, of shape (n, p)
        Rows.
    """
    if isinstance(reduction, Pipeline):
        reduction = reduction[0]
    mean, n_rows = getattr(reduction, "mean_", None), getattr(reduction, "n_samples_", None)
    if mean is None or is_dask(X) or np.shape(X)[0] != n_rows:
        return False
    # No copy: the table may be mapped from a file.
    rows = rows_in_memory(compressed(X) if is_sparse(X) else np.asarray(X), np.empty((n_rows, 0)))
    ranges = rows.total(sums_of_block).ranges
    scale = np.maximum(np.abs(ranges.smallest), np.abs(ranges.largest))
    return bool(np.all(np.abs(ranges.mean - mean) <= SAME * np.maximum(scale, 1e-300)))
