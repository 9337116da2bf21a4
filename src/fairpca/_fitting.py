"""One fit of the fair subspace: from arguments and rows to what is learned. Estimator and path share it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from fairpca._axes import AxesRequest, PrincipalAxes
from fairpca._checks import check_bandwidth, check_flag, check_init, check_mmd, check_n_components, check_two_groups
from fairpca._components import Components
from fairpca._method import choose_method, linear_method, warn_of_many_columns
from fairpca._prepare import PreparedData
from fairpca._streamed import StreamedData, dask_rows_and_measures, summarised
from fairpca._threads import blas_threads_for
from fairpca._typing import FloatArray
from fairpca.measures import demographic_parity
from fairpca.rows import ArrayRows, Rows, check_same_rows, header, is_dask
from fairpca.solvers import STARTS, Callback, FitResult, LevelsTask, Solution, Solver, Status, WarmStart

Start = str | FloatArray | WarmStart


class Parameters(Protocol):
    """The parameters of an estimator that decide which problem is solved."""

    n_components: Any
    mmd: Any
    bandwidth: Any
    standardize: Any
    init: Any
    random_state: Any


@dataclass(frozen=True)
class Fit:
    """What a fit has found.

    Attributes
    ----------
    components : Components
        The components, in the scaled features.
    result : FitResult
        The record of the run, with what a last check measured.
    warm : WarmStart or None
        What a similar fit can use.
    """

    components: Components
    result: FitResult
    warm: WarmStart | None


@dataclass(frozen=True)
class Fitter:
    """The problem that an estimator poses on some rows.

    Attributes
    ----------
    data : PreparedData or StreamedData
        Rows in principal axes.
    start : str or ndarray of shape (p_kept, d)
        First point, in those axes.
    generator : numpy.random.Generator
        Draws what solvers draw.
    callback : callable or None
        Called with each `OuterStep`.
    """

    data: PreparedData | StreamedData
    start: str | FloatArray
    generator: np.random.Generator
    callback: Callback | None

    @classmethod
    def of(cls, estimator: Any, X: Any, sensitive_features: Any) -> "Fitter":
        """Check the input and prepare it; the estimator learns its number of features and their names.

        Parameters
        ----------
        estimator : BaseEstimator with `Parameters` and `callback`
            Who asks.
        X : array-like, or Dask array or frame, of shape (n, p)
            Rows.
        sensitive_features : array-like or Dask series or array of shape (n,), or None
            Groups.
        """
        generator = np.random.default_rng(check_random_state(estimator.random_state).randint(2**31))
        data, init = _prepare(estimator, X, sensitive_features, generator)
        start = init if isinstance(init, str) else np.linalg.qr(data.axes.axes.T @ init)[0]
        return cls(data, start, generator, estimator.callback)

    def fit(self, tolerance: float, solver: Solver, start: Start | None = None) -> Fit:
        """Solve, and check what was found.

        Parameters
        ----------
        tolerance : float
            tau.
        solver : Solver
            Solves.
        start : str, ndarray of shape (p_kept, d) or WarmStart, default=None
            Where to start instead.
        """
        solution = self._solve(tolerance, solver, self.start if start is None else start)
        components = Components.of(solution.point, self.data.axes, self.data.n_rows)
        result = _checked(solution.result, components, self.data)
        return Fit(components, result, solution.warm)

    def _solve(self, tolerance: float, solver: Solver, start: Start) -> Solution:
        data = self.data
        if isinstance(data, StreamedData):
            return LevelsTask(data, tolerance, solver, self.generator, self.callback).solve(start)
        if data.problem is None:
            return _plain_pca(data.axes, data.n_components)
        with blas_threads_for(data.n_rows * len(data.scaling.mean)):
            return solver.solve(data.problem.afresh(), tolerance, start, self.generator, self.callback)


def _prepare(
    estimator: Any, X: Any, sensitive_features: Any, generator: np.random.Generator
) -> tuple[PreparedData | StreamedData, str | FloatArray]:
    """Return the data in principal axes, and the start in the axes of the features."""
    if is_dask(X):
        return _prepare_dask(estimator, X, sensitive_features, generator)
    check_same_rows(X, sensitive_features)
    X = validate_data(estimator, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
    _check_before_work(estimator, X.shape[1])
    groups = None if sensitive_features is None else check_two_groups(sensitive_features, len(X))
    request, mmd, init = _request(estimator, ArrayRows(X, np.zeros((len(X), 0))))
    if groups is None or (method := choose_method(mmd, X, request.n_components)) == "exact":
        with blas_threads_for(X.size):
            return PreparedData.of(X, groups, estimator.standardize, request), init
    measures = demographic_parity(groups)
    rows = ArrayRows(X, measures.weights)
    return StreamedData.of(rows, measures, method, estimator.standardize, request, generator), init


def _prepare_dask(
    estimator: Any, X: Any, sensitive_features: Any, generator: np.random.Generator
) -> tuple[StreamedData, str | FloatArray]:
    validate_data(estimator, header(X), skip_check_array=True)
    _check_before_work(estimator, X.shape[1])
    rows, measures = dask_rows_and_measures(X, sensitive_features)
    warn_of_many_columns(rows.n_rows, rows.n_columns)
    names = getattr(estimator, "feature_names_in_", None)
    request, mmd, init = _request(estimator, rows)
    method = linear_method(mmd, request.n_components)
    return StreamedData.of(rows, measures, method, estimator.standardize, request, generator, names), init


def _check_before_work(parameters: Parameters, n_features: int) -> None:
    """Refuse what no pass over the rows is needed to refuse."""
    check_bandwidth(parameters.bandwidth)
    check_flag("standardize", parameters.standardize)
    d = check_n_components(parameters.n_components, n_features)
    if not isinstance(d, float):
        check_mmd(parameters.mmd, d)
        check_init(parameters.init, STARTS, d, n_features)


def _request(parameters: Parameters, rows: Rows) -> tuple[AxesRequest, str, str | FloatArray]:
    """Return what is wanted of the axes, how MMD^2 is to be computed, and the start."""
    p = rows.n_columns
    d = check_n_components(parameters.n_components, p)
    if isinstance(d, float):
        d = _components_for_share(d, rows, parameters.standardize)
    init = check_init(parameters.init, STARTS, d, p)
    # A given start may lie anywhere in the null space, a random one in all of it; others need at most d null axes.
    n_null = d if isinstance(init, str) and init != "auxiliary" else p
    request = AxesRequest(d, check_bandwidth(parameters.bandwidth), n_null)
    return request, check_mmd(parameters.mmd, d), init


def _components_for_share(share: float, rows: Rows, standardize: bool) -> int:
    """Return the number of components with which plain PCA keeps at least a share of the variance."""
    return PrincipalAxes.of_covariance(summarised(rows, standardize).covariance, rows.n_columns).n_for_share(share)


def _checked(result: FitResult, components: Components, data: PreparedData | StreamedData) -> FitResult:
    """Return the record with what the finished components show; success is theirs, not the solver's, to claim."""
    result = replace(result, n_live_components=components.n_live)
    if isinstance(data, PreparedData) and data.in_features is not None:
        # Of the live components: the others are 0 on every row.
        measured = float(data.in_features.value(components.rows[: components.n_live].T).max())
        result = replace(result, mmd2=measured, smallest_mmd2=min(measured, result.smallest_mmd2))
    kept = float(np.sum(components.singular_values**2)) / data.n_rows
    sound = components.is_orthonormal and abs(kept / data.axes.variances.sum() - result.variance_kept) <= 1e-6
    met = not result.mmd2 > result.tolerance
    if result.success and not (sound and met):
        result = replace(result, status=Status.CHECK_FAILED)
    return replace(result, variance_kept=kept / data.axes.total)


def _plain_pca(axes: PrincipalAxes, d: int) -> Solution:
    result = FitResult(
        solver="pca",
        status=Status.NO_SENSITIVE_FEATURES,
        tolerance=float("inf"),
        mmd2=float("nan"),
        smallest_mmd2=float("nan"),
        variance_kept=float(axes.variances[:d].sum() / axes.variances.sum()),
        steps=(),
        n_values=0,
        n_gradients=0,
        n_hessian_products=0,
        n_hessians=0,
        seconds=0.0,
        n_live_components=min(d, axes.rank),
    )
    return Solution(np.eye(len(axes.variances), d), result)
