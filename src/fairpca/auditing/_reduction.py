"""From any reduction and rows to projections, and the fingerprints of both."""
# SPDX-License-Identifier: MIT

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_array, check_is_fitted

from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.data import sums_of_block
from fairpca.release import Release
from fairpca.rows import compressed, compute, dense, is_dask, is_sparse, rows_in_memory

OF_PROJECTIONS = ("components_", "mean_", "scale_", "constant_features_", "n_live_components_")
"""What the projections of this package depend on."""

BLOCK_NUMBERS = 2**20
"""Numbers that are copied at a time."""

SAME = 1e-9
"""Means that agree to this part of the scale are those of the same rows."""


@dataclass(frozen=True)
class Origin:
    """What has to be the same for the same numbers.

    Attributes
    ----------
    model : str or None
        Fingerprint of the reduction, where it has one.
    rows : str or None
        Fingerprint of the rows, where they have one.
    terms : dict
        How people were compared.
    seed : int
        With which permutations, frequencies and samples were drawn.
    training_rows : bool
        Whether the rows look like those of the fit.
    """

    model: str | None
    rows: str | None
    terms: dict[str, Any]
    seed: int
    training_rows: bool


def model_digest(reduction: Any) -> str | None:
    """Return the SHA-256 of all that projections depend on, or None for what a few arrays do not determine.

    Parameters
    ----------
    reduction : Any
        A fitted projection of this package, `PCA`, `IncrementalPCA`, a certified `Release` of cells, a pipeline of such
        steps, or components as rows.
    """
    parts = _parts(reduction)
    if parts is None:
        return None
    digest = hashlib.sha256()
    for name, part in parts.items():
        digest.update(name.encode())
        _add(digest, np.asarray(part))
    return digest.hexdigest()


def rows_digest(X: Any, attached: AnyArray) -> str | None:
    """Return the SHA-256 of rows in their order and of how they are compared; None for tables that are not of numbers.

    It reveals nothing of a single row, but whether all are the same.

    Parameters
    ----------
    X : array-like, or sparse array or matrix, of shape (n, p)
        Rows; sparse ones have the digest of the same rows in an array. Those of Dask would have to be brought
        together: None.
    attached : ndarray of shape (n, k)
        Stratum, mass and attributes of each.
    """
    if is_dask(X):
        return None
    digest = hashlib.sha256()
    try:
        for table in (X.tocsr() if is_sparse(X) else np.asarray(X), attached):
            _add(digest, table)
    except (TypeError, ValueError):
        return None
    return digest.hexdigest()


def _parts(reduction: Any) -> dict[str, Any] | None:
    if isinstance(reduction, Pipeline):
        steps = [_parts(step) for step in reduction]
        known = [step for step in steps if step is not None]
        if len(known) < len(steps):
            return None
        return {f"{k} {name}": part for k, step in enumerate(known) for name, part in step.items()}
    if isinstance(reduction, Release):
        return _parts_of_release(reduction)
    if all(hasattr(reduction, name) for name in OF_PROJECTIONS):
        return {name: getattr(reduction, name) for name in OF_PROJECTIONS}
    if isinstance(reduction, PCA | IncrementalPCA) and hasattr(reduction, "components_"):
        names = ["components_", "mean_"] + ["explained_variance_"] * bool(reduction.whiten)
        return {name: getattr(reduction, name) for name in names}
    if hasattr(reduction, "transform") or isinstance(reduction, str) or not np.iterable(reduction):
        return None
    return {"components_": reduction}


def _parts_of_release(release: Release) -> dict[str, Any] | None:
    if release.kind != "cells" or not hasattr(release, "certificate_"):
        return None
    level = int(np.flatnonzero(release.levels_ == release.level_)[0])
    cells = release.places_.levels[level]
    released = cells if release.output == "codes" else release.places_.values_of(level)[cells]
    return {"centres": release.places_.centres, "cells": cells, "released": released}


def _add(digest: Any, table: Any) -> None:
    """Add the shape and the numbers, as doubles with the lowest byte first: on any machine the same."""
    digest.update(str(table.shape).encode())
    rows = table.reshape(1, -1) if table.ndim < 2 else table
    for block in gen_batches(rows.shape[0], max(1, BLOCK_NUMBERS // max(1, rows.shape[1]))):
        # Zeros of both signs are equal.
        digest.update((dense(rows, block).astype("<f8") + 0.0).tobytes())


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
