"""What every linear, orthogonal projection of the package can do once it is fitted."""
# SPDX-License-Identifier: MIT

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from fairpca._typing import AnyArray, FloatArray
from fairpca.exceptions import NoSensitiveFeaturesWarning, RankWarning
from fairpca.rows import header, is_dask, project_lazily

BLOCK_NUMBERS = 2**21
"""Numbers in a block of rows that is projected at once, 16 MB."""


class LinearProjection(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: z = V'((x - mean) / scale) with orthonormal V.

    Subclasses find V in `fit` and call `_standardized` for the rows and `_store` for the answer.
    """

    standardize: bool

    def fit_transform(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> AnyArray:
        """Fit, then project the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like of shape (n_samples,), default=None
            Group of each row.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The projections.
        """
        return self.fit(X, y, sensitive_features=sensitive_features).transform(X)

    def transform(self, X: Any) -> AnyArray:
        """Project rows.

        Parameters
        ----------
        X : array-like, or Dask array or frame, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Their coordinates in the fair subspace; of a Dask table a lazy one of the same kind and blocks, whose names
            of columns are checked at once and whose numbers when they are computed.
        """
        if is_dask(X):
            check_is_fitted(self)
            validate_data(self, header(X), reset=False, skip_check_array=True)
            return project_lazily(X, self.mean_, self.scale_, self.components_, self.get_feature_names_out())
        rows = self._validated(X)
        Z = np.empty((len(rows), len(self.components_)), dtype=rows.dtype)
        # In blocks: no second copy of a table that may be mapped from a file.
        for block in gen_batches(len(rows), max(1, BLOCK_NUMBERS // rows.shape[1])):
            Z[block] = ((rows[block] - self.mean_) / self.scale_) @ self.components_.T
        return Z

    def inverse_transform(self, Z: Any) -> AnyArray:
        """Return the rows of the feature space that projections stand for.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Projections.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The closest rows of the feature space, in its original units.
        """
        check_is_fitted(self)
        projections = np.asarray(Z)
        if projections.ndim != 2 or projections.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z has shape {projections.shape}; it must be (n_samples, n_components={self._n_features_out})."
            )
        return (projections @ self.components_) * self.scale_ + self.mean_

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of these rows that the projection keeps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, for example held-out ones; at least two.
        y : ignored
            Present for API consistency.

        Returns
        -------
        score : float
            tr(V'SV) / tr(S) with S the covariance of `X` in the training scale.
        """
        rows = (self._validated(X).astype(np.float64) - self.mean_) / self.scale_
        centred = rows - rows.mean(axis=0)
        total = float(np.vdot(centred, centred))
        if total == 0.0:
            raise ValueError("score needs rows that differ: X has no variance.")
        return float(np.sum((centred @ self.components_.T) ** 2)) / total

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _warn_without_groups(self) -> None:
        warnings.warn(
            f"{type(self).__name__} was fitted without sensitive_features: this is plain PCA, and nothing was made "
            "fair. Pass fit(X, sensitive_features=...).",
            NoSensitiveFeaturesWarning,
            stacklevel=3,
        )

    @staticmethod
    def _warn_above_rank(n_components: int, rank: int) -> None:
        if n_components > rank:
            warnings.warn(
                f"n_components={n_components} is above the rank of the data, {rank}: the last {n_components - rank} "
                "components carry no variance.",
                RankWarning,
                stacklevel=3,
            )

    def _validated(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        rows: AnyArray = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return rows

    def _standardized(self, X: AnyArray) -> FloatArray:
        """Learn `mean_` and `scale_` and return the centred, scaled rows in float64."""
        rows = X.astype(np.float64)
        self.mean_ = rows.mean(axis=0)
        rows -= self.mean_
        deviation = np.sqrt(np.einsum("ij,ij->j", rows, rows) / len(rows))
        # What is left of a constant column is rounding in its values or its mean, not variance.
        constant = (np.ptp(rows, axis=0) == 0.0) | (deviation <= 1e-13 * np.abs(self.mean_))
        rows[:, constant] = 0.0
        if constant.all():
            raise ValueError("X has zero variance in every column; there is nothing to keep.")
        self.scale_ = np.where(constant, 1.0, deviation) if self.standardize else np.ones_like(deviation)
        rows /= self.scale_
        return rows

    def _store(self, frame: FloatArray, rows: FloatArray) -> Self:
        """Learn the components from any frame of the subspace and the centred, scaled rows."""
        projections = rows @ frame
        return self._learn_components(frame, projections.T @ projections, float(np.vdot(rows, rows)), len(rows))

    def _learn_components(self, frame: FloatArray, products: FloatArray, total: float, n_rows: int) -> Self:
        """Learn the components: principal axes inside the subspace, PCA's order and signs.

        Parameters
        ----------
        frame : ndarray of shape (p, d)
            Any frame of the subspace.
        products : ndarray of shape (d, d)
            Z'Z of the projected rows.
        total : float
            Sum of the squares of all rows.
        n_rows : int
            Number of rows.
        """
        variances, rotation = np.linalg.eigh(products / (n_rows - 1))
        components = (frame @ rotation[:, ::-1]).T
        largest = np.abs(components).argmax(axis=1)
        components *= np.sign(components[np.arange(len(components)), largest])[:, None]
        self.components_ = np.ascontiguousarray(components)
        self.explained_variance_ = np.maximum(variances[::-1], 0.0)
        self.explained_variance_ratio_ = self.explained_variance_ * (n_rows - 1) / total
        self.n_components_ = self.components_.shape[0]
        self.n_samples_ = n_rows
        return self
