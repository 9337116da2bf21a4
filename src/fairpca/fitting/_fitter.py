"""One fit of the fair subspace, at a tolerance or at half of the chance level: from rows to what is learned."""
# SPDX-License-Identifier: MIT

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_random_state, validate_data

from fairpca._utils.checks import check_flag, check_init, check_mmd, check_n_components
from fairpca._utils.progress import ProgressLines
from fairpca._utils.threads import blas_threads_for
from fairpca._utils.typing import AnyArray, BoolArray, FloatArray, IntArray
from fairpca._utils.warn import warn_user
from fairpca.comparison import LARGEST_MMD2, Compared, People, Terms, check_same_rows, compare
from fairpca.data import (
    AxesRequest,
    Components,
    PreparedData,
    PrincipalAxes,
    choose_method,
    n_components_for_share,
    prepare_few_rows,
    prepare_many_rows,
)
from fairpca.exceptions import EffortWarning
from fairpca.fitting._projection import checked_rows
from fairpca.inference import (
    ComparedRows,
    FeatureRows,
    PermutationTest,
    chance_levels,
    exchange_classes,
    with_masses_of_all,
)
from fairpca.mmd import EXACT_ROWS, Coordinates, Scales
from fairpca.problem import largest_ratio
from fairpca.rows import (
    ArrayRows,
    DaskRows,
    Rows,
    SeenRows,
    dense,
    header,
    is_dask,
    key_of,
    number_blocks,
    strata_of,
)
from fairpca.solvers import STARTS, Callback, FitResult, Solution, Solver, Start, Status, WarmStart

PASSES = 40
"""Gradients of all rows in a fit to many of them, about."""

SECONDS_PER_ROW, SECONDS_PER_NUMBER = 1.5e-7, 2.5e-8
"""Time of a gradient for each row, and for each weighted sum and component of it, on one core."""

LONG = 60.0
"""Seconds of a fit from which on users want to know before it begins."""

SAMPLE_ROWS = 4096
"""Rows that are enough to know the level of chance to a percent."""

N_PERMUTATIONS = 999

DIGITS = 1e-9
"""Projections that agree to this part of the bandwidth come in any order."""

SIGNIFICANCE = 0.05
"""Plain PCA is kept where random groups would differ as much with more than this probability."""

SHARE_OF_CHANCE = 0.5
"""Below half of the chance level variance falls fast, and what new people show hardly changes."""

FLOOR = 1e-4
"""MMD = 0.01 says that no smooth score, a function of the kernel with values between -1 and 1, has group means more
than 0.01 apart: one point. Chance levels shrink like 1 / n; asking for less costs variance for nothing relevant."""

STRICT = 0.05
"""Share of the chance level below which a tolerance fits single rows: of many optima it finds one, and new people show
no less."""

SETTLED = 0.1
"""The chance level depends on the subspace: it is computed again until tolerances move by less than this share."""

MOST_ROUNDS = 3


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


@dataclass(frozen=True, eq=False)
class Chance:
    """What random groups would show, on all rows of a fit or, where they are many, on a sample of them.

    Attributes
    ----------
    rows : Rows
        Raw rows, with the stratum of each attached.
    compared : Compared
        Who is compared with whom.
    data : PreparedData
        How rows are scaled, and the kernel.
    seed : int
        With which permutations and samples are drawn.
    """

    rows: Rows
    compared: Compared
    data: PreparedData
    seed: int

    def levels(self, components: FloatArray) -> FloatArray:
        """Return b_j, what each measure of a projection is on average for random groups.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            V', in the scaled features.
        """
        return chance_levels(self._measured(components), self.data.bandwidth, self.data.factors)

    def p_value(self, components: FloatArray, mmd2s: FloatArray) -> float:
        """Return how likely random groups would differ as much, for all measures together.

        By permutations up to 5,000 rows, by the limit law of the measures beyond, see `Spectrum`. The projection must
        not depend on the groups: that of plain PCA does not.

        Parameters
        ----------
        components : ndarray of shape (k, p)
            V', in the scaled features.
        mmd2s : ndarray of shape (n_measures,)
            MMD^2 of all rows.
        """
        generator, bandwidth, factors = np.random.default_rng([self.seed, 1]), self.data.bandwidth, self.data.factors
        measured = self._measured(components)
        if self.rows.n_rows <= EXACT_ROWS:
            measured = in_own_order(measured, self.data.bandwidth)
            by_scale = PermutationTest.of(
                measured, self.data.bandwidth, N_PERMUTATIONS, generator, scales=self.data.factors
            )
            # MMD^2 of a mean of kernels is the mean of theirs.
            return replace(by_scale, values=by_scale.values.mean(axis=0, keepdims=True)).family_wise()
        features = FeatureRows.draw(measured, bandwidth, generator, factors)
        p_values = [features.by_chance(j).p_value(mmd2) for j, mmd2 in enumerate(mmd2s.tolist())]
        return min(1.0, len(p_values) * min(p_values))

    def _measured(self, components: FloatArray) -> ComparedRows:
        assert self.compared.comparison is not None
        varying = np.where(self.data.scaling.constant, 0.0, components)
        along = Coordinates(self.data.scaling.mean, varying.T / self.data.scaling.scale[:, None])
        rows, attached, stands_for = self._drawn
        Z, _ = rows.sample(np.arange(rows.n_rows), along.project)
        classes = exchange_classes(attached, self.compared.exchangeable)
        return ComparedRows(Z, attached, self.compared.comparison.sampled(attached), classes, stands_for)

    @cached_property
    def _drawn(self) -> tuple[Rows, AnyArray, FloatArray | None]:
        """Rows, what is attached to them, and how many each stands for: they have the masses of those."""
        if self.rows.n_rows <= EXACT_ROWS:
            rows = self.rows.taken(np.arange(self.rows.n_rows))
            return rows, rows.attached, None
        draw = self.rows.stratified_draw(SAMPLE_ROWS, np.random.default_rng([self.seed, 2]))
        rows = self.rows.taken(draw.indices)
        return rows, *with_masses_of_all(rows.attached, draw)


def in_own_order(rows: ComparedRows, bandwidth: float) -> ComparedRows:
    """Return rows in an order that depends on the projections alone, not on the table: permutations follow it.

    Parameters
    ----------
    rows : ComparedRows
        Rows.
    bandwidth : float
        The unit up to which projections differ.
    """
    keys = np.rint(rows.Z / (DIGITS * bandwidth)).T
    return rows.chosen(np.lexsort([strata_of(rows.attached), *keys[::-1]]))


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
        seed = int(check_random_state(estimator.random_state).randint(2**31))
        generator = np.random.default_rng(seed)
        if is_dask(X):
            table = X
            validate_data(estimator, header(X), skip_check_array=True)
        else:
            table = checked_rows(estimator, X, least_rows=2, reset=True)
        # All that can be refused is refused before any work.
        p = table.shape[1]
        scales, standardize = Scales.of(estimator.bandwidth), check_flag("standardize", estimator.standardize)
        d, mmd = check_n_components(estimator.n_components, p), check_mmd(estimator.mmd)
        init = estimator.init if isinstance(d, float) else check_init(estimator.init, STARTS, d, p)
        terms, callback = Terms.of(estimator), _callback_of(estimator)
        check_same_rows(X, people.tables)
        rows: Rows
        if is_dask(X):
            if people.sensitive_features is None:
                raise ValueError(
                    "sensitive_features=None: with a Dask table FairPCA needs the groups; plain PCA is Dask-ML's."
                )
            table = number_blocks(X)
            compared = compare(people, table.chunks[0], terms, tolerance)
            rows = DaskRows(table, compared.attached)
        else:
            compared = compare(people, table.shape[0], terms, tolerance)
            rows = ArrayRows(table, compared.attached)
        unique, index = (None, np.zeros(1, int)) if compared.comparison is None else compared.comparison.unique()
        if isinstance(d, float):
            d = n_components_for_share(d, rows, 1 if unique is None else unique.n_strata, standardize)
            init = check_init(estimator.init, STARTS, d, p)
        # A given start may lie anywhere in the null space, a random one in all of it; others need at most d null axes.
        n_null = d if isinstance(init, str) and init != "auxiliary" else p
        request = AxesRequest(d, scales, n_null, None if isinstance(init, str) else init)
        names = getattr(estimator, "feature_names_in_", None)
        if choose_method(mmd, table, d, compares=unique is not None) == "exact":
            with blas_threads_for(rows.n_rows * p):
                data = prepare_few_rows(dense(table), compared.attached, unique, standardize, request)
        else:
            if unique is not None:
                _warn_of_effort(rows.n_rows, unique.columns.n_columns, d)
            has_masses = compared.attached.shape[1] > 1
            data = prepare_many_rows(rows, unique, standardize, request, generator, names, has_masses)
        start = init if isinstance(init, str) else np.linalg.qr(data.axes.axes.T @ init)[0]
        proxies = {} if is_dask(X) else _proxies(table, ~data.scaling.constant, compared, names)
        return cls(data, compared, proxies, index, start, generator, callback, rows, seed)

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

    def records(self, found: Fit) -> list[dict[str, Any]]:
        """Return what users want to know of each measure, once a fit has ended."""
        if self.compared.comparison is None:
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

    @cached_property
    def chance(self) -> Chance:
        """Chance levels of projections of these rows."""
        return Chance(self.rows, self.compared, self.data, self.seed)

    @cached_property
    def seen(self) -> SeenRows:
        """Hashes of the rows, with which audits find those that were in the fit."""
        return SeenRows.of(self.rows, key_of(self.data.scaling.mean))

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


def _proxies(X: Any, varies: BoolArray, compared: Compared, names: AnyArray | None) -> dict[str, list[str]]:
    """Return the columns of a table in memory that reveal an attribute, by the name of the attribute."""
    found = {}
    for attribute in compared.known:
        columns = np.flatnonzero(attribute.proxies(X) & varies)
        if len(columns):
            words = [f"column {j}" if names is None else repr(str(names[j])) for j in columns.tolist()]
            found[attribute.name or "sensitive_features"] = words
    return found


def _warn_of_effort(n_rows: int, n_columns: int, n_components: int) -> None:
    """Warn before a fit to many rows that is expected to take more than a minute."""
    seconds = PASSES * n_rows * (SECONDS_PER_ROW + SECONDS_PER_NUMBER * n_columns * (1 + n_components))
    if seconds > LONG:
        warn_user(
            f"this fit passes about {PASSES} times over {n_rows} rows, which takes about {seconds / 60:.0f} minutes. "
            "Fewer rows, components or groups take less, and so does a larger tolerance; verbose=True shows progress.",
            EffortWarning,
        )


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


def fit_to_chance(fitter: Fitter, solver: Solver) -> Fit:
    r"""Fit with the tolerance tau_j = max(b_j / 2, 1e-4), or keep plain PCA where random groups would differ as much.

    b_j is the chance level of measure j, its mean over random groups of the same sizes: for two of them
    (1/m + 1/n)(1 - \bar k) at the answer.

    Parameters
    ----------
    fitter : Fitter
        The problem.
    solver : Solver
        Solves.
    """
    pca = fitter.fit(LARGEST_MMD2, solver, "pca")
    chance = fitter.chance
    live = pca.components.rows[: pca.components.n_live]
    tolerances = _tolerances(chance.levels(live))
    mmd2s = pca.result.mmd2s[fitter.unique]
    if np.all(mmd2s <= tolerances) or chance.p_value(live, mmd2s) > SIGNIFICANCE:
        met = np.zeros(len(pca.result.mmd2s))
        np.maximum.at(met, fitter.unique, np.maximum(mmd2s, tolerances))
        return replace(pca, result=replace(pca.result, tolerances=met))
    # Where rows are many a sample settles the tolerances before all of them are used.
    in_time = within_its_time(solver)
    pilot, tolerances = _settled(fitter.pilot, fitter, in_time, tolerances)
    if pilot is None:
        return _settled(fitter.fit, fitter, in_time, tolerances)[0]
    warm = pilot.warm.for_tolerances(pilot.result.mmd2s, fitter.strictest(tolerances)) or pilot.warm
    return _settled(partial(fitter.fit, pilot=warm), fitter, in_time, tolerances)[0]


def _settled(
    fit: Callable[..., Fit | None], fitter: Fitter, solver: Callable[[], Solver], tolerances: FloatArray
) -> tuple[Any, FloatArray]:
    """Fit until the tolerances are those of the answer; return it and its tolerances."""
    warm = None
    for _ in range(MOST_ROUNDS):
        found = fit(tolerances, solver(), warm)
        if found is None:
            break
        live = found.components.rows[: found.components.n_live]
        before, tolerances = tolerances, _tolerances(fitter.chance.levels(live))
        if not found.result.meets or np.all(np.abs(tolerances - before) <= SETTLED * before):
            break
        warm = found.warm.for_tolerances(found.result.mmd2s, fitter.strictest(tolerances))
    return found, tolerances


def within_its_time(solver: Solver) -> Callable[[], Solver]:
    """Return what gives the solver with the time that is left: several solves share one limit.

    Parameters
    ----------
    solver : Solver
        The solver.
    """
    limit, began = solver.time_limit, time.perf_counter()
    return lambda: solver if limit is None else solver.within(max(limit - (time.perf_counter() - began), 1e-3))


def _tolerances(levels: FloatArray) -> FloatArray:
    """Return half of the chance levels, but not less than the floor."""
    return np.maximum(SHARE_OF_CHANCE * levels, FLOOR)
