"""What methods share that need first and second moments alone: rows of any kind, in one go or block by block."""
# SPDX-License-Identifier: MIT

import os
from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fairpca._utils.checks import check_flag, check_n_components
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note, warn_user
from fairpca.comparison import EncodedColumn, People, check_same_rows, encoded
from fairpca.data import Components, Moments, ScaledMoments
from fairpca.fitting import LinearMap, LinearProjection, checked_rows, fit_or_leave
from fairpca.rows import ArrayRows, DaskRows, Rows, header, is_dask, number_blocks


class MomentMethod(LinearMap):
    """Base of methods by moments; subclasses check their parameters and solve.

    Class attributes say what a method can use: whether it `_needs_groups`, moments of each group, so that no attribute
    may be continuous; whether it `_needs_labels`.
    """

    n_components: int | float
    sensitive_kind: Any = "auto"
    _needs_groups = False
    _needs_labels = False
    _moments: Moments | None = None

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Find the map.

        Parameters
        ----------
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows.
        y : array-like, or Dask series or array, of shape (n_samples,), default=None
            Labels; only SPLINCE uses them.
        sensitive_features : array-like, frame or Dask collection of shape (n_samples,) or (n_samples, k), default=None
            Protected attributes: labels of any kind, or numbers; a mapping of names to columns will do. Without it
            this is plain PCA, with a warning.
        sample_weight : array-like, or Dask series or array, of shape (n_samples,), default=None
            How much each row counts, see `fairpca.FairPCA.fit`.

        Returns
        -------
        self : estimator
            The fitted estimator. A fit that fails or is interrupted leaves it as it was.
        """
        fit_or_leave(self, X, self._people(sensitive_features, y, sample_weight))
        return self

    def partial_fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Find the map for these rows and all that were passed before.

        What is kept are sums of products: memory does not grow with the rows, and the result is that of `fit` on all of
        them, up to rounding. A group may appear in any block.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            A block of rows, at least two in the first, as in `fit`. Weights count as they are.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        if self._moments is None and hasattr(self, "components_"):
            raise ValueError("this method comes from a file, which has no sums of its rows; fit it to all rows again.")
        fitted = copy(self)
        notes = fitted._learn(X, self._people(sensitive_features, y, sample_weight), self._moments, more_to_come=True)
        self.__dict__ = fitted.__dict__
        for note in notes:
            warn_user(*note)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> AnyArray:
        """Fit, then map the same rows.

        Parameters
        ----------
        X, y, sensitive_features, sample_weight
            See `fit`.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The coordinates.
        """
        known = {"sensitive_features": sensitive_features, "sample_weight": sample_weight}
        return self.fit(X, y, **known).transform(X)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted method to a file that `fairpca.load` reads, see `fairpca.FairPCA.save`.

        Parameters
        ----------
        path : path
            Where to. The sums of `partial_fit` are not written: a method from a file cannot be fitted further.
        """
        from fairpca.saving import to_archive, write_archive

        write_archive(path, *to_archive(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _people(self, sensitive_features: Any, y: Any, sample_weight: Any) -> People:
        if self._needs_labels and y is None and sensitive_features is not None:
            raise ValueError(
                f"{type(self).__name__} keeps what the rows tell of labels: pass them as y, or use LEACE, which needs "
                "none."
            )
        labels = y if self._needs_labels and sensitive_features is not None else None
        return People(sensitive_features, labels, sample_weight=sample_weight)

    def _fit(self, X: Any, people: People) -> list[Note]:
        notes = self._learn(X, people, None, more_to_come=False)
        assert self._moments is not None
        for column in self._moments.encoding.columns:
            if len(column.groups) == 1 and not column.is_label:
                name = column.name or "sensitive_features"
                raise ValueError(f"{name} has one group only, {column.groups[0]!r}; two are needed to compare.")
        return notes

    def _learn(self, X: Any, people: People, before: Moments | None, more_to_come: bool) -> list[Note]:
        check_flag("standardize", self.standardize)
        self._check_parameters()
        rows, encoding = self._read(X, people, reset=before is None, more_to_come=more_to_come)
        d = check_n_components(self.n_components, rows.n_columns)
        by_group = self._needs_groups and bool(encoding.columns)
        if by_group:
            self._check_groups(encoding.columns)
        names = getattr(self, "feature_names_in_", None)
        try:
            self._moments = Moments.of(rows, encoding, by_group, before, names)
        except ValueError:
            if not is_dask(X):
                checked_rows(self, X)  # says of numbers that are not finite where they are
            raise
        moments = self._moments.scaled(self.standardize)
        n_rows = rows.n_rows + (0 if before is None else self.n_samples_)
        count = moments.axes.n_for_share(d) if isinstance(d, float) else d
        notes = self._solve(moments, count, n_rows)
        without = [] if encoding.columns else [self._without_groups()]
        return [*without, *self._above_rank(count, moments.axes.rank), *notes]

    def _read(self, X: Any, people: People, reset: bool, more_to_come: bool) -> tuple[Rows, Any]:
        if is_dask(X):
            validate_data(self, header(X), skip_check_array=True, reset=reset)
            blocks = number_blocks(X)
            check_same_rows(X, people.tables)
            attached, encoding = encoded(people, blocks.chunks[0], self.sensitive_kind, more_to_come=more_to_come)
            return DaskRows(blocks, attached), encoding
        check_same_rows(X, people.tables)
        table = checked_rows(self, X, least_rows=2 if reset else 1, reset=reset, finite=False)
        attached, encoding = encoded(people, table.shape[0], self.sensitive_kind, more_to_come=more_to_come)
        return ArrayRows(table, attached), encoding

    def _check_groups(self, columns: tuple[EncodedColumn, ...]) -> None:
        """Refuse attributes that a method of groups cannot compare."""
        for column in columns:
            if not column.groups:
                raise ValueError(
                    f"{type(self).__name__} compares covariances of groups, and {column.name or 'sensitive_features'} "
                    'is continuous. ClosedFormFairPCA(match="means"), LEACE, SPLINCE and AugmentedPCA take numbers.'
                )

    def _check_room(self, n_components: int, n_taken: int, n_features: int) -> None:
        """Refuse more components than remain beside the directions that a method takes out."""
        if n_components > n_features - n_taken:
            raise ValueError(
                f"n_components={n_components} is more than {type(self).__name__} leaves: the attributes take {n_taken} "
                f"of {n_features} directions (k groups take k - 1); ask for at most {n_features - n_taken}."
            )

    def _check_parameters(self) -> None:
        """Refuse parameters out of their range, before any work."""

    @abstractmethod
    def _solve(self, moments: ScaledMoments, n_components: int, n_rows: int) -> list[Note]:
        """Learn the map, and return what is to be warned of."""


class ObliqueByMoments(MomentMethod):
    """Base of methods by moments that are no orthogonal projections; subclasses give two sets of axes."""

    def _solve(self, moments: ScaledMoments, n_components: int, n_rows: int) -> list[Note]:
        rows, axes, variances = self._map(moments, n_components)
        live = moments.axes.axes[:, : moments.axes.rank].T
        rows, axes = (each @ live for each in (rows, axes))
        signs = np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])[:, None]
        # Components without variance come last, and are zero.
        missing = (0, n_components - len(rows)), (0, 0)
        self.axes_ = np.pad(signs * axes, missing)
        singular = np.pad(np.sqrt(moments.mass * variances), missing[0])
        total = moments.mass * moments.axes.total
        self._learn_map(np.pad(signs * rows, missing), singular, moments.scaling, n_rows, moments.mass, total)
        return []

    @abstractmethod
    def _map(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the rows of the map, what makes rows again of coordinates, both in live axes, and their variances.

        There may be fewer than d, where no others carry variance.
        """


class ProjectionByMoments(MomentMethod, LinearProjection):
    """Base of methods by moments whose components are orthonormal; subclasses give a frame."""

    def _solve(self, moments: ScaledMoments, n_components: int, n_rows: int) -> list[Note]:
        frame, notes = self._frame(moments, n_components)
        components = Components.of(frame, moments.axes, moments.mass)
        self._learn_components(components, moments.axes, moments.scaling, n_rows, moments.mass)
        return notes

    @abstractmethod
    def _frame(self, moments: ScaledMoments, n_components: int) -> tuple[FloatArray, list[Note]]:
        """Return an orthonormal frame in all principal axes, live ones first, and what is to be warned of."""
