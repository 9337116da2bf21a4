"""The reduction that a fair one is compared with, and how much of the variance each keeps."""
# SPDX-License-Identifier: MIT

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.utils import gen_batches

from fairpca._utils.typing import FloatArray
from fairpca.auditing import projections
from fairpca.rows import dense, is_sparse
from fairpca.solvers import Status

PLAIN = "Plain PCA"
_PLAIN = (Status.PCA_IS_FAIR, Status.NO_SENSITIVE_FEATURES)


def spread_of(model: Any, X: Any, masses: FloatArray | None) -> float:
    """Return the sum of the variances of the columns as a model scales them; 0 where rows do not vary.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    counts = np.ones(X.shape[0]) if masses is None else masses
    total, mean = float(counts.sum()), scaled_mean(model, X, counts)
    first = None
    squares, varies = 0.0, False
    for rows, weights in scaled_blocks(model, X, counts):
        if first is None and weights.any():
            first = rows[np.flatnonzero(weights)[:1]]
        squares += float(weights @ np.sum((rows - mean) ** 2, axis=1))
        varies = varies or bool((rows[weights > 0] != first).any())
    # What rounding leaves of rows that are all the same is no variance.
    return squares / total if varies else 0.0


def total_variance(rows: FloatArray, masses: FloatArray | None) -> float:
    """Return the sum of the variances of the columns.

    Parameters
    ----------
    rows : ndarray of shape (n, k)
        Rows.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    centred = rows - np.average(rows, axis=0, weights=masses)
    return float(np.average(np.einsum("ij,ij->i", centred, centred), weights=masses))


def share_kept(Z: FloatArray, spread: float, masses: FloatArray | None) -> float:
    """Return the share of the variance that projections keep; nan where rows do not vary.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    spread : float
        The variance of the rows that were projected.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    return total_variance(Z, masses) / spread if spread else math.nan


def scaled_mean(model: Any, X: Any, counts: FloatArray) -> FloatArray:
    """Return the mean of the rows as a model scales them.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    counts : ndarray of shape (n,)
        How much each counts.
    """
    return np.asarray(sum(weights @ rows for rows, weights in scaled_blocks(model, X, counts)) / counts.sum())


def scaled_blocks(
    model: Any, X: Any, counts: FloatArray, numbers: int = 2**20
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Yield some rows at a time as a model scales them, and how much each counts.

    Parameters
    ----------
    model : FairPCA
        A fitted model.
    X : array-like or compressed sparse rows, of shape (n, p)
        Rows.
    counts : ndarray of shape (n,)
        How much each counts.
    numbers : int, default=2**20
        At a time, 8 MB: the table may be mapped from a file or sparse.
    """
    table = X if is_sparse(X) else np.asarray(X)
    for block in gen_batches(table.shape[0], max(1, numbers // table.shape[1])):
        rows = dense(table, block).astype(np.float64)
        yield np.where(model.constant_features_, 0.0, (rows - model.mean_) / model.scale_), counts[block]


@dataclass(frozen=True, eq=False)
class Before:
    """Rows as another reduction shows them.

    Attributes
    ----------
    Z : ndarray of shape (n, k)
        The rows after it.
    name : str
        What it is, for a heading.
    origin : str
        Where it comes from, in a sentence.
    """

    Z: FloatArray
    name: str
    origin: str

    @property
    def in_a_sentence(self) -> str:
        """Its name inside a sentence."""
        return "plain PCA" if self.name == PLAIN else "the other reduction"


def before_of(before: Any, model: Any, path: Any, X: Any, spread: float, masses: FloatArray | None) -> Before:
    """Return what the model is compared with.

    Parameters
    ----------
    before : fitted transformer, array of components or None
        What the user passed. None takes the loosest model of the path, or the model itself, where that is plain PCA,
        else plain PCA of the rows at hand.
    model : FairPCA
        The model.
    path : FairPCAPath or None
        Models along tolerances.
    X : array-like or compressed sparse rows, of shape (n, p)
        New rows.
    spread : float
        Their variance, as the model scales them.
    masses : ndarray of shape (n,) or None
        How much each counts.
    """
    if before is not None:
        return _given(before, X, spread, masses)
    if _is_plain(model):
        return Before(projections(model, X), PLAIN, "The model is plain PCA itself, so both are the same.")
    loosest = None if path is None else path.models_[0]
    if _is_plain(loosest):
        words = "Plain PCA was fitted to the same training rows, with the same number of components."
        return Before(projections(loosest, X), PLAIN, words)
    words = (
        "Plain PCA was fitted to the new rows themselves, scaled as the model scales them, because none that was "
        "fitted to the training rows was given (before=): that flatters it a little."
    )
    return Before(_plain_pca(model, X, masses), PLAIN, words)


def _given(before: Any, X: Any, all_of_it: float, masses: FloatArray | None) -> Before:
    Z = projections(before, X)
    own = total_variance(Z, masses)
    if own > all_of_it * (1 + 1e-6):
        raise ValueError(
            f"before works in other units than the model: the rows after it have the variance {own:.3g}, and as the "
            f"model scales them they have {all_of_it:.3g} in all. Fit it to rows that are scaled alike, for example "
            "FairPCA without sensitive features or make_pipeline(StandardScaler(), PCA(2))."
        )
    last = before[-1] if hasattr(before, "named_steps") else before
    is_plain = isinstance(last, PCA) or _is_plain(last)
    kind = "An array of components" if not hasattr(before, "transform") else type(last).__name__
    words = f"{PLAIN if is_plain else kind} was given as the reduction to compare with; it was fitted beforehand."
    return Before(Z, PLAIN if is_plain else "Before", words)


def _is_plain(reduction: Any) -> bool:
    return getattr(getattr(reduction, "result_", None), "status", None) in _PLAIN


def _plain_pca(model: Any, X: Any, masses: FloatArray | None) -> FloatArray:
    counts = np.ones(X.shape[0]) if masses is None else masses
    mean = scaled_mean(model, X, counts)
    centred = (np.sqrt(weights)[:, None] * (rows - mean) for rows, weights in scaled_blocks(model, X, counts))
    # A covariance where it is smaller than the rows.
    if X.shape[0] > X.shape[1]:
        axes = np.linalg.eigh(sum(block.T @ block for block in centred))[1][:, ::-1]
    else:
        axes = np.linalg.svd(np.concatenate(list(centred)), full_matrices=False)[2].T
    axes = axes[:, : model.n_components_]
    # The sign that FairPCA gives its components.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    # Around the mean of the training rows, as the model has it.
    return np.concatenate([rows @ axes for rows, _ in scaled_blocks(model, X, counts)])
