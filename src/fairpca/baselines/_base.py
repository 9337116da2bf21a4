"""What the baselines share: checks, warnings, standardising and principal axes around one solve."""
# SPDX-License-Identifier: MIT

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fairpca._axes import PrincipalAxes
from fairpca._checks import check_n_components, check_two_groups
from fairpca._magnitude import LARGEST, check_magnitude
from fairpca._projection import LinearProjection
from fairpca._typing import AnyArray, FloatArray


class Baseline(LinearProjection):
    """Base of the estimators of this package; subclasses check their parameters and solve."""

    n_components: int
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
            Group of each row: two distinct labels of any kind. Without it this is plain PCA, with a warning.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        d = check_n_components(self.n_components, X.shape[1])
        self._check_parameters()
        check_magnitude(X, LARGEST if self.standardize else self._largest_unscaled)
        groups = None if sensitive_features is None else check_two_groups(sensitive_features, len(X))
        if groups is None:
            self._warn_without_groups()
        rows = self._standardized(X)
        axes = PrincipalAxes.of(rows, n_null=X.shape[1])
        self._warn_above_rank(d, axes.rank)
        return self._store(self._solve(rows, axes, groups, d), rows)

    def _check_parameters(self) -> None:
        """Refuse parameters out of their range, before any work."""

    @abstractmethod
    def _solve(self, rows: FloatArray, axes: PrincipalAxes, groups: AnyArray | None, d: int) -> FloatArray:
        """Learn what is special to the method and return a frame of the subspace, shape (p, d)."""
