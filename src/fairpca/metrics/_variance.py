"""What a projection keeps of the data and of each feature, and a score that knows fairness as well."""
# SPDX-License-Identifier: MIT

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_array, check_is_fitted

from fairpca._utils.checks import check_at_least_zero
from fairpca._utils.typing import FloatArray
from fairpca.comparison import LARGEST_MMD2, People, Terms, check_same_rows
from fairpca.data import Spread
from fairpca.fitting import variance_kept
from fairpca.inference import chance_deviations, chance_levels
from fairpca.metrics._discrepancy import Projected
from fairpca.mmd import Scales
from fairpca.rows import ArrayRows, compressed, compute, is_dask, is_sparse

KNOWN = "sensitive_features", "control_features", "sample_weight"


def explained_variance(X: Any, components: Any) -> float:
    """Return tr(V'SV) / tr(S), the share of the variance of the rows that orthonormal components keep.

    Parameters
    ----------
    X : array-like, or sparse array or matrix, of shape (n_samples, n_features)
        Rows, in the units in which the components are orthonormal; S is their covariance.
    components : array-like of shape (n_components, n_features)
        V', orthonormal rows, such as `FairPCA.components_`.

    Returns
    -------
    share : float
        Between 0 and 1.

    Examples
    --------
    >>> explained_variance([[0.0, 0.0], [4.0, 3.0], [4.0, 0.0], [0.0, 3.0]], [[1.0, 0.0]])
    0.64
    """
    rows = compressed(X) if is_sparse(X) else check_array(X, dtype=[np.float64, np.float32])
    frame = _orthonormal(components)
    if frame.shape[1] != rows.shape[1]:
        raise ValueError(f"components have {frame.shape[1]} features but X has {rows.shape[1]}.")
    spread = Spread.of(ArrayRows(rows, np.empty((rows.shape[0], 0))), 1.0, frame)
    if spread.total == 0.0:
        raise ValueError("X has no variance.")
    return spread.kept / spread.total


def communality(components: Any, explained_variance: Any = None) -> FloatArray:
    """Return how much of each feature the components carry.

    The communality of feature j is the sum of its squared loadings. Loadings are the entries v_kj of the components,
    as in the paper's figures, or v_kj sqrt(lambda_k) when the variances lambda of the components are given: then, for
    standardised features, it is the share of the feature's variance that the components explain.

    Parameters
    ----------
    components : array-like of shape (n_components, n_features)
        V', orthonormal rows.
    explained_variance : array-like of shape (n_components,), default=None
        Variance along each component.

    Returns
    -------
    communality : ndarray of shape (n_features,)
        One number a feature.

    Examples
    --------
    >>> communality([[0.6, 0.8]])
    array([0.36, 0.64])
    """
    frame = _orthonormal(components)
    weights = np.ones(len(frame)) if explained_variance is None else np.asarray(explained_variance, dtype=np.float64)
    if weights.shape != (len(frame),):
        raise ValueError(f"explained_variance has shape {weights.shape}; one number a component, ({len(frame)},).")
    return weights @ frame**2


def _orthonormal(components: Any) -> FloatArray:
    frame: FloatArray = check_array(components, dtype=np.float64, input_name="components")
    if not np.allclose(frame @ frame.T, np.eye(len(frame)), atol=1e-6):
        raise ValueError("components must be orthonormal rows, one a component (V', not V).")
    return frame


class FairVarianceScorer:
    """Score a fitted projection on rows it has not seen; see `fair_variance_scorer`.

    Parameters
    ----------
    max_mmd2 : float
        tau, the discrepancy between the populations that is allowed.
    """

    def __init__(self, max_mmd2: float) -> None:
        self.max_mmd2 = max_mmd2
        self._requests: dict[str, bool | str | None] = dict.fromkeys(KNOWN, True)

    def __repr__(self) -> str:
        return f"fair_variance_scorer(max_mmd2={self.max_mmd2!r})"

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        sensitive_features: Any = None,
        control_features: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Return the score.

        Parameters
        ----------
        estimator : FairPCA, or Pipeline whose last step is one
            A fitted estimator.
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n_samples, n_features)
            Rows, usually held out. Beyond 100,000 of them time is linear in their number, see `mmd2`.
        y : array-like of shape (n_samples,), default=None
            Labels, where the estimator's notion of fairness speaks of them.
        sensitive_features : array-like or frame of shape (n_samples,) or (n_samples, k)
            Protected attributes, compared as the estimator compares them.
        control_features : array-like or frame of shape (n_samples,) or (n_samples, k), default=None
            Segments: groups are compared within each.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts, for the variance as for the comparison.

        Returns
        -------
        score : float
            Between 0 and 1; greater is better.
        """
        if sensitive_features is None:
            raise TypeError(
                "fair_variance_scorer needs sensitive_features, the group of each row. In a search or a validation "
                "sklearn.set_config(enable_metadata_routing=True) hands them on from fit(X, sensitive_features=...)."
            )
        known = People(sensitive_features, None, control_features, sample_weight)
        check_same_rows(X, known.tables)
        model, rows = _last_step(estimator, X)
        terms = replace(Terms.of(model), min_group_size=2)
        people = replace(known, y=y)
        projected = Projected.of(model.transform(rows), people, terms, LARGEST_MMD2, "auto")
        kernel = model.bandwidth_, model.bandwidth_factors_
        values = projected.mmd2(Scales(model.bandwidth_factors_, model.bandwidth_)).values
        levels, deviations = chance_levels(projected.seen, *kernel), chance_deviations(projected.seen, *kernel)
        # About 95 of 100 random groups are below two deviations.
        allowed = self.max_mmd2 + levels + 2.0 * deviations
        beyond = float(np.max(values / np.maximum(allowed, 1e-300)))
        attached = None if sample_weight is None else projected.compared.attached
        if is_dask(rows) and attached is not None and not is_dask(attached):
            (rows,) = compute(rows)
        return variance_kept(model, rows, attached) / max(1.0, beyond)

    def set_score_request(
        self,
        *,
        sensitive_features: bool | str | None = True,
        control_features: bool | str | None = True,
        sample_weight: bool | str | None = True,
    ) -> Self:
        """Say how searches and validations hand on what is known of the rows.

        Parameters
        ----------
        sensitive_features, control_features, sample_weight : bool, str or None, default=True
            True takes what was passed by that name, a string what was passed by another, False nothing, and None
            refuses it.

        Returns
        -------
        self : FairVarianceScorer
            The scorer.
        """
        self._requests = dict(zip(KNOWN, (sensitive_features, control_features, sample_weight), strict=True))
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what scikit-learn's routing asks for: which metadata the score uses."""
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request


def fair_variance_scorer(max_mmd2: float = 1e-3) -> FairVarianceScorer:
    r"""Make a scorer with which a search over `tolerance` does not simply take the loosest.

    On held-out rows with groups of m and n, N = m + n, projected by the fitted estimator, with its bandwidth,

    .. math:: \text{score} = v \cdot \min\left(1, \frac{a}{h}\right), \qquad a = \tau + b + 2 s,

    where v is the share of the variance of these rows that the projection keeps, h their plug-in MMD^2, and a what is
    allowed. Even of random groups h is b = (1/m + 1/n)(1 - k) on average, k the mean kernel value of two
    different rows, and b + 2 s is exceeded by about one draw in twenty, with s = (1/m + 1/n) sqrt(2) |HKH|_F / N for
    the kernel matrix K and H = I - 11'/N. So the score is v unless the groups differ by more than tau and chance
    explain, and then falls as 1 / h. Of several measures the one with the largest h / a counts.

    Parameters
    ----------
    max_mmd2 : float, default=1e-3
        tau, the discrepancy between the populations that is allowed, beyond chance.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y=None, *, sensitive_features, control_features=None, sample_weight=None)`` for a
        `FairPCA` or a pipeline whose last step is one. With scikit-learn's metadata routing it asks for these by
        itself; `set_score_request` changes that.

    Notes
    -----
    Chance limits what a few rows can tell: where the held-out part is small, b + 2 s is large and differences below it
    pass. The score chooses between models; it does not certify the chosen one.

    Examples
    --------
    >>> import numpy as np, sklearn
    >>> from sklearn.model_selection import GridSearchCV
    >>> from fairpca import FairPCA
    >>> from fairpca.metrics import fair_variance_scorer
    >>> rng = np.random.default_rng(2)
    >>> group = rng.integers(2, size=400)
    >>> X = rng.normal(size=(400, 5)) @ rng.normal(size=(5, 5))
    >>> X[group == 1, 0] += 2
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     model = FairPCA(2).set_fit_request(sensitive_features=True)
    ...     search = GridSearchCV(model, {"tolerance": [1e-3, 1e-2, 1e-1, 1.0]}, scoring=fair_variance_scorer())
    ...     search.fit(X, sensitive_features=group).best_params_
    {'tolerance': 0.01}
    """
    return FairVarianceScorer(check_at_least_zero("max_mmd2", max_mmd2, "the largest MMD^2 beyond chance"))


def _last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the fitted projection and the rows as it sees them."""
    steps = estimator if isinstance(estimator, Pipeline) else [estimator]
    last = steps[-1]
    check_is_fitted(last)
    if not hasattr(last, "bandwidth_"):
        raise TypeError(
            f"fair_variance_scorer scores FairPCA, or a pipeline whose last step it is; got {type(last).__name__}, "
            "which has no bandwidth_."
        )
    return last, estimator[:-1].transform(X) if len(steps) > 1 else X
