"""FairPCA: the front door."""
# SPDX-License-Identifier: MIT

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from fairpca._axes import AxesRequest, PrincipalAxes
from fairpca._checks import (
    check_bandwidth,
    check_init,
    check_mmd,
    check_n_components,
    check_tolerance,
    check_two_groups,
)
from fairpca._method import choose_method, linear_method
from fairpca._prepare import PreparedData
from fairpca._projection import LinearProjection
from fairpca._streamed import StreamedData, dask_rows_and_measures
from fairpca._threads import blas_threads_for
from fairpca._typing import FloatArray
from fairpca.exceptions import AccuracyWarning, ConvergenceWarning, NullComponentsWarning
from fairpca.measures import SignedMeasures, demographic_parity
from fairpca.problem import SHARE_MEASURED_TO
from fairpca.rows import ArrayRows, Rows, is_dask
from fairpca.solvers import STARTS, FitResult, LevelsTask, OuterStep, Solution, Solver, Status, WarmStart, solver_from


class FairPCA(LinearProjection):
    r"""Principal component analysis whose projections look alike for two groups.

    Finds an orthonormal V (p x d) that

    .. math::
        \max_V \; \frac{\operatorname{tr}(V' S V)}{\operatorname{tr}(S)}
        \quad \text{subject to} \quad h(V) = \mathrm{MMD}^2(\text{groups after projection}) \le \tau,

    where S is the covariance of all rows and MMD the maximum mean discrepancy with the kernel
    k(z, z') = exp(-\|z - z'\|^2 / (2 sigma^2)): it is small only if the projected groups agree as distributions.

    Parameters
    ----------
    n_components : int, default=2
        d, the dimension of the projection, at most the number of features.
    tolerance : float, default=1e-3
        tau, the largest MMD^2 between the projected groups of the training rows.
    solver : {"budget", "repms"} or solver object, default="budget"
        "budget" keeps as much variance as the tolerance allows, by a second-order method; "repms" is Algorithm 1 of
        the paper. `fairpca.solvers.Budget` and `fairpca.solvers.REPMS` have their settings.
    mmd : {"auto", "exact", "fourier", "hermite"}, default="auto"
        How MMD^2 is computed while the subspace is searched. "exact" compares all pairs of rows; "fourier" (at most 3
        components) and "hermite" take time and memory linear in the rows, begin on a sample of 4096 of them, and need
        no copy of `X`, which may be a float32 `numpy.memmap`. "auto" is exact up to 5000 distinct rows, then "fourier"
        up to 3 components and "hermite" up to 16. Whatever was used, `mmd2_` is measured exactly, or comes with a
        bound.
    bandwidth : "median" or float, default="median"
        sigma. "median" is sqrt(median squared distance / 2) of the rows after plain PCA to d dimensions.
    standardize : bool, default=True
        Scale every column to unit variance. Columns are always centred; constant columns stay at zero.
    init : {"mean-matched", "pca", "auxiliary"} or array of shape (n_components, n_features), default="mean-matched"
        Start: the subspace of most variance in which the group means agree, plain PCA, the least MMD^2 reached from
        a random frame (as in the published code), or rows like those of `components_`.
    callback : callable, default=None
        Called with an `fairpca.solvers.OuterStep` after each outer step, for example to show progress.
    random_state : int, RandomState instance or None, default=None
        Draws the frames of `init="auxiliary"`, and the rows on which the bandwidth is found when there are more than
        4096.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows V', the principal axes inside the fair subspace, by decreasing variance. Signs are such that
        the entry of largest magnitude is positive.
    explained_variance_ : ndarray of shape (n_components,)
        Variance (divisor n - 1) along each component, in the scaled units.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        The same relative to the total.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from and divides the columns.
    mmd2_ : float
        Plug-in MMD^2 of the projected training rows; nan without sensitive features.
    mmd2_error_ : float
        Error of `mmd2_`: 0 where it was measured exactly, as it is up to 60,000 rows (100,000 with more than 3
        components). Beyond, a bound that always holds (up to 3 components) or that holds with a probability of 99.9 %.
    mmd_method_ : str
        How MMD^2 was computed during the search: "exact", "fourier" or "hermite".
    bandwidth_ : float
        sigma.
    converged_ : bool
        Whether the solver stopped at a stationary point that meets the tolerance.
    n_iter_ : int
        Outer iterations.
    n_live_components_ : int
        How many components carry variance. With a strict tolerance the best answer may have fewer than n_components;
        the others come last and are zero on every row.
    result_ : fairpca.solvers.FitResult
        The record of the run: per step rho, MMD^2, variance kept, gradient norm, evaluations, seconds; and why it
        stopped. From the budget solver also a certificate of optimality.
    n_components_, n_samples_, n_features_in_ : int
        Sizes.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, when `X` had them.

    See Also
    --------
    sklearn.decomposition.PCA : The same without fairness.

    Notes
    -----
    The tolerance speaks of the training rows. Two samples of one distribution have an MMD^2 of about
    (1/m + 1/n)(1 - E k), so on new rows the value is larger than on the rows it was fitted to: check it there.
    Only the projection is made fair; labels, and features used beside the projection, are not.

    References
    ----------
    J. Lee, G. Kim, M. Olfat, M. Hasegawa-Johnson, C. D. Yoo, "Fast and Efficient MMD-based Fair PCA via
    Optimization over Stiefel Manifold", AAAI 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from fairpca import FairPCA
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat(["a", "b"], 100)
    >>> X = rng.normal(size=(200, 5)) @ rng.normal(size=(5, 5))
    >>> X[group == "b", 0] += 2
    >>> model = FairPCA(n_components=2, tolerance=1e-3).fit(X, sensitive_features=group)
    >>> model.converged_, bool(model.mmd2_ <= 1e-3)
    (True, True)
    >>> model.transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        tolerance: float = 1e-3,
        solver: Any = "budget",
        mmd: str = "auto",
        bandwidth: str | float = "median",
        standardize: bool = True,
        init: Any = "mean-matched",
        callback: Callable[[OuterStep], None] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.tolerance = tolerance
        self.solver = solver
        self.mmd = mmd
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.init = init
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, sensitive_features: Any = None) -> Self:
        """Find the fair subspace.

        Parameters
        ----------
        X : array-like, or Dask array or frame, of shape (n_samples, n_features)
            Rows.
        y : ignored
            Present for API consistency.
        sensitive_features : array-like or Dask series or array of shape (n_samples,), default=None
            Group of each row: two distinct labels of any kind. Without it this is plain PCA, with a warning.

        Returns
        -------
        self : FairPCA
            The fitted estimator.
        """
        tolerance, solver = check_tolerance(self.tolerance), solver_from(self.solver)
        solver.check_tolerance(tolerance)
        generator = self._generator()
        data, start = self._prepare(X, sensitive_features, generator)
        self._solve(data, tolerance, solver, start, generator)
        if not self.converged_:
            warnings.warn(_explain(self.result_), ConvergenceWarning, stacklevel=2)
        if self.mmd2_error_ > SHARE_MEASURED_TO * tolerance:
            warnings.warn(_explain_error(self.result_, data.n_rows), AccuracyWarning, stacklevel=2)
        if self.n_live_components_ < min(data.n_components, data.axes.rank):
            warnings.warn(
                f"{self.n_live_components_} of {data.n_components} components carry variance: at tolerance="
                f"{tolerance:g} more of them would keep less. Use solver=Budget(allow_null=False) for components that "
                "all do.",
                NullComponentsWarning,
                stacklevel=2,
            )
        return self

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))

    def _prepare(
        self, X: Any, sensitive_features: Any, generator: np.random.Generator
    ) -> tuple[PreparedData | StreamedData, str | FloatArray]:
        """Check the input, learn `mean_` and `scale_`, and return the problem and the start in its coordinates."""
        if not is_dask(X):
            X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        p = X.shape[1]
        d = check_n_components(self.n_components, p)
        bandwidth, init = check_bandwidth(self.bandwidth), check_init(self.init, STARTS, d, p)
        mmd = check_mmd(self.mmd, d)
        # A given start may lie anywhere in the null space, a random one in all of it; others need at most d null axes.
        axes = AxesRequest(d, bandwidth, d if isinstance(init, str) and init != "auxiliary" else p)
        data = self._data(X, sensitive_features, mmd, axes, generator)
        self._warn_above_rank(d, data.axes.rank)
        return data, init if isinstance(init, str) else np.linalg.qr(data.axes.axes.T @ init)[0]

    def _data(
        self, X: Any, sensitive_features: Any, mmd: str, axes: AxesRequest, generator: np.random.Generator
    ) -> PreparedData | StreamedData:
        if is_dask(X):
            method = linear_method(mmd, axes.n_components)
            rows, measures, names = dask_rows_and_measures(X, sensitive_features)
            self.n_features_in_ = rows.n_columns
            if names is not None:
                self.feature_names_in_ = names
            return self._streamed(rows, measures, method, axes, generator)
        groups = None if sensitive_features is None else check_two_groups(sensitive_features, len(X))
        if groups is None:
            self._warn_without_groups()
        if groups is None or (method := choose_method(mmd, X, axes.n_components)) == "exact":
            with blas_threads_for(X.size):
                return PreparedData.of(self._standardized(X), groups, axes, generator)
        measures = demographic_parity(groups)
        return self._streamed(ArrayRows(X, measures.weights), measures, method, axes, generator)

    def _streamed(
        self, rows: Rows, measures: SignedMeasures, method: str, axes: AxesRequest, generator: np.random.Generator
    ) -> StreamedData:
        names = getattr(self, "feature_names_in_", None)
        data = StreamedData.of(rows, measures, method, self.standardize, axes, generator, names)
        self.mean_, self.scale_ = data.summary.mean, data.scale
        return data

    def _solve(
        self,
        data: PreparedData | StreamedData,
        tolerance: float,
        solver: Solver,
        start: str | FloatArray | WarmStart,
        generator: np.random.Generator,
    ) -> Solution:
        """Solve, and learn what the run says and the components."""
        self.bandwidth_, self.mmd_method_ = data.bandwidth, data.method
        if isinstance(data, StreamedData):
            solution = LevelsTask(data, tolerance, solver, generator, self.callback).solve(start)
        elif data.problem is None:
            solution = _plain_pca(data.axes, data.n_components)
        else:
            with blas_threads_for(data.rows.size):
                solution = solver.solve(data.problem.afresh(), tolerance, start, generator, self.callback)
        self.result_ = solution.result
        self.mmd2_, self.mmd2_error_ = self.result_.mmd2, self.result_.mmd2_error
        self.converged_ = self.result_.success
        self.n_iter_, self.n_live_components_ = len(self.result_.steps), self.result_.n_live_components
        sums_of_squares = data.n_rows * data.axes.variances[:, None]
        products = solution.point.T @ (sums_of_squares * solution.point)
        self._learn_components(data.axes.axes @ solution.point, products, float(sums_of_squares.sum()), data.n_rows)
        return solution


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


def _explain(result: FitResult) -> str:
    if result.mmd2 <= result.tolerance:
        return (
            f"FairPCA met tolerance={result.tolerance:g} but stopped before the answer was stationary "
            f"({result.message})."
        )
    dimension = ""
    if result.largest_feasible_components:
        dimension = f" n_components={result.largest_feasible_components} would meet it."
    return (
        f"FairPCA did not meet tolerance={result.tolerance:g}: MMD^2 is {result.mmd2:.3g} after {len(result.steps)} "
        f"steps ({result.message}). The smallest MMD^2 found at this number of components is "
        f"{result.smallest_mmd2:.3g}: raise tolerance above it or ask for fewer components.{dimension}"
    )


def _explain_error(result: FitResult, n_rows: int) -> str:
    return (
        f"MMD^2 is {result.mmd2:.3g}, known to within {result.mmd2_error:.1g} only, more than a hundredth of tolerance="
        f"{result.tolerance:g}: {n_rows} rows are too many to compare all pairs of them, and neither features nor a "
        'sample say more. A larger tolerance needs less accuracy; mmd="exact" compares all pairs, which takes long.'
    )
