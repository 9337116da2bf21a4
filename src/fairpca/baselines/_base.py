"""What the baselines share: checks, warnings, standardising and principal axes around one solve."""
# SPDX-License-Identifier: MIT

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fairpca._utils.checks import check_flag, check_n_components
from fairpca._utils.magnitude import LARGEST, check_magnitude
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note
from fairpca.comparison import People, check_same_rows, check_two_groups
from fairpca.data import Components, PrincipalAxes, standardized
from fairpca.fitting import LinearProjection


class Baseline(LinearProjection):
    """Base of the estimators of this package; subclasses check their parameters and solve."""

    n_components: int | float
    _largest_unscaled = LARGEST

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Find the subspace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like of shape (n_samples,), default=None
            Group of each row: two distinct labels. Without it this is plain PCA, with a warning.

        Returns
        -------
        self : estimator
            The fitted estimator. A fit that fails or is interrupted leaves it as it was.
        """
        return self._fit_or_leave(X, People(sensitive_features))

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

    def _fit(self, X: Any, people: People) -> list[Note]:
        sensitive_features = people.sensitive_features
        check_same_rows(X, sensitive_features)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        d = check_n_components(self.n_components, X.shape[1])
        check_flag("standardize", self.standardize)
        self._check_parameters()
        if not self.standardize:
            check_magnitude(X, self._largest_unscaled)
        groups = None if sensitive_features is None else check_two_groups(sensitive_features, len(X))
        rows, scaling = standardized(X, self.standardize)
        axes = PrincipalAxes.of(rows, n_null=X.shape[1], noise=scaling.noise)
        if isinstance(d, float):
            d = axes.n_for_share(d)
        frame, notes = self._solve(rows, axes, groups, d)
        self._learn_components(Components.of(axes.axes.T @ frame, axes, len(X)), axes, scaling, len(X), len(X))
        without = [self._without_groups()] if groups is None else []
        return [*without, *self._above_rank(d, axes.rank), *notes]

    def _check_parameters(self) -> None:
        """Refuse parameters out of their range, before any work."""

    @abstractmethod
    def _solve(
        self, rows: FloatArray, axes: PrincipalAxes, groups: AnyArray | None, d: int
    ) -> tuple[FloatArray, list[Note]]:
        """Learn what is special to the method; return a frame of the subspace, shape (p, d), and what to warn of."""
