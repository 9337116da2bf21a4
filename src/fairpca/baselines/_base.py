"""What the baselines share: checks, warnings, standardising and principal axes around one solve."""
# SPDX-License-Identifier: MIT

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from fairpca._utils.checks import LARGEST, check_flag, check_magnitude, check_n_components
from fairpca._utils.typing import AnyArray, FloatArray
from fairpca._utils.warn import Note
from fairpca.comparison import People, Terms, check_same_rows, check_two_groups, compare, masses_of
from fairpca.data import Components, PrincipalAxes, standardized
from fairpca.fitting import LinearProjection


class Baseline(LinearProjection):
    """Base of the estimators of this package; subclasses check their parameters and solve."""

    n_components: int | float
    _largest_unscaled = LARGEST

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None) -> Self:
        """Find the subspace.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like of shape (n_samples,), default=None
            Group of each row: two distinct labels. Without it this is plain PCA, with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, see `fairpca.FairPCA.fit`.

        Returns
        -------
        self : estimator
            The fitted estimator. A fit that fails or is interrupted leaves it as it was.
        """
        return self._fit_or_leave(X, People(sensitive_features, sample_weight=sample_weight))

    def fit_transform(
        self, X: Any, y: Any = None, *, sensitive_features: Any = None, sample_weight: Any = None
    ) -> AnyArray:
        """Fit, then project the same rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like of shape (n_samples,), default=None
            Group of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            The projections.
        """
        return self.fit(X, y, sensitive_features=sensitive_features, sample_weight=sample_weight).transform(X)

    def _fit(self, X: Any, people: People) -> list[Note]:
        check_same_rows(X, people.tables)
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        d = check_n_components(self.n_components, X.shape[1])
        check_flag("standardize", self.standardize)
        self._check_parameters()
        if not self.standardize:
            check_magnitude(X, self._largest_unscaled)
        n_rows, given = len(X), people.sensitive_features
        groups = None if given is None else check_two_groups(given, n_rows)
        masses = _masses(people, n_rows)
        X, groups, masses = _present(X, groups, masses)
        rows, scaling = standardized(X, self.standardize, masses)
        axes = PrincipalAxes.of(rows, n_null=X.shape[1], noise=scaling.noise, masses=masses)
        if isinstance(d, float):
            d = axes.n_for_share(d)
        frame, notes = self._solve(rows, axes, groups, masses, d)
        mass = float(len(X) if masses is None else masses.sum())
        self._learn_components(Components.of(axes.axes.T @ frame, axes, mass), axes, scaling, n_rows, mass)
        without = [self._without_groups()] if groups is None else []
        return [*without, *self._above_rank(d, axes.rank), *notes]

    def _check_parameters(self) -> None:
        """Refuse parameters out of their range, before any work."""

    @abstractmethod
    def _solve(
        self, rows: FloatArray, axes: PrincipalAxes, groups: AnyArray | None, masses: FloatArray | None, d: int
    ) -> tuple[FloatArray, list[Note]]:
        """Learn what is special to the method; return a frame of the subspace, shape (p, d), and what to warn of."""


def _masses(people: People, n_rows: int) -> FloatArray | None:
    """Return the mass of each row; None where all have the mass 1."""
    weighted = People(sample_weight=people.sample_weight)
    return masses_of(compare(weighted, n_rows, Terms(), 0.0).attached)


def _present(
    X: AnyArray, groups: AnyArray | None, masses: FloatArray | None
) -> tuple[AnyArray, AnyArray | None, FloatArray | None]:
    """Return the rows that have a mass."""
    if masses is None or masses.all():
        return X, groups, masses
    present = masses > 0
    return (
        X[present],
        None if groups is None else check_two_groups(groups[present], int(present.sum())),
        masses[present],
    )
