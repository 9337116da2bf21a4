"""From any reduction and rows to projections, the fingerprints of both, and the rows that were in the fit."""
# SPDX-License-Identifier: MIT

import hashlib
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_array, check_is_fitted

from fairpca._utils.checks import why_no_numbers
from fairpca._utils.threads import BLOCK_NUMBERS
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca.data import sums_of_block
from fairpca.release import Release
from fairpca.rows import (
    ArrayRows,
    Overlap,
    SeenRows,
    compressed,
    compute,
    dense,
    is_dask,
    is_sparse,
    key_of,
    table_rows,
)
from fairpca.saving import load_rows

OF_PROJECTIONS = ("components_", "mean_", "scale_", "constant_features_", "n_live_components_")
"""What the projections of this package depend on."""

NO_MATTER = {"random_state", "n_jobs", "verbose", "memory", "copy"}
"""Parameters on which no projection of a fitted estimator depends."""


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
    overlap : Overlap or None
        How many of the rows were in the fit; None where that could not be checked.
    """

    model: str | None
    rows: str | None
    terms: dict[str, Any]
    seed: int
    overlap: Overlap | None

    @property
    def training_rows(self) -> bool:
        """Whether too many of the rows were in the fit."""
        return self.overlap is not None and self.overlap.too_many


def model_digest(reduction: Any) -> str | None:
    """Return the SHA-256 of all that projections depend on, or None for what no numbers and texts determine.

    Parameters
    ----------
    reduction : Any
        A fitted projection of this package, `PCA`, `IncrementalPCA`, a certified `Release` without noise, a pipeline of
        such steps, components as rows, or another fitted estimator of scikit-learn, by its parameters and all it has
        learned.
    """
    digest = hashlib.sha256()
    try:
        for name, part in _parts(reduction).items():
            digest.update(name.encode())
            _add_value(digest, part)
    except (TypeError, ValueError, NotFittedError):
        return None
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


def _parts(reduction: Any) -> dict[str, Any]:
    """Return what projections depend on, by names; a TypeError where that is not known."""
    if isinstance(reduction, Pipeline):
        return {f"{k} {name}": part for k, step in enumerate(reduction) for name, part in _parts(step).items()}
    if isinstance(reduction, Release):
        return _parts_of_release(reduction)
    if all(hasattr(reduction, name) for name in OF_PROJECTIONS):
        return {name: np.asarray(getattr(reduction, name)) for name in OF_PROJECTIONS}
    if isinstance(reduction, PCA | IncrementalPCA) and hasattr(reduction, "components_"):
        names = ["components_", "mean_"] + ["explained_variance_"] * bool(reduction.whiten)
        return {name: getattr(reduction, name) for name in names}
    if isinstance(reduction, BaseEstimator):
        check_is_fitted(reduction)
        return {type(reduction).__qualname__: reduction}
    if hasattr(reduction, "transform") or isinstance(reduction, str) or not np.iterable(reduction):
        raise TypeError
    return {"components_": np.asarray(reduction)}


def _parts_of_release(release: Release) -> dict[str, Any]:
    if release.kind == "noise" or not hasattr(release, "certificate_"):
        raise TypeError
    level = int(np.flatnonzero(release.levels_ == release.level_)[0])
    cells = release.places_.levels[level]
    released = cells if release.output == "codes" else release.places_.values_of(level)[cells]
    parts = {"centres": release.places_.centres, "cells": cells, "released": released}
    scores = release.places_.scores
    if scores is not None:
        parts |= {"quantiles": scores.quantiles, "trees": [list(vars(trees).values()) for trees in scores.models]}
    return parts


def _add_value(digest: Any, value: Any) -> None:
    """Add a value of an estimator; a TypeError for what is no number, text, array or estimator, nor made of such."""
    if isinstance(value, BaseEstimator):
        learned = {name: part for name, part in vars(value).items() if name.endswith("_") and name[0] != "_"}
        chosen = {name: part for name, part in value.get_params(deep=False).items() if name not in NO_MATTER}
        value = {"": f"{type(value).__module__}.{type(value).__qualname__}"} | chosen | learned
    if isinstance(value, dict):
        value = [part for name in sorted(value, key=repr) for part in (repr(name), value[name])]
    if is_sparse(value) or (isinstance(value, np.ndarray) and value.dtype.kind in "fiub"):
        _add(digest, value.tocsr() if is_sparse(value) else value)
    elif isinstance(value, list | tuple | np.ndarray):
        digest.update(f"[{len(value)}]".encode())
        for part in value:
            _add_value(digest, part)
    elif value is None or isinstance(value, bool | int | float | str | slice | np.generic):
        digest.update(repr(value.item() if isinstance(value, np.generic) else value).encode())
    elif isinstance(value, type):
        digest.update(f"{value.__module__}.{value.__qualname__}".encode())
    else:
        raise TypeError(f"{type(value).__name__} has no fingerprint.")


def _add(digest: Any, table: Any) -> None:
    """Add the shape and the numbers, as doubles with the lowest byte first: on any machine the same."""
    digest.update(str(table.shape).encode())
    rows = table if is_sparse(table) or table.ndim == 2 else table.reshape(1, -1)
    for block in gen_batches(rows.shape[0], max(1, BLOCK_NUMBERS // max(1, rows.shape[1]))):
        # Zeros of both signs are equal.
        digest.update((dense(rows, block).astype("<f8") + 0.0).tobytes())


def projections(reduction: Any, X: Any, least: int = 2) -> FloatArray:
    """Return the rows after a reduction, in memory.

    Parameters
    ----------
    reduction : fitted transformer, array-like of shape (n_components, n_features) or None
        What reduces; an array holds components as rows, like `components_`; None says that `X` is reduced already.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        Rows.
    least : int, default=2
        How many there must be.
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
    try:
        Z: FloatArray = check_array(reduced, dtype=np.float64, input_name="the reduced rows", ensure_min_samples=least)
    except (ValueError, TypeError) as error:
        raise why_no_numbers(reduced, error) from None
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
    steps = steps_of(reduction)[::-1]
    return next((getattr(step, name) for step in steps if hasattr(step, name)), default)


def steps_of(reduction: Any) -> list[Any]:
    """Return the steps of a pipeline, or what is no pipeline as the only one.

    Parameters
    ----------
    reduction : Any
        What reduces.
    """
    return [step for _, step in reduction.steps] if isinstance(reduction, Pipeline) else [reduction]


def overlap_of(reduction: Any, X: Any, fitted_rows: Any = None) -> Overlap | None:
    """Return how many rows were in the fit of a reduction, or None where nobody knows.

    Parameters
    ----------
    reduction : Any
        What reduces: a fit of this package knows its rows, one that was loaded does not.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        Rows.
    fitted_rows : array-like of shape (m, p), path or SeenRows, default=None
        The rows of the fit, where it does not know them, or the file beside its model.
    """
    if fitted_rows is not None and not isinstance(fitted_rows, str | os.PathLike | SeenRows):
        return SeenRows.of(table_rows(fitted_rows), b"").overlap(X)
    steps = steps_of(reduction)
    known = [getattr(step, "_seen_rows", None) for step in steps]
    if fitted_rows is not None:
        seen = fitted_rows if isinstance(fitted_rows, SeenRows) else load_rows(fitted_rows)
        known = [seen if hasattr(step, "mean_") and key_of(step.mean_) == seen.key else None for step in steps]
        if not any(known):
            raise ValueError(f"fitted_rows: {fitted_rows} belongs to another model than this one.")
    for k, found in enumerate(known):
        if found is not None:
            return found.overlap(X if k == 0 else reduction[:k].transform(X))
    n_rows = np.shape(X)[0]
    return Overlap(n_rows, n_rows, 0.0, 1.0, 1.0) if _looks_like_training_rows(steps[0], X) else None


def _looks_like_training_rows(reduction: Any, X: Any, same: float = 1e-9) -> bool:
    """Tell whether rows have the number and the means, up to rounding, of those that a reduction was fitted to."""
    mean, n_rows = getattr(reduction, "mean_", None), getattr(reduction, "n_samples_", None)
    if mean is None or is_dask(X) or np.shape(X)[0] != n_rows:
        return False
    # No copy: the table may be mapped from a file.
    rows = ArrayRows(compressed(X) if is_sparse(X) else np.asarray(X), np.empty((n_rows, 0)))
    ranges = rows.total(sums_of_block).ranges
    scale = np.maximum(np.abs(ranges.smallest), np.abs(ranges.largest))
    return bool(np.all(np.abs(ranges.mean - mean) <= same * np.maximum(scale, 1e-300)))
