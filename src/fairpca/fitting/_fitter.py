"""One fit of the fair subspace: from arguments and rows to what is learned. Estimator and path share it."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from fairpca._utils.checks import check_flag, check_init, check_mmd, check_n_components
from fairpca._utils.progress import ProgressLines
from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca._utils.warn import warn_user
from fairpca.comparison import Compared, Comparison, People, RowWeights, Terms, check_same_rows, compare
from fairpca.data import (
    AxesRequest,
    Components,
    PreparedData,
    PrincipalAxes,
    axes_of_short_table,
    check_linear,
    choose_method,
    may_be_dense,
    prepare_few_rows,
    prepare_many_rows,
    summarised,
    warn_of_many_columns,
)
from fairpca.exceptions import EffortWarning
from fairpca.fitting._chance import Chance
from fairpca.fitting._projection import checked_rows
from fairpca.mmd import Scales
from fairpca.problem import largest_ratio
from fairpca.rows import ArrayRows, DaskRows, Rows, SeenRows, dense, header, is_dask, key_of, number_blocks
from fairpca.solvers import STARTS, Callback, FitResult, Solution, Solver, Start, Status, WarmStart

PASSES = 40
"""Gradients of all rows in a fit to many of them, about."""

SECONDS_PER_ROW, SECONDS_PER_NUMBER = 1.5e-7, 2.5e-8
"""Time of a gradient for each row, and for each weighted sum and component of it, on one core."""

LONG = 60.0
"""Seconds of a fit from which on users want to know before it begins."""


@dataclass(frozen=True)
class Fit:
    """What a fit has found.

    Attributes
    ----------
    components : Components
        The components, in the scaled features.
    result : FitResult
        The record of the run, with what a last check measured.
    warm : WarmStart
        What a similar fit can use.
    """

    components: Components
    result: FitResult
    warm: WarmStart


@dataclass(frozen=True)
class Fitter:
    """The problem that an estimator poses on some rows.

    Attributes
    ----------
    data : PreparedData
        Rows in principal axes.
    compared : Compared
        Who is compared with whom, as the user sees it.
    proxies : dict of str to list of str
        Columns that reveal an attribute, by its name.
    unique : ndarray of int of shape (n_measures,)
        For each measure the one among those of the problem that it equals.
    start : str or ndarray of shape (p_kept, d)
        First point, in those axes.
    generator : numpy.random.Generator
        Draws what solvers draw.
    callback : callable or None
        Called with each `OuterStep`.
    rows : Rows
        Raw rows.
    seed : int
        With which permutations are drawn.
    """

    data: PreparedData
    compared: Compared
    proxies: dict[str, list[str]]
    unique: IntArray
    start: str | FloatArray
    generator: np.random.Generator
    callback: Callback | None
    rows: Rows
    seed: int

    @classmethod
    def of(cls, estimator: Any, X: Any, people: People, tolerance: Any) -> "Fitter":
        """Check the input and prepare it; the estimator learns its number of features and their names.

        Parameters
        ----------
        estimator : FairPCA
            Who asks.
        X : array-like, sparse array or matrix, or Dask array or frame, of shape (n, p)
            Rows.
        people : People
            What is known of them.
        tolerance : float, array-like of shape (n_measures,) or mapping of attributes to float
            tau, for all measures, one by one, or by attribute.
        """
        seed = _seed_of(estimator.random_state)
        generator = np.random.default_rng(seed)
        table = _dask_table if is_dask(X) else _table
        X, compared = table(estimator, X, people, tolerance)
        comparison = compared.comparison
        unique, index = (None, np.zeros(1, int)) if comparison is None else comparison.unique()
        rows: Rows = DaskRows(X, compared.attached) if is_dask(X) else ArrayRows(X, compared.attached)
        data, init = _prepare(estimator, X, rows, compared.attached, unique, generator)
        start = init if isinstance(init, str) else np.linalg.qr(data.axes.axes.T @ init)[0]
        names = getattr(estimator, "feature_names_in_", None)
        proxies = {} if is_dask(X) else _proxies(X, ~data.scaling.constant, compared, names)
        return cls(data, compared, proxies, index, start, generator, _callback_of(estimator), rows, seed)

    @property
    def comparison(self) -> Comparison | None:
        """Who is compared with whom; None without sensitive features."""
        return self.compared.comparison

    def pilot(self, tolerances: FloatArray, solver: Solver, start: Start | None = None) -> Fit | None:
        """Solve on a sample of the rows alone; None where they are so few that all of them are used at once.

        Parameters
        ----------
        tolerances, solver, start
            See `fit`.
        """
        data = self.data
        assert data.problem is not None
        first, strictest = self.start if start is None else start, self.strictest(tolerances)
        solution = data.problem.solve_pilot(strictest, solver, first, self.generator, self.callback)
        if solution is None:
            return None
        components = Components.of(solution.point, data.axes, data.mass)
        return Fit(components, solution.result, solution.warm)

    def fit(
        self,
        tolerances: FloatArray | float,
        solver: Solver,
        start: Start | None = None,
        pilot: WarmStart | None = None,
    ) -> Fit:
        """Solve, and check what was found.

        Parameters
        ----------
        tolerances : float or ndarray of shape (n_measures,)
            tau of all measures of the comparison, or of each.
        solver : Solver
            Solves.
        start : str, ndarray of shape (p_kept, d) or WarmStart, default=None
            Where to start instead.
        pilot : WarmStart, default=None
            What `pilot` found for about these tolerances.
        """
        data = self.data
        if data.problem is None:
            solution = _plain_pca(data.axes, data.n_components)
        else:
            first = self.start if start is None else start
            strictest = self.strictest(tolerances)
            solution = data.problem.solve(strictest, solver, first, self.generator, self.callback, pilot)
        components = Components.of(solution.point, data.axes, data.mass)
        return Fit(components, _checked(solution.result, components, data), solution.warm)

    def by_name(self, values: FloatArray) -> dict[str, float]:
        """Return what holds for the measures of the problem, for each measure of the comparison by its name."""
        names = () if self.comparison is None else self.comparison.names
        return dict(zip(names, values[self.unique].tolist(), strict=bool(names)))

    def records(self, found: Fit) -> list[dict[str, Any]]:
        """Return what users want to know of each measure, once a fit has ended."""
        if self.comparison is None:
            return []
        result, certificate = found.result, found.result.certificate
        unknown = np.full(int(self.unique.max()) + 1, np.nan)
        multipliers = (unknown if certificate is None else certificate.multipliers)[self.unique]
        mmd2s, tolerances = result.mmd2s[self.unique], result.tolerances[self.unique]
        with np.errstate(divide="ignore", invalid="ignore"):
            used = mmd2s / tolerances
        levels = self.chance.levels(found.components.rows[: found.components.n_live])
        # Plain PCA was not fitted to what is compared.
        expected = np.maximum(mmd2s, levels) if result.status is Status.PCA_IS_FAIR else mmd2s + levels
        columns = tolerances, mmd2s, multipliers, used, levels, expected
        names = "tolerance", "mmd2", "multiplier", "budget_used", "chance_level", "expected_mmd2_new"
        return [
            measure.as_dict() | dict(zip(names, numbers, strict=True))
            for measure, *numbers in zip(self.compared.measures, *(column.tolist() for column in columns), strict=True)
        ]

    def tightest(self, result: FitResult) -> int:
        """Return the first measure of the comparison with the largest ratio h / tau."""
        return int(np.argmax(self.unique == result.tightest))

    def name_of(self, unique: int) -> str | None:
        """Return what a measure of the problem compares; None where there is only one."""
        names = () if self.comparison is None else self.comparison.names
        return names[int(np.argmax(self.unique == unique))] if len(names) > 1 else None

    @cached_property
    def chance(self) -> Chance:
        """Chance levels of projections of these rows."""
        return Chance(self.rows, self.compared, self.data.scaling, self.data.bandwidth, self.data.factors, self.seed)

    @cached_property
    def seen(self) -> SeenRows:
        """Hashes of the rows, with which audits find those that were in the fit."""
        return SeenRows.of(self.rows, key_of(self.data.scaling.mean))

    def loosest(self, tolerances: FloatArray) -> FloatArray:
        """Return tolerances of the unique measures that allow what any of theirs allows."""
        loosest = np.zeros(int(self.unique.max()) + 1)
        np.maximum.at(loosest, self.unique, tolerances)
        return loosest

    def strictest(self, tolerances: FloatArray | float) -> FloatArray:
        """Return the tolerances of the unique measures: what several ask of one is the strictest of it."""
        strictest = np.full(int(self.unique.max()) + 1, np.inf)
        np.minimum.at(strictest, self.unique, tolerances)
        return strictest


def _callback_of(estimator: Any) -> Callback | None:
    """Return the callback of an estimator, or one that writes lines where it is verbose."""
    verbose = check_flag("verbose", getattr(estimator, "verbose", False))
    if not (estimator.callback is None or callable(estimator.callback)):
        raise TypeError(f"callback must be a function of the last step of a fit, or None; got {estimator.callback!r}.")
    return ProgressLines() if verbose and estimator.callback is None else estimator.callback


def _seed_of(random_state: Any) -> int:
    if isinstance(random_state, int):
        return _seed_of_number(random_state)
    return int(check_random_state(random_state).randint(2**31))


@lru_cache(maxsize=64)
def _seed_of_number(number: int) -> int:
    """Return the seed that a number stands for; a generator of its own takes as long to make as a table to hash."""
    return int(check_random_state(number).randint(2**31))


def _table(estimator: Any, X: Any, people: People, tolerance: Any) -> tuple[Any, Compared]:
    """Return checked rows in memory, an array or compressed sparse rows, and what is compared."""
    check_same_rows(X, people.tables)
    X = checked_rows(estimator, X, least_rows=2, reset=True)
    terms = _check_before_work(estimator, X.shape[1])
    return X, compare(people, X.shape[0], terms, tolerance)


def _dask_table(estimator: Any, X: Any, people: People, tolerance: Any) -> tuple[Any, Compared]:
    """Return checked rows in a Dask array, and what is compared.

    One pass over the labels, one over the index of frames, one to count rows where they were not counted.
    """
    validate_data(estimator, header(X), skip_check_array=True)
    terms = _check_before_work(estimator, X.shape[1])
    if people.sensitive_features is None:
        raise ValueError("sensitive_features=None: with a Dask table FairPCA needs the groups; plain PCA is Dask-ML's.")
    rows = number_blocks(X)
    check_same_rows(X, people.tables)
    return rows, compare(people, rows.chunks[0], terms, tolerance)


def _proxies(X: Any, varies: BoolArray, compared: Compared, names: AnyArray | None) -> dict[str, list[str]]:
    """Return the columns of a table in memory that reveal an attribute, by the name of the attribute."""
    found = {}
    for attribute in compared.known:
        columns = np.flatnonzero(attribute.proxies(X) & varies)
        if len(columns):
            words = [f"column {j}" if names is None else repr(str(names[j])) for j in columns.tolist()]
            found[attribute.name or "sensitive_features"] = words
    return found


def _prepare(
    estimator: Any, X: Any, rows: Rows, attached: Any, comparison: Comparison | None, generator: np.random.Generator
) -> tuple[PreparedData, str | FloatArray]:
    """Return the data in principal axes, and the start in the axes of the features."""
    if is_dask(X):
        warn_of_many_columns(*X.shape)
        request, mmd, init = _request(estimator, rows, comparison)
        check_linear(mmd)
        method = "hermite"
    else:
        request, mmd, init = _request(estimator, rows, comparison)
        method = _method(X, mmd, comparison, request.n_components)
    if method == "exact":
        with blas_threads_for(rows.n_rows * rows.n_columns):
            return prepare_few_rows(dense(X), attached, comparison, estimator.standardize, request), init
    if comparison is not None:
        _warn_of_effort(rows.n_rows, comparison.columns.n_columns, request.n_components)
    names = getattr(estimator, "feature_names_in_", None)
    has_masses = attached.shape[1] > 1
    standardize = estimator.standardize
    return prepare_many_rows(rows, comparison, standardize, request, generator, names, has_masses), init


def _warn_of_effort(n_rows: int, n_columns: int, n_components: int) -> None:
    """Warn before a fit to many rows that is expected to take more than a minute."""
    seconds = PASSES * n_rows * (SECONDS_PER_ROW + SECONDS_PER_NUMBER * n_columns * (1 + n_components))
    if seconds > LONG:
        warn_user(
            f"this fit passes about {PASSES} times over {n_rows} rows, which takes about {seconds / 60:.0f} minutes. "
            "Fewer rows, components or groups take less, and so does a larger tolerance; verbose=True shows progress.",
            EffortWarning,
        )


def _method(X: Any, mmd: str, comparison: Comparison | None, n_components: int) -> str:
    """Return how the discrepancy of rows in memory is computed; of plain PCA whether rows are dense or in blocks."""
    if comparison is not None:
        return choose_method(mmd, X, n_components)
    return "exact" if may_be_dense(X) else "hermite"


def _check_before_work(parameters: Any, n_features: int) -> Terms:
    """Refuse what no pass over the rows is needed to refuse; return how people are to be compared."""
    Scales.of(parameters.bandwidth)
    check_flag("standardize", parameters.standardize)
    d = check_n_components(parameters.n_components, n_features)
    check_mmd(parameters.mmd)
    if not isinstance(d, float):
        check_init(parameters.init, STARTS, d, n_features)
    return Terms.of(parameters)


def _request(parameters: Any, rows: Rows, comparison: Comparison | None) -> tuple[AxesRequest, str, str | FloatArray]:
    """Return what is wanted of the axes, how MMD^2 is to be computed, and the start."""
    p = rows.n_columns
    d = check_n_components(parameters.n_components, p)
    if isinstance(d, float):
        n_strata = 1 if comparison is None else comparison.n_strata
        d = _components_for_share(d, rows, n_strata, parameters.standardize)
    init = check_init(parameters.init, STARTS, d, p)
    # A given start may lie anywhere in the null space, a random one in all of it; others need at most d null axes.
    n_null = d if isinstance(init, str) and init != "auxiliary" else p
    request = AxesRequest(d, Scales.of(parameters.bandwidth), n_null, None if isinstance(init, str) else init)
    return request, check_mmd(parameters.mmd), init


def _components_for_share(share: float, rows: Rows, n_strata: int, standardize: bool) -> int:
    """Return the number of components with which plain PCA keeps at least a share of the variance."""
    if rows.n_rows <= rows.n_columns:
        return axes_of_short_table(rows, standardize).n_for_share(share)
    nothing = RowWeights.of_strata(np.zeros((n_strata, 0)))
    covariance = summarised(rows, standardize, nothing).covariance
    return PrincipalAxes.of_covariance(covariance, rows.n_columns).n_for_share(share)


def _checked(result: FitResult, components: Components, data: PreparedData) -> FitResult:
    """Return the record with what the finished components show; success is theirs, not the solver's, to claim."""
    result = replace(result, n_live_components=components.n_live)
    # Of the live components: the others are 0 on every row.
    measured = None if data.problem is None else data.problem.remeasured(components.rows[: components.n_live])
    if measured is not None:
        fairest = min(measured.values, result.fairest_mmd2s, key=lambda mmd2s: largest_ratio(mmd2s, result.tolerances))
        result = replace(result, mmd2s=measured.values, fairest_mmd2s=fairest)
    kept = float(np.sum(components.singular_values**2)) / data.mass
    sound = components.is_orthonormal and abs(kept / data.axes.variances.sum() - result.variance_kept) <= 1e-6
    if result.success and not (sound and result.meets):
        result = replace(result, status=Status.CHECK_FAILED)
    return replace(result, variance_kept=kept / data.axes.total)


def _plain_pca(axes: PrincipalAxes, d: int) -> Solution:
    result = FitResult(
        solver="pca",
        status=Status.NO_SENSITIVE_FEATURES,
        tolerances=np.array([np.inf]),
        mmd2s=np.array([np.nan]),
        fairest_mmd2s=np.array([np.nan]),
        variance_kept=float(axes.variances[:d].sum() / axes.variances.sum()),
        steps=(),
        n_values=0,
        n_gradients=0,
        n_hessian_products=0,
        n_hessians=0,
        seconds=0.0,
        n_live_components=min(d, axes.rank),
    )
    frame = np.eye(len(axes.variances), d)
    return Solution(frame, result, WarmStart(frame, min(d, axes.rank)))
