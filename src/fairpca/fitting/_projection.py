"""What every linear map of the package can do once it is fitted, and what orthogonal projections can do."""
# SPDX-License-Identifier: MIT

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data

from fairpca._utils.checks import check_name, why_no_numbers
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note, warn_user
from fairpca.comparison import People
from fairpca.data import ColumnScaling, Components, PrincipalAxes, Spread
from fairpca.exceptions import NoSensitiveFeaturesWarning, RankWarning
from fairpca.geometry import varimax
from fairpca.rows import (
    ArrayRows,
    DaskRows,
    Rows,
    Transform,
    compressed,
    dense,
    header,
    is_dask,
    is_dask_frame,
    is_sparse,
    map_rows_lazily,
    number_blocks,
)

BLOCK_NUMBERS = 2**21
"""Numbers in a block of rows that is projected at once, 16 MB."""


@dataclass(frozen=True, eq=False)
class Projection:
    """z = V'((x - mean) / scale), which may travel to where the rows are.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        What is subtracted from and divides the columns.
    components : ndarray of shape (d, p)
        V'.
    """

    mean: FloatArray
    scale: FloatArray
    components: FloatArray

    def __call__(self, X: AnyArray) -> AnyArray:
        """Project rows, an array of shape (n, p)."""
        return ((X - self.mean) / self.scale) @ self.components.T


@dataclass(frozen=True, eq=False)
class Residual(Projection):
    """|x - VV'x|^2 of the centred, scaled rows, in a column."""

    def __call__(self, X: AnyArray) -> AnyArray:
        """Return the squared distances of rows, an array of shape (n, p), from their reconstructions."""
        rows = (X - self.mean) / self.scale
        rows -= (rows @ self.components.T) @ self.components
        return np.einsum("ij,ij->i", rows, rows)[:, None]


def by_blocks(transform: Transform, X: Any, width: int, dtype: Any = None) -> AnyArray:
    """Return what becomes of rows, a block at a time: no second copy of a table that is large, mapped or sparse.

    Parameters
    ----------
    transform : callable
        From rows to as many others.
    X : ndarray or compressed sparse rows, of shape (n, p)
        Rows.
    width : int
        Columns of the result.
    dtype : dtype, default=None
        Of the result; by default float32 if `X` is, else float64.
    """
    n, p = X.shape
    Z = np.empty((n, width), dtype=dtype or (np.float32 if X.dtype == np.float32 else np.float64))
    for block in gen_batches(n, max(1, BLOCK_NUMBERS // p)):
        Z[block] = transform(dense(X, block))
    return Z


def checked_rows(estimator: Any, X: Any, *, least_rows: int = 1, reset: bool = False, finite: bool = True) -> Any:
    """Return finite numbers, float32 or float64 in an array, or compressed sparse rows as they are stored.

    Parameters
    ----------
    estimator : BaseEstimator
        Who asks.
    X : array-like, or sparse array or matrix, of shape (n, p)
        What the user passed.
    least_rows : int, default=1
        Rows that are needed.
    reset : bool, default=False
        Whether the estimator learns the number of features and their names, or compares them with what it has learned.
    finite : bool, default=True
        Whether to look for numbers that are not finite, which costs a pass over an array.
    """
    if not is_sparse(X):
        if np.ma.isMaskedArray(X) and np.ma.getmaskarray(X).any():
            masked = np.argwhere(np.ma.getmaskarray(X)).tolist()
            where = "the first in row {}, column {}".format(*masked[0])
            raise ValueError(f"X has {len(masked)} masked entries, {where}; fill them in, or leave such rows out.")
        dtypes = [np.float64, np.float32]
        try:
            checks = {"dtype": dtypes, "ensure_min_samples": least_rows, "ensure_all_finite": finite}
            return validate_data(estimator, X, reset=reset, **checks)
        except (ValueError, TypeError) as error:
            raise why_no_numbers(X, error) from None
    rows = compressed(X, least_rows)
    validate_data(estimator, rows, skip_check_array=True, reset=reset)
    return rows


class LinearMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the estimators: z = A((x - mean) / scale), with rows back in the feature space by other axes.

    Subclasses find A in `_fit` and call `_learn_map`; their `fit` says what they can use of what is known of rows.
    """

    standardize: bool
    axes_: FloatArray

    @abstractmethod
    def _fit(self, X: Any, people: People) -> list[Note]:
        """Learn, and return what is to be warned of."""

    def transform(self, X: Any) -> AnyArray:
        """Project rows.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Their coordinates in the subspace, float32 if `X` is; of a Dask table a lazy one of the same kind and
            blocks, whose names of columns are checked at once and whose numbers when they are computed. Components that
            carry no variance are exactly 0 on every row, also on new rows that are not in the span of the fitted ones:
            nothing is known about them there.
        """
        if is_dask(X):
            self._check_header(X)
            return map_rows_lazily(X, self._projection, self.get_feature_names_out())
        rows = self._validated(X)
        return by_blocks(self._projection, rows, self._n_features_out)

    def inverse_transform(self, Z: Any) -> AnyArray:
        """Return the rows of the feature space that projections stand for.

        Parameters
        ----------
        Z : array-like of shape (n_samples, n_components)
            Projections.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            The closest rows of the feature space, in its original units; float32 if `Z` is.
        """
        check_is_fitted(self)
        projections = np.asarray(Z)
        if projections.ndim != 2 or projections.shape[1] != self._n_features_out:
            raise ValueError(
                f"Z has shape {projections.shape}; it must be (n_samples, n_components={self._n_features_out})."
            )
        rows: AnyArray = (projections @ self._reconstruction) * self.scale_ + self.mean_
        return rows.astype(np.float32) if projections.dtype == np.float32 else rows

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of the variance of these rows that the projection keeps.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows, for example held-out ones; at least two. Two passes over them, and no copy.
        y : ignored
            Present for API consistency.

        Returns
        -------
        score : float
            tr(V'SV) / tr(S) with S the covariance of `X` in the training scale.
        """
        return variance_kept(self, X)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _without_groups(self) -> Note:
        return (
            f"{type(self).__name__} was fitted without sensitive_features: this is plain PCA, and nothing was made "
            "fair. Pass fit(X, sensitive_features=...).",
            NoSensitiveFeaturesWarning,
        )

    @staticmethod
    def _above_rank(n_components: int, rank: int) -> list[Note]:
        if n_components <= rank:
            return []
        message = (
            f"n_components={n_components} is above the rank of the data, {rank}: the last {n_components - rank} "
            "components carry no variance."
        )
        return [(message, RankWarning)]

    def _validated(self, X: Any) -> Any:
        check_is_fitted(self)
        return checked_rows(self, X)

    def _check_header(self, X: Any) -> None:
        """Check number and names of the columns of a Dask table."""
        check_is_fitted(self)
        validate_data(self, header(X), reset=False, skip_check_array=True)

    @property
    def _projection(self) -> "Projection":
        return Projection(self.mean_, self.scale_, self._live_rows)

    @property
    def _live_rows(self) -> FloatArray:
        """The components with zeros in place of those without variance, which must not tell anything of any row.

        Zeros, too, for columns that do not vary: what rounding has left of one would be scaled up.
        """
        live = self.components_.copy()
        live[self.n_live_components_ :] = 0.0
        live[:, self.constant_features_] = 0.0
        return live

    @property
    def _reconstruction(self) -> FloatArray:
        return self.axes_

    def _learn_map(
        self,
        rows: FloatArray,
        singular_values: FloatArray,
        scaling: ColumnScaling,
        n_rows: int,
        mass: float,
        total: float,
    ) -> None:
        """Learn everything that can be said of a map.

        Parameters
        ----------
        rows : ndarray of shape (d, p)
            A, those without variance last.
        singular_values : ndarray of shape (d,)
            Root of the sum of squares of each coordinate; exactly 0 where it carries no variance.
        scaling : ColumnScaling
            How rows are scaled.
        n_rows : int
            Number of rows.
        mass : float
            n, the sum of their masses.
        total : float
            n tr S.
        """
        squares = singular_values**2
        self.__dict__.pop("projected_covariance_", None)  # of a rotated copy that is fitted further
        self.mean_, self.scale_, self.constant_features_ = scaling.mean, scaling.scale, scaling.constant
        self.components_, self.singular_values_ = rows, singular_values
        self.explained_variance_, self.explained_variance_ratio_ = squares / (mass - 1), squares / total
        self.n_components_, self.n_live_components_, self.n_samples_ = len(rows), int(np.sum(squares > 0)), n_rows


class LinearProjection(LinearMap):
    """Base of the estimators with z = V'((x - mean) / scale) and orthonormal V, which they find in `_fit`."""

    def residuals(self, X: Any) -> FloatArray:
        """Return the squared distance of each row from its reconstruction, in the scaled units.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        residuals : ndarray of shape (n_samples,)
            |x - VV'x|^2 of the centred, scaled rows: large for rows that the subspace says little about. Of a Dask
            table a lazy array or series.
        """
        check_is_fitted(self)
        residual = Residual(self.mean_, self.scale_, self._live_rows)
        if is_dask(X):
            self._check_header(X)
            column = map_rows_lazily(X, residual, ["residual"])
            return column["residual"] if is_dask_frame(X) else column[:, 0]
        return by_blocks(residual, self._validated(X), 1, np.float64)[:, 0]

    def rotated(self, method: str = "varimax") -> Self:
        """Return a copy whose components are rotated within their subspace, so that each has few large loadings.

        The subspace stays: variance kept, MMD^2, distances between projections and every certificate are the same.
        What changes are the coordinates: they are correlated, and each has another share of the variance.

        Parameters
        ----------
        method : {"varimax"}, default="varimax"
            The criterion: the variance of the squared loadings of each component.

        Returns
        -------
        model : estimator
            A fitted copy, with components by decreasing variance and the covariance of its coordinates in
            `projected_covariance_`. `FairPCA.summary` names the columns that load on them. Fitted again, it is not
            rotated.
        """
        check_is_fitted(self)
        check_name("method", method, ["varimax"])
        model, k = copy(self), self.n_live_components_
        rotation = varimax(self.components_[:k].T)
        covariance = rotation.T @ self._projected_covariance @ rotation
        order = np.argsort(-np.diag(covariance), kind="stable")
        rows = rotation[:, order].T @ self.components_[:k]
        signs = np.sign(rows[np.arange(k), np.abs(rows).argmax(axis=1)])
        variances = np.concatenate([np.diag(covariance)[order], np.zeros(len(self.components_) - k)])
        total = self.explained_variance_.sum() / self.explained_variance_ratio_.sum()
        factor = float(self.singular_values_[0] ** 2 / self.explained_variance_[0])
        model.components_ = np.vstack([signs[:, None] * rows, self.components_[k:]])
        model.projected_covariance_ = covariance[np.ix_(order, order)] * np.outer(signs, signs)
        model.explained_variance_, model.explained_variance_ratio_ = variances, variances / total
        model.singular_values_ = np.sqrt(factor * variances)
        return model

    @property
    def _projected_covariance(self) -> FloatArray:
        """Covariance of the coordinates that carry variance: diagonal unless components were rotated."""
        diagonal = np.diag(self.explained_variance_[: self.n_live_components_])
        covariance: FloatArray = vars(self).get("projected_covariance_", diagonal)
        return covariance

    def get_covariance(self) -> FloatArray:
        """Return the covariance of the features under the probabilistic model of this subspace.

        Of all normal distributions whose covariance is V diag(lambda) V' + s^2 (I - VV'), in the scaled units, this has
        the highest likelihood: lambda are the variances of the components and s^2 is the mean variance of the other
        directions, `noise_variance_`. There is no `score_samples`: for a subspace that was not chosen by likelihood it
        would say less than `residuals`.

        Returns
        -------
        covariance : ndarray of shape (n_features, n_features)
            In the units of the features.
        """
        check_is_fitted(self)
        surplus = -self.noise_variance_ * np.eye(self.n_components_)
        surplus[: self.n_live_components_, : self.n_live_components_] += self._projected_covariance
        scaled = self.components_.T @ surplus @ self.components_
        scaled[np.diag_indices_from(scaled)] += self.noise_variance_
        return scaled * np.outer(self.scale_, self.scale_)

    @property
    def _reconstruction(self) -> FloatArray:
        return self.components_

    def _learn_components(
        self, components: Components, axes: PrincipalAxes, scaling: ColumnScaling, n_rows: int, mass: float
    ) -> None:
        """Learn everything that can be said of components.

        Parameters
        ----------
        components : Components
            The components.
        axes : PrincipalAxes
            Principal axes of the scaled rows.
        scaling : ColumnScaling
            How rows are scaled.
        n_rows : int
            Number of rows.
        mass : float
            n, the sum of their masses.
        """
        (d, p), total = components.rows.shape, mass * axes.total
        self._learn_map(components.rows, components.singular_values, scaling, n_rows, mass, total)
        left = max(0.0, total - float(np.sum(components.singular_values**2)))
        self.noise_variance_ = left / ((mass - 1) * (p - d)) if d < p else 0.0
        self.n_live_components_ = components.n_live


def fit_or_leave(estimator: Any, X: Any, people: People, *asked: Any) -> Any:
    """Let an estimator learn everything by its `_fit`, or stay as it was where that fails or is interrupted.

    Parameters
    ----------
    estimator : BaseEstimator
        Its `_fit` returns what is to be warned of.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        Rows.
    people : People
        What is known of them.
    *asked : object
        What else `_fit` takes.
    """
    fitted = unfitted_copy(estimator)
    notes = fitted._fit(X, people, *asked)
    estimator.__dict__ = fitted.__dict__
    # Last: whoever turns warnings into errors has the model all the same.
    for note in notes:
        warn_user(*note)
    return estimator


def unfitted_copy(estimator: Any) -> Any:
    """Return an estimator with the same parameters and settings, of which nothing is learned.

    Parameters
    ----------
    estimator : BaseEstimator
        Fitted or not.
    """
    unfitted = copy(estimator)
    for name in [name for name in vars(unfitted) if name.endswith("_") and not name.startswith("_")]:
        delattr(unfitted, name)
    return unfitted


def variance_kept(model: LinearMap, X: Any, attached: Any = None) -> float:
    """Return the share of the variance of rows that a map keeps, see `LinearMap.score`.

    Parameters
    ----------
    model : LinearMap
        Fitted.
    X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
        Rows.
    attached : ndarray, or dask.array.Array where `X` is, of shape (n, k), default=None
        Strata and masses of rows, where some count more than others.
    """
    spread = Spread.of(_rows_for(model, X, attached), model.scale_, model._live_rows)
    if spread.total == 0.0:
        raise ValueError("score needs rows that differ: X has no variance.")
    return spread.kept / spread.total


def _rows_for(model: LinearMap, X: Any, attached: Any) -> Rows:
    if is_dask(X):
        model._check_header(X)
        blocks = number_blocks(X)
        return DaskRows(blocks, blocks[:, :0] if attached is None else attached)
    table = model._validated(X)
    return ArrayRows(table, np.empty((table.shape[0], 0)) if attached is None else attached)
