"""Fingerprints of models and rows: short texts that differ where the numbers do."""
# SPDX-License-Identifier: MIT

import hashlib
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches

from fairpca._utils.typing import AnyArray
from fairpca.release import Release
from fairpca.rows import dense, is_dask, is_sparse

OF_PROJECTIONS = ("components_", "mean_", "scale_", "constant_features_", "n_live_components_")
"""What the projections of this package depend on."""

BLOCK_NUMBERS = 2**20
"""Numbers that are copied at a time."""


def model_digest(reduction: Any) -> str | None:
    """Return the SHA-256 of all that projections depend on, or None for what cannot be told by a few arrays.

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

    It does not tell anything of a single row, but whether all are the same.

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
